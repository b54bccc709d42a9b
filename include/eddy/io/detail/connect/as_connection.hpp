// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/error.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/ex/completions.hpp>
#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/convert/converts.hpp>
#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/requests.hpp>

#include <system_error>
#include <utility>

namespace eddy::detail {

/// Reports that a connection was closed because it could not be attached to its loop.
EDDY_API void report_refused(std::error_code error) noexcept;

EDDY_EX_BEGIN

/// The Convert of an accept: a `Socket` on `home`. A connection that cannot be attached (no memory,
/// or no room in the poller) is closed and reported, and the next one takes its place. With
/// accept_errors::every it is an error instead.
template <class Socket>
class as_connection {
public:
    using signature = ex::set_value_t(Socket);
    /// Lets a server that has no memory for a connection still wait for the next one.
    static constexpr bool waits_in_frame = true;

    as_connection(loop* home, accept_errors errors) noexcept : home_(home), errors_(errors) {}
    /// A copy belongs to another accept, and has no connection yet.
    as_connection(const as_connection& other) noexcept
        : as_connection(other.home_, other.errors_) {}
    as_connection(as_connection&&) noexcept = default;
    as_connection& operator=(const as_connection&) = delete;
    as_connection& operator=(as_connection&&) noexcept = default;
    ~as_connection() = default;

    bool again(io_result result, io_request&) noexcept { return !admit(unique_fd(result.fd())); }
    /// Attaches the connection. False if it was closed instead and another one is wanted.
    bool admit(unique_fd fd) noexcept {
        const auto error = descriptor::attach(*home_, fd, attached_, {.kind = Socket::kind});
        error_ = error.value();
        is_own_error_ = error.category() == error_category();
        if (!error || errors_ == accept_errors::every) {
            return true;
        }
        report_refused(error);
        return false;
    }
    /// After a stop this may be called although admit() returned false.
    template <class Receiver>
    void operator()(io_result, Receiver&& receiver) noexcept {
        if (error_ != 0) {
            ex::set_error(std::forward<Receiver>(receiver), error());
        } else {
            ex::set_value(std::forward<Receiver>(receiver), Socket(std::move(attached_)));
        }
    }

private:
    std::error_code error() const noexcept {
        return {error_, is_own_error_ ? error_category() : std::system_category()};
    }

    loop* home_;
    descriptor attached_;
    int error_ = 0;  ///< split into parts, because tasks have little room for an operation
    bool is_own_error_ = false;
    accept_errors errors_;
};

/// The Convert of an accept: a bare fd.
struct as_accepted_fd : as_fd {
    static constexpr bool waits_in_frame = true;
};

EDDY_EX_END
}  // namespace eddy::detail
