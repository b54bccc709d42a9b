// SPDX-License-Identifier: Apache-2.0

// Converts for recvmsg and sendmsg, whose messages point to data in the operation state.
#pragma once

#include <eddy/ex/completions.hpp>
#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/address.hpp>
#include <eddy/io/datagram.hpp>
#include <eddy/io/detail/convert/message_calls.hpp>
#include <eddy/io/io_sender.hpp>

#include <cstddef>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>

#include <sys/socket.h>
#include <sys/uio.h>

namespace eddy::detail {
EDDY_EX_BEGIN

/// A message in one buffer, or in several.
struct message {
    msghdr header = {};
    iovec vector = {};  ///< used if there is one buffer

    explicit message(std::span<const std::byte> buffer) noexcept
        : vector{const_cast<std::byte*>(buffer.data()), buffer.size()} {
        header.msg_iovlen = 1;
    }
    explicit message(std::span<const iovec> vectors) noexcept {
        header.msg_iov = const_cast<iovec*>(vectors.data());
        header.msg_iovlen = vectors.size();
    }

    void prepare(io_request& request) noexcept {
        if (header.msg_iov == nullptr) {
            header.msg_iov = &vector;
        }
        request.data = &header;
    }
    bool has(int flag) const noexcept { return (header.msg_flags & flag) != 0; }
};

struct receiving : message {
    using signature = ex::set_value_t(datagram);
    bool wants_address;
    sockaddr_storage from;

    template <class Buffers>
    receiving(Buffers buffers, bool with_address) noexcept
        : message(buffers), wants_address(with_address) {}

    void prepare(io_request& request) noexcept {
        message::prepare(request);
        if (wants_address) {
            header.msg_name = &from;
            header.msg_namelen = sizeof from;
        }
    }
    template <class Receiver>
    void operator()(io_result result, Receiver&& receiver) const noexcept {
        ex::set_value(std::forward<Receiver>(receiver),
                      datagram{result.count(), has(MSG_TRUNC), sender()});
    }

private:
    address sender() const noexcept {
        return wants_address ? address::from_native(reinterpret_cast<const sockaddr*>(&from),
                                                    header.msg_namelen)
                             : address();
    }
};

struct sending : message, as_count {
    using message::message;
};

struct sending_to : message, as_count {
    address to;

    template <class Buffers>
    sending_to(Buffers buffers, const address& where) noexcept : message(buffers), to(where) {}

    void prepare(io_request& request) noexcept {
        message::prepare(request);
        header.msg_name = const_cast<sockaddr*>(to.native());
        header.msg_namelen = to.native_length();
    }
};

template <std::size_t Count>
struct sending_fds : message, as_count {
    int fds[Count];
    fd_control<Count> control;

    sending_fds(std::span<const std::byte> buffer, const int (&given)[Count]) noexcept
        : message(buffer) {
        std::memcpy(fds, given, sizeof fds);
    }

    /// Refuses an empty buffer: a stream would take the descriptors without a byte and drop them.
    std::error_code prepare(io_request& request) noexcept {
        if (vector.iov_len == 0) {
            return std::make_error_code(std::errc::invalid_argument);
        }
        message::prepare(request);
        header.msg_control = control.space;
        header.msg_controllen = control.size;
        put_fds(header, fds);
        return {};
    }
};

template <std::size_t Max>
struct receiving_fds : message {
    using signature = ex::set_value_t(message_with_fds<Max>);
    fd_control<Max> control;

    explicit receiving_fds(std::span<std::byte> buffer) noexcept : message(buffer) {}

    void prepare(io_request& request) noexcept {
        message::prepare(request);
        header.msg_control = control.space;
        header.msg_controllen = control.size;
    }
    template <class Receiver>
    void operator()(io_result result, Receiver&& receiver) noexcept {
        message_with_fds<Max> received{.size = result.count(), .truncated = has(MSG_TRUNC)};
        received.fd_count = take_fds(header, received.fds);
        if (has(MSG_CTRUNC)) {
            ex::set_error(std::forward<Receiver>(receiver),
                          std::make_error_code(std::errc::no_buffer_space));
        } else {
            ex::set_value(std::forward<Receiver>(receiver), std::move(received));
        }
    }
};

EDDY_EX_END
}  // namespace eddy::detail
