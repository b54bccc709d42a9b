// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/error.hpp>
#include <eddy/io/detail/ahead/ahead_source.hpp>
#include <eddy/loop/loop.hpp>

#include <cstddef>
#include <memory>
#include <optional>

namespace eddy::detail {

/// Holds items that one multishot operation gets ahead of demand: connections or buffers.
///
///     paused --someone waits, or half is free--> getting
///     getting --full--> pausing --the kernel has stopped--> paused, or getting again
///
/// The queue is bounded. When it is full, the kernel is told to stop, and the rest waits in the
/// listener's backlog or the socket's buffer. Items that the kernel had got by then are kept.
///
/// The queue belongs to an `incoming`, and outlives it for as long as the kernel has the operation.
/// Thread: the loop's.
template <class Source>
class ahead_queue {
public:
    using item = typename Source::item;

    /// A consumer that waits for an item. The callback is called on the loop's thread, once if it
    /// returns true: with an item, with the end of the stream (no item and no error), with an
    /// error, or because the loop ends. It returns false if it refuses the item and wants another.
    class waiter {
    public:
        using callback = bool (*)(waiter&, item, io_result, bool loop_ends) noexcept;
        explicit waiter(callback on_result) noexcept : on_result_(on_result) {}

    private:
        callback on_result_;
        waiter* next_ = nullptr;
        waiter* previous_ = nullptr;
        unsigned round_ = 0;  ///< round of the queue when the wait began
        bool waiting_ = false;
        friend class ahead_queue;
    };

    struct leave {
        EDDY_API void operator()(ahead_queue* queue) const noexcept;
    };
    using pointer = std::unique_ptr<ahead_queue, leave>;

    /// Throws std::bad_alloc.
    EDDY_API static pointer make(loop& home, const io_request& request, std::size_t capacity);

    /// Gives `w` an item, or lets it wait. The callback may be called before this returns.
    EDDY_API void take(waiter& w) noexcept;
    /// Lets `w` wait if nothing else has to be done. False: nothing was done, and take() is needed.
    [[nodiscard]] bool wait_for_next(waiter& w) noexcept {
        if (store_.size() != 0 || end_ || !operation_.pending()) {
            return false;
        }
        wait(w);
        return true;
    }
    /// Takes `w` out of the queue if it waits. Its callback is not called after that.
    EDDY_API void remove(waiter& w) noexcept;
    std::size_t stored() const noexcept { return store_.size(); }

private:
    ahead_queue(loop& home, const io_request& request, std::size_t capacity);
    ~ahead_queue() = default;

    static void on_complete(io_operation& op) noexcept;
    void completed() noexcept;
    void deliver() noexcept;
    void end(io_result result, bool loop_ends) noexcept;
    void wait(waiter& w) noexcept {
        w.next_ = nullptr;
        w.previous_ = last_;
        (last_ == nullptr ? first_ : last_->next_) = &w;
        last_ = &w;
        w.round_ = round_;
        w.waiting_ = true;
    }
    void leave_line(waiter& w) noexcept;
    waiter* pop_waiter() noexcept;
    void get_if_wanted() noexcept;
    void pause_if_full() noexcept;
    void delete_if_left() noexcept;

    loop& home_;
    io_request request_;
    typename Source::operation operation_;
    std::size_t capacity_;
    typename Source::store store_;
    std::optional<io_result> end_;  ///< delivered after the stored items
    waiter* first_ = nullptr;
    waiter* last_ = nullptr;
    unsigned inside_ = 0;   ///< number of active functions that call waiters
    unsigned round_ = 0;    ///< counts deliveries of an end
    bool telling_ = false;  ///< an end is being delivered to the waiters
    bool pausing_ = false;
    bool left_ = false;
};

extern template class ahead_queue<connections_ahead>;
extern template class ahead_queue<bytes_ahead>;

}  // namespace eddy::detail
