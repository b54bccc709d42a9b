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

/// The connections of an acceptor, accepted ahead of demand by one operation that stays in the
/// kernel. At most `capacity` connections wait here, plus any that were accepted before the kernel
/// was told to stop. The rest waits in the listener's backlog for room.
///
///     incoming<tcp::socket> connections(acceptor, 64);
///     for (;;) {
///         serve(co_await connections.next());
///     }
///
/// Transient errors are survived and reported, as by acceptor_of. With `accept_errors::every` a
/// pending next() fails with such an error, and the one after it continues.
///
/// Destroying this closes the connections that wait here, and ends a pending next() with
/// `operation_canceled`. Closing the acceptor also ends it; waiting connections can still be taken.
///
/// Thread: the loop's, or any while the loop does not run. Movable.
template <class Socket>
class incoming {
    using queue = detail::ahead_queue<detail::connections_ahead>;

public:
    /// Throws std::bad_alloc. If the acceptor is empty, next() fails with `bad_file_descriptor`.
    template <class Acceptor>
    explicit incoming(const Acceptor& acceptor, std::size_t capacity = 64,
                      accept_errors errors = accept_errors::lasting)
        : home_(acceptor.home()), errors_(errors) {
        if (home_ != nullptr) {
            queue_ = queue::make(*home_, accept_multishot(acceptor.get_descriptor(), 0, errors),
                                 capacity);
        }
    }

    /// Takes a connection. Value: a `Socket` on the acceptor's loop. Lifetime: this must live until
    /// the operation has begun.
    auto next() noexcept { return next_as(detail::as_connection<Socket>(home_, errors_)); }
    /// Takes a connection. Value: a unique_fd, for another loop to adopt.
    auto next_fd() noexcept { return next_as(detail::as_fd{}); }
    /// Returns the number of connections that wait here.
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

/// The bytes of a stream, in lent buffers, received ahead of demand by one operation that stays in
/// the kernel. On io_uring this is cheaper than one `receive()` per buffer. At most `capacity`
/// buffers wait here, plus a few that came before the kernel was told to stop. Other data stays in
/// the socket until some are taken. The buffers count towards the loop's `lease_max`: a reader that
/// does not take them keeps them from everybody else.
///
///     incoming<lease> data(socket);
///     while (lease some = co_await data.next()) {
///         consume(some.data());
///     }
///
/// Receiving begins with the first next(). Bytes that wait here are gone from the socket: another
/// read gets those behind them, and destroying this loses them. Destroying this, or closing the
/// socket, ends a pending next() with `operation_canceled`; after a close the waiting buffers can
/// still be taken. The operation is work of the loop while it is in the kernel: destroy this, or
/// `run_mode::empty` cannot return.
///
/// Thread: the loop's, or any while the loop does not run. Movable.
template <>
class incoming<lease> {
    using queue = detail::ahead_queue<detail::bytes_ahead>;

public:
    /// Throws std::bad_alloc. If the stream is empty, next() fails with `bad_file_descriptor`.
    explicit incoming(const stream& from, std::size_t capacity = 4) : home_(from.home()) {
        if (home_ != nullptr) {
            queue_ = queue::make(*home_, receive_multishot(from.get_descriptor()), capacity);
        }
    }

    /// Takes a buffer. Value: a `lease`, empty at the end of the stream. A stopped next() takes
    /// nothing. Lifetime: this must live until the operation has begun.
    auto next() noexcept {
        return detail::next_ahead<detail::bytes_ahead, detail::as_lease>(
            queue_ == nullptr ? nullptr : home_, queue_.get(), {});
    }
    /// Returns the number of buffers that wait here.
    std::size_t stored() const noexcept { return queue_ == nullptr ? 0 : queue_->stored(); }

private:
    loop* home_;
    queue::pointer queue_;
};

EDDY_EX_END
}  // namespace eddy
