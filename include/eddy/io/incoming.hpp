#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/accept_queue.hpp>
#include <eddy/io/detail/converts.hpp>
#include <eddy/io/detail/next_connection.hpp>

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
/// Destroying it closes the connections that wait here, and ends a next() that is pending with
/// `operation_canceled`. Closing the acceptor ends it too; connections that are here can still be
/// taken.
///
/// Thread: the loop's, or any while the loop does not run. Movable.
template <class Socket>
class incoming {
public:
    /// Throws std::bad_alloc. An empty acceptor: next() fails with `bad_file_descriptor`.
    template <class Acceptor>
    explicit incoming(const Acceptor& acceptor, std::size_t capacity = 64)
        : home_(acceptor.home()) {
        if (home_ != nullptr) {
            queue_ = detail::accept_queue::make(*home_, acceptor.get_descriptor(), capacity);
        }
    }

    /// Value: a `Socket` on the acceptor's loop. This object must live until it has begun.
    auto next() noexcept {
        using convert = detail::as_handle<Socket>;
        return detail::next_connection<convert>(home(), queue_.get(),
                                                convert{home_, {.kind = Socket::kind}});
    }
    /// Value: a unique_fd, for another loop to adopt.
    auto next_fd() noexcept {
        return detail::next_connection<detail::as_fd>(home(), queue_.get(), {});
    }
    /// How many wait here.
    std::size_t stored() const noexcept { return queue_ == nullptr ? 0 : queue_->stored(); }

private:
    loop* home() const noexcept { return queue_ == nullptr ? nullptr : home_; }

    loop* home_;
    detail::accept_queue::pointer queue_;
};

EDDY_EX_END
}  // namespace eddy
