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
/// when data is there), or out: with an operation whose turn it is or that has completed, or a
/// lease.
///
/// Buffers may come back from any thread, and after the loop is gone: the pool lives until the last
/// of them is back. Another thread wakes the loop only if receives wait for a buffer.
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
    /// How many are out.
    std::uint64_t out() const noexcept {
        return lent_ - returned_elsewhere_.load(std::memory_order_relaxed);
    }

    /// Whether there is a free one, if need be after making more. False: all that may be are out or
    /// with the kernel, or there is no memory.
    bool provide() noexcept;
    /// Takes in what came back from other threads.
    void collect() noexcept;
    /// From here on the return of a buffer wakes the loop. False: some are back; do not sleep.
    [[nodiscard]] bool park() noexcept { return returned_.park(); }

    /// The one that take() would take, of those that are free; null: none is.
    buffer* next() const noexcept { return free_; }
    /// Precondition: there is a free one.
    buffer& take() noexcept;
    void put(buffer& b) noexcept;

    /// Precondition: there is a free one.
    buffer& give_to_kernel() noexcept;
    /// By its number.
    buffer& at(std::uint16_t number) const noexcept { return *buffers_[number]; }
    /// The kernel has filled that one, which is out from here on.
    buffer& taken_by_kernel(std::uint16_t number) noexcept;
    /// The kernel that has them is gone.
    void recall_from_kernel() noexcept;

    void give_back(buffer& b) noexcept;

    /// In the child after fork(): no other thread is about to do anything.
    void after_fork_in_child() noexcept;
    /// The loop is gone; its engine is still there.
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
    /// Taken, minus those that came back on the loop's thread. What came back elsewhere is counted
    /// there, so that both counters only have one writer or one direction.
    std::uint64_t lent_ = 0;
    std::uint64_t process_mark_;

    /// What other threads touch.
    alignas(64) inbox returned_;
    /// Until leave(): how many came back from elsewhere. Then: minus how many are still out; who
    /// brings it to 0 destroys the pool.
    std::atomic<std::uint64_t> returned_elsewhere_{0};
    std::atomic<unsigned> inside_{0};  ///< threads in give_back(), which may be about to wake
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
