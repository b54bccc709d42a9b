// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/engine/detail/lease_buffer.hpp>
#include <eddy/intrusive/inbox.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace eddy {

class engine;

struct pool_options {
    std::size_t size;   ///< of each buffer
    std::size_t batch;  ///< how many are made at a time
    std::size_t max;    ///< how many there are at most
};

/// The buffers that a loop lends to receives. A buffer is free, with the kernel (io_uring picks one
/// when there is data), or out: with a lease, or an operation that is about to run or has
/// completed.
///
/// Buffers may come back from any thread, even after the loop is gone: the pool lives until the
/// last one is back. A thread that returns a buffer wakes the loop only if receives wait for one.
///
/// Thread: the loop's, except give_back(): any.
class buffer_pool {
public:
    using buffer = detail::lease_buffer;
    /// The kernel's limit for a ring of buffers.
    static constexpr std::size_t most = 32768;

    buffer_pool(const pool_options& options, engine& sleeper) noexcept;
    buffer_pool(const buffer_pool&) = delete;
    buffer_pool& operator=(const buffer_pool&) = delete;

    std::size_t buffer_size() const noexcept { return options_.size; }
    std::size_t max() const noexcept { return options_.max; }
    std::size_t total() const noexcept { return buffers_.size(); }
    std::size_t free_count() const noexcept { return free_count_; }
    /// Returns how many buffers are out.
    std::uint64_t out() const noexcept {
        return lent_ - returned_elsewhere_.load(std::memory_order_relaxed);
    }

    /// True if a buffer is free, if necessary after making more. False: all are out or with the
    /// kernel, or there is no memory.
    bool provide() noexcept;
    /// Takes in the buffers that came back from other threads.
    void collect() noexcept;
    /// Makes the return of a buffer wake the loop from here on. False: some are back; do not sleep.
    [[nodiscard]] bool park() noexcept { return returned_.park(); }

    /// Returns the buffer that take() would return; null if none is free.
    buffer* next() const noexcept { return free_; }
    /// Lends a buffer. Precondition: one is free.
    buffer& take() noexcept;
    /// Takes a buffer back on the loop's thread.
    void put(buffer& b) noexcept;

    /// Gives a buffer to the kernel. Precondition: one is free.
    buffer& give_to_kernel() noexcept;
    /// Returns a buffer by its number.
    buffer& at(std::uint16_t number) const noexcept { return *buffers_[number]; }
    /// Marks a buffer that the kernel has filled as out.
    buffer& taken_by_kernel(std::uint16_t number) noexcept;
    /// Takes back all buffers that the kernel has. Called when the ring is gone.
    void recall_from_kernel() noexcept;

    /// Takes a buffer back. Thread: any.
    void give_back(buffer& b) noexcept;

    /// Adapts the pool to the child after fork(), where no other thread returns buffers.
    void after_fork_in_child() noexcept;
    /// Ends the loop's part in the pool. The loop is gone; its engine is still there.
    void leave() noexcept;

private:
    ~buffer_pool() = default;

    bool grow() noexcept;
    buffer& pop_free() noexcept;
    void push_free(buffer& b) noexcept;

    struct chunk_deleter {
        void operator()(std::byte* memory) const noexcept;
    };

    pool_options options_;
    engine& sleeper_;
    std::vector<std::unique_ptr<std::byte, chunk_deleter>> chunks_;
    std::vector<buffer*> buffers_;
    buffer* free_ = nullptr;
    std::size_t free_count_ = 0;
    /// Buffers taken, minus those that came back on the loop's thread. Other threads count their
    /// returns separately, so that each counter has one writer or one direction.
    std::uint64_t lent_ = 0;
    std::uint64_t process_mark_;

    /// Other threads modify the members from here on.
    alignas(64) inbox returned_;
    /// Until leave(): how many came back from other threads. After it: minus how many are still
    /// out; the thread that brings it to 0 destroys the pool.
    std::atomic<std::uint64_t> returned_elsewhere_{0};
    std::atomic<unsigned> inside_{0};  ///< threads in give_back(), perhaps about to wake the loop
};

inline void buffer_pool::push_free(buffer& b) noexcept {
    b.where = buffer::place::free;
    b.next_free = free_;
    free_ = &b;
    ++free_count_;
}

inline buffer_pool::buffer& buffer_pool::pop_free() noexcept {
    buffer& b = *free_;
    free_ = b.next_free;
    --free_count_;
    return b;
}

inline buffer_pool::buffer& buffer_pool::take() noexcept {
    buffer& b = pop_free();
    b.where = buffer::place::out;
    ++lent_;
    return b;
}

inline buffer_pool::buffer& buffer_pool::give_to_kernel() noexcept {
    buffer& b = pop_free();
    b.where = buffer::place::kernel;
    return b;
}

inline buffer_pool::buffer& buffer_pool::taken_by_kernel(std::uint16_t number) noexcept {
    buffer& b = *buffers_[number];
    b.where = buffer::place::out;
    ++lent_;
    return b;
}

inline void buffer_pool::put(buffer& b) noexcept {
    --lent_;
    push_free(b);
}

}  // namespace eddy
