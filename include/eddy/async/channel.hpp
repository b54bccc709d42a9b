// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/sync/channel_core.hpp>
#include <eddy/async/detail/sync/wait_sender.hpp>
#include <eddy/base/error.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

namespace eddy {
namespace detail {
EDDY_EX_BEGIN

template <class T, class Allocator>
struct send_wait {
    struct node : send_waiter<T> {
        node(waiter::callback on_complete, send_wait& wait) noexcept
            : send_waiter<T>(on_complete, wait.item) {}
    };
    using signatures =
        ex::completion_signatures<ex::set_value_t(), ex::set_error_t(std::error_code),
                                  ex::set_stopped_t()>;

    template <class Receiver>
    void finish(node& n, Receiver& receiver) noexcept {
        if (n.how() == waiter::state::closed) {
            ex::set_error(static_cast<Receiver&&>(receiver), make_error_code(errc::channel_closed));
        } else {
            ex::set_value(static_cast<Receiver&&>(receiver));
        }
    }

    channel_core<T, Allocator>* core;
    T item;
};

template <class T, class Allocator>
struct receive_wait {
    struct node : receive_waiter<T> {
        node(waiter::callback on_complete, receive_wait&) noexcept
            : receive_waiter<T>(on_complete) {}
    };
    using signatures =
        ex::completion_signatures<ex::set_value_t(T), ex::set_error_t(std::error_code),
                                  ex::set_stopped_t()>;

    template <class Receiver>
    void finish(node& n, Receiver& receiver) noexcept {
        if (n.how() == waiter::state::closed) {
            ex::set_error(static_cast<Receiver&&>(receiver), make_error_code(errc::channel_closed));
        } else {
            ex::set_value(static_cast<Receiver&&>(receiver), std::move(*n.item));
        }
    }

    channel_core<T, Allocator>* core;
};

EDDY_EX_END
}  // namespace detail

EDDY_EX_BEGIN

/// A queue of at most `capacity` items between any number of senders and receivers. With capacity
/// 0, a send waits until a receiver takes its item.
///
///     channel<std::string> lines(16);
///     co_await lines.send("hello");
///     std::string line = co_await lines.receive();
///
/// Both sides are served in order of arrival. A send that completes with a value has sent its item;
/// a send that ends in any other way has not. An item that was taken for a receiver reaches it,
/// even if the receiver is stopped after that.
///
/// Thread: any. A waiter on a loop's thread continues there, later, never inside another's call. A
/// waiter without a loop completes inside the call that releases it. Only the constructor
/// allocates. Lifetime: until every send and receive has completed.
template <class T, class Allocator = std::allocator<T>>
class channel {
    static_assert(std::is_nothrow_move_constructible_v<T>,
                  "channel: moving an item must not throw, or items could get lost; put it into a "
                  "std::unique_ptr");

public:
    /// Throws the exceptions of the allocator.
    explicit channel(std::size_t capacity, const Allocator& allocator = {})
        : core_(capacity, allocator) {}

    /// Completes without a value when the item has a place, or else with errc::channel_closed.
    auto send(T item) noexcept {
        return detail::wait_sender(detail::send_wait<T, Allocator>{&core_, std::move(item)});
    }
    /// Completes with an item, or with errc::channel_closed if the channel is closed and empty.
    auto receive() noexcept {
        return detail::wait_sender(detail::receive_wait<T, Allocator>{&core_});
    }

    /// Returns false if the channel is full or closed; `item` is then unchanged.
    [[nodiscard]] bool try_send(T&& item) noexcept { return core_.try_send(std::move(item)); }
    [[nodiscard]] std::optional<T> try_receive() noexcept { return core_.try_receive(); }

    /// Ends all sends, waiting ones too, with errc::channel_closed. Items can still be received.
    void close() noexcept { core_.close(); }
    bool closed() const noexcept { return core_.closed(); }

    std::size_t size() const noexcept { return core_.size(); }
    std::size_t capacity() const noexcept { return core_.capacity(); }

private:
    detail::channel_core<T, Allocator> core_;
};

EDDY_EX_END
}  // namespace eddy
