// SPDX-License-Identifier: Apache-2.0

// Converts that make interests, fds, leases and handles; as_count documents what a Convert is.
#pragma once

#include <eddy/base/interest.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/ex/completions.hpp>
#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/lease.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/requests.hpp>

#include <utility>

namespace eddy::detail {
EDDY_EX_BEGIN

struct as_interest {
    using signature = ex::set_value_t(interest);
    template <class Receiver>
    void operator()(io_result result, Receiver&& receiver) const noexcept {
        ex::set_value(std::forward<Receiver>(receiver), ready_set(result));
    }
};

struct as_fd {
    using signature = ex::set_value_t(unique_fd);
    template <class Receiver>
    void operator()(io_result result, Receiver&& receiver) const noexcept {
        (*this)(unique_fd(result.fd()), std::forward<Receiver>(receiver));
    }
    template <class Receiver>
    void operator()(unique_fd fd, Receiver&& receiver) const noexcept {
        ex::set_value(std::forward<Receiver>(receiver), std::move(fd));
    }
};

/// The Convert of a receive: takes the buffer that came with the result.
struct as_lease {
    using signature = ex::set_value_t(lease);
    template <class Receiver>
    void operator()(io_result, Receiver&& receiver, loop& home,
                    const io_operation& op) const noexcept {
        (*this)(home.take_lease(op), std::forward<Receiver>(receiver));
    }
    template <class Receiver>
    void operator()(lease lent, Receiver&& receiver) const noexcept {
        ex::set_value(std::forward<Receiver>(receiver), std::move(lent));
    }
};

/// The Convert of a new fd: attaches it to `home` as a `Handle`.
template <class Handle>
struct as_handle {
    using signature = ex::set_value_t(Handle);
    loop* home;
    descriptor_options options = {};

    template <class Receiver>
    void operator()(io_result result, Receiver&& receiver) const noexcept {
        (*this)(unique_fd(result.fd()), std::forward<Receiver>(receiver));
    }
    template <class Receiver>
    void operator()(unique_fd fd, Receiver&& receiver) const noexcept {
        descriptor attached;
        if (auto error = descriptor::attach(*home, fd, attached, options)) {
            ex::set_error(std::forward<Receiver>(receiver), error);
        } else {
            ex::set_value(std::forward<Receiver>(receiver), Handle(std::move(attached)));
        }
    }
};

EDDY_EX_END
}  // namespace eddy::detail
