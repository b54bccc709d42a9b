// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/ahead/ahead_queue.hpp>
#include <eddy/io/detail/ahead/next_ahead.hpp>
#include <eddy/io/detail/connect/as_connection.hpp>
#include <eddy/io/detail/convert/converts.hpp>
#include <eddy/io/stream.hpp>
#include <eddy/loop/lease.hpp>
#include <eddy/loop/requests.hpp>

#include <cstddef>
#include <utility>

namespace eddy {
EDDY_EX_BEGIN

/// The connections of an acceptor, one after the other, accepted ahead by one operation that goes
/// on in the kernel. At most `capacity` of them wait here (and those that had been accepted when
/// the kernel was told to stop); the rest stays in the backlog of the listener until some are
/// taken.
///
///     incoming<tcp::socket> connections(acceptor, 64);
///     for (;;) {
///         serve(co_await connections.next());
///     }
///
/// Errors that pass are survived and reported, as by acceptor_of. With `accept_errors::every`, a
/// next() that is pending ends with them, and the one after it goes on.
///
/// Destroying it closes the connections that wait here, and ends a next() that is pending with
/// `operation_canceled`. Closing the acceptor ends it too; connections that are here can still be
/// taken.
///
/// Thread: the loop's, or any while the loop does not run. Movable.
template <class Socket>
class incoming {
    using queue = detail::ahead_queue<detail::connections_ahead>;

public:
    /// Throws std::bad_alloc. An empty acceptor: next() fails with `bad_file_descriptor`.
    template <class Acceptor>
    explicit incoming(const Acceptor& acceptor, std::size_t capacity = 64,
                      accept_errors errors = accept_errors::lasting)
        : home_(acceptor.home()), errors_(errors) {
        if (home_ != nullptr) {
            queue_ = queue::make(*home_, accept_multishot(acceptor.get_descriptor(), 0, errors),
                                 capacity);
        }
    }

    /// Value: a `Socket` on the acceptor's loop. This object must live until it has begun.
    auto next() noexcept { return next_as(detail::as_connection<Socket>(home_, errors_)); }
    /// Value: a unique_fd, for another loop to adopt.
    auto next_fd() noexcept { return next_as(detail::as_fd{}); }
    /// How many wait here.
    std::size_t stored() const noexcept { return queue_ == nullptr ? 0 : queue_->stored(); }

private:
    loop* home() const noexcept { return queue_ == nullptr ? nullptr : home_; }
    template <class Convert>
    auto next_as(Convert convert) noexcept {
        return detail::next_ahead<detail::connections_ahead, Convert>(home(), queue_.get(),
                                                                      std::move(convert));
    }

    loop* home_;
    accept_errors errors_;
    queue::pointer queue_;
};

/// The bytes of a stream, one lent buffer after the other, received ahead by one operation that
/// goes on in the kernel: on io_uring this is cheaper than a `receive()` for each. At most
/// `capacity` buffers wait here (and those that had come when the kernel was told to stop, a few);
/// the rest stays in the socket until some are taken. They are of the loop's `lease_max`, so
/// whoever does not take what comes keeps some from all others.
///
///     incoming<lease> data(socket);
///     while (lease some = co_await data.next()) {
///         consume(some.data());
///     }
///
/// It begins with the first next(). From then on bytes are taken from the socket: those that wait
/// here are lost when it is destroyed, and another read would get what comes behind them.
/// Destroying it, or closing the socket, ends a next() that is pending with `operation_canceled`;
/// what is here can still be taken after a close. It is work of the loop as long as the kernel goes
/// on: destroy it before `run_mode::empty` can return.
///
/// Thread: the loop's, or any while the loop does not run. Movable.
template <>
class incoming<lease> {
    using queue = detail::ahead_queue<detail::bytes_ahead>;

public:
    /// Throws std::bad_alloc. An empty stream: next() fails with `bad_file_descriptor`.
    explicit incoming(const stream& from, std::size_t capacity = 4) : home_(from.home()) {
        if (home_ != nullptr) {
            queue_ = queue::make(*home_, receive_multishot(from.get_descriptor()), capacity);
        }
    }

    /// Value: a `lease`, empty at the end of the stream. A stopped one takes nothing. This object
    /// must live until it has begun.
    auto next() noexcept {
        return detail::next_ahead<detail::bytes_ahead, detail::as_lease>(
            queue_ == nullptr ? nullptr : home_, queue_.get(), {});
    }
    /// How many buffers wait here.
    std::size_t stored() const noexcept { return queue_ == nullptr ? 0 : queue_->stored(); }

private:
    loop* home_;
    queue::pointer queue_;
};

EDDY_EX_END
}  // namespace eddy
