// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/address.hpp>
#include <eddy/io/detail/connect/socket_calls.hpp>
#include <eddy/io/io_handle.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/io/socket_option.hpp>
#include <eddy/io/stream.hpp>
#include <eddy/loop/requests.hpp>

#include <cstdint>
#include <system_error>

namespace eddy {

enum class shutdown_side : std::uint8_t {
    receive = SHUT_RD,
    send = SHUT_WR,
    both = SHUT_RDWR,
};

EDDY_EX_BEGIN

/// Operations that all sockets share, on top of `Base`: options, addresses, shutdown.
///
///     if (auto error = socket.set_option(option::no_delay{true})) { ... }
///     address peer;
///     if (!socket.peer_address(peer)) { log(peer.to_string()); }
///     co_await socket.shutdown(shutdown_side::send);
template <class Base>
class socket_of : public Base {
public:
    using Base::Base;

    template <int Level, int Name, class Value>
    std::error_code set_option(const socket_option<Level, Name, Value>& option) const noexcept {
        const typename socket_option<Level, Name, Value>::native_type native = option.value;
        return detail::set_socket_option(this->native_handle(), Level, Name, &native,
                                         sizeof native);
    }
    /// On error `option` is unchanged.
    template <int Level, int Name, class Value>
    std::error_code get_option(socket_option<Level, Name, Value>& option) const noexcept {
        typename socket_option<Level, Name, Value>::native_type native{};
        const auto error =
            detail::get_socket_option(this->native_handle(), Level, Name, &native, sizeof native);
        if (!error) {
            option.value = static_cast<Value>(native);
        }
        return error;
    }

    std::error_code local_address(address& out) const noexcept {
        return detail::local_address_of(this->native_handle(), out);
    }
    /// Fails with `not_connected` if the socket has no peer.
    std::error_code peer_address(address& out) const noexcept {
        return detail::peer_address_of(this->native_handle(), out);
    }

    /// Shuts down at once, even before pending sends: await those first. The fd stays open.
    auto shutdown(shutdown_side side) const noexcept {
        return io_sender<as_void>(this->home(),
                                  eddy::shutdown(this->descriptor_, static_cast<int>(side)));
    }
};

/// A connected socket that carries a byte stream, without message boundaries.
using stream_socket = socket_of<stream>;

EDDY_EX_END
}  // namespace eddy
