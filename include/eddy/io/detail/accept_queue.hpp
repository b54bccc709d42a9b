#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/error.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/requests.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace eddy::detail {

/// Connections that are accepted ahead of those who want them, by one multishot operation.
///
///     paused --someone waits, or half is free--> accepting
///     accepting --full--> pausing --the kernel has stopped--> paused, or accepting again
///
/// Bounded: when it is full the kernel is told to stop, and further connections wait in the
/// listener's backlog. What the kernel had accepted by then is kept as well.
///
/// It belongs to an `incoming`, and outlives it for as long as the kernel has the operation.
/// Thread: the loop's.
class accept_queue {
public:
    /// Somebody who wants the next connection. Called once, on the loop's thread: with an fd, with
    /// an error, or because the loop ends.
    class waiter {
    public:
        using callback = void (*)(waiter&, io_result, bool loop_ends) noexcept;
        explicit waiter(callback on_result) noexcept : on_result_(on_result) {}

    private:
        callback on_result_;
        waiter* next_ = nullptr;
        waiter* previous_ = nullptr;
        bool waiting_ = false;
        friend class accept_queue;
    };

    struct leave {
        EDDY_API void operator()(accept_queue* queue) const noexcept;
    };
    using pointer = std::unique_ptr<accept_queue, leave>;

    /// Throws std::bad_alloc.
    EDDY_API static pointer make(loop& home, const descriptor& listener, std::size_t capacity);

    /// The result may come before this returns.
    EDDY_API void take(waiter& w) noexcept;
    /// If it still waits: it is not called any more.
    EDDY_API void remove(waiter& w) noexcept;
    std::size_t stored() const noexcept { return stored_; }

private:
    accept_queue(loop& home, const descriptor& listener, std::size_t capacity);
    ~accept_queue() = default;

    static void on_complete(io_operation& op) noexcept;
    void accepted(io_result result) noexcept;
    void deliver(io_result result) noexcept;
    void keep(unique_fd fd) noexcept;
    unique_fd take_stored() noexcept;
    void fail_all(io_result result, bool loop_ends) noexcept;
    waiter* pop_waiter() noexcept;
    void accept_if_wanted() noexcept;
    void pause_if_full() noexcept;
    void end_if_left() noexcept;

    loop& home_;
    io_request request_;
    io_operation operation_;
    std::size_t capacity_;
    std::vector<unique_fd> ring_;
    std::size_t oldest_ = 0;
    std::size_t stored_ = 0;
    waiter* first_ = nullptr;
    waiter* last_ = nullptr;
    unsigned inside_ = 0;  ///< how many of its functions call waiters
    bool pausing_ = false;
    bool left_ = false;
};

}  // namespace eddy::detail
