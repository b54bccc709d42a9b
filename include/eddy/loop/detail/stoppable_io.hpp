// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>
#include <eddy/base/config.hpp>
#include <eddy/base/detail/member.hpp>
#include <eddy/engine/io_operation.hpp>
#include <eddy/loop/loop.hpp>

namespace eddy {

/// An I/O operation that any thread may start and any thread may ask to stop: the base of senders.
/// Derived classes give it a completion.
///
///     another thread:  prepare(), from here on it can be stopped, start_elsewhere()
///     the loop's:      transfer_here(), if a transfer will do; if that is false,
///                      prepare(), start_here(); if that is false, it can be stopped from here on
///     in completion:   once nobody is inside request_stop(), stop_is_over()
///
/// A start or a stop from another thread pushes one node each into the loop's inbox. The operation
/// may end, and be destroyed, when the loop has taken both. Model: tests/model/stop_io.pml.
///
/// Thread of the completion: the loop's.
class EDDY_API stoppable_io : protected io_operation {
protected:
    /// `home` may be null if the operation is never started.
    stoppable_io(loop* home, const io_request& request, callback on_complete) noexcept
        : io_operation(on_complete, request), home_(home) {
        EDDY_ASSERT(!request.multishot,
                    "a multishot operation completes more than once: it is "
                    "none for a sender");
    }
    /// Ends a pending operation, on the loop's thread or while the loop does not run. On other
    /// threads the operation must have completed. Precondition: nobody is inside request_stop().
    ~stoppable_io() {
        if (pending() || stop_posted_) {
            take_back();
        }
    }

    loop* home() const noexcept { return home_; }
    /// Returns the request, which may be changed while the operation is not pending.
    io_request& mutable_request() noexcept { return request_; }
    /// Makes the completion of a receive call take_lease() instead of loop::take_lease().
    void will_take_lease() noexcept { takes_lease_ = true; }
    lease take_lease() noexcept { return loop::lease_of(*this); }
    void prepare() noexcept {
        wanted_end_ = end_reason::none;
        phase_ = phase::posted;
    }
    /// Starts the operation. True: there is a result, which was or will be delivered; the operation
    /// may be destroyed already and need not be stopped. False: it is pending. Thread: the loop's.
    [[nodiscard]] bool start_here() noexcept { return home_->start_here(*this); }
    /// Starts, as start_here() does, a receive or a recv of some bytes that will probably wait.
    [[nodiscard]] bool start_reading_here() noexcept {
        return !home_->wait_for_data(*this) && start_here();
    }
    /// Makes the call of a transfer that has nothing to wait for, without a start: see
    /// own_io::transfer_now(). The result must be delivered inside an inline_call. Thread: the
    /// loop's.
    [[nodiscard]] bool transfer_here(io_result& result) noexcept {
        return home_->inline_depth_ < home_->options_.inline_max &&
               home_->transfer_now(request_, result);
    }
    /// Counts a completion that is called inside a start, and so must not nest too deeply.
    class inline_call {
    public:
        explicit inline_call(loop& home) noexcept : home_(home) { ++home.inline_depth_; }
        ~inline_call() { --home_.inline_depth_; }
        inline_call(const inline_call&) = delete;
        inline_call& operator=(const inline_call&) = delete;

    private:
        loop& home_;
    };
    /// Starts the operation, which may complete and be destroyed before this returns. Thread: any.
    void start_elsewhere() noexcept;
    /// Asks the operation to stop, at most once per start. Thread: any.
    void request_stop() noexcept;
    /// Takes a requested stop from the loop's inbox, so that it does not arrive later.
    void stop_is_over() noexcept {
        if (stop_posted_) {
            take_inbox();
        }
    }

private:
    class stop_node : public queue_node {
    public:
        stop_node() noexcept : queue_node(node_kind::io_stop) {}
    };

    static stoppable_io& of(queue_node& node) noexcept {
        return detail::owner_of<&stoppable_io::stop_>(static_cast<stop_node&>(node));
    }
    void stop_taken() noexcept;
    void take_back() noexcept;
    void take_inbox() noexcept;

    loop* home_;
    [[no_unique_address]] stop_node stop_;
    bool stop_posted_ = false;  // placed in the rest of the node's last word

    friend class loop;
};

}  // namespace eddy
