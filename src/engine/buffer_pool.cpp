// SPDX-License-Identifier: Apache-2.0

// Makes the buffers of receives, and takes them back from any thread.
#include "engine/buffer_pool.hpp"

#include "engine/engine.hpp"
#include "kernel/fork_mark.hpp"
#include "kernel/pause.hpp"

#include <algorithm>
#include <new>

namespace eddy {

namespace {

constexpr std::size_t smallest = 64;
constexpr std::size_t largest = std::size_t{1} << 24;
constexpr std::align_val_t alignment{alignof(detail::lease_buffer)};

}  // namespace

buffer_pool::buffer_pool(const pool_options& options, engine& sleeper) noexcept
    : options_(options), sleeper_(sleeper), process_mark_(kernel::process_mark()) {
    options_.size = (std::clamp(options.size, smallest, largest) + 63) / 64 * 64;
    options_.max = std::clamp<std::size_t>(options.max, 1, most);
    options_.batch = std::clamp<std::size_t>(options.batch, 1, options_.max);
}

void buffer_pool::chunk_deleter::operator()(std::byte* memory) const noexcept {
    ::operator delete(memory, alignment);
}

bool buffer_pool::provide() noexcept {
    if (free_ == nullptr) {
        collect();
    }
    return free_ != nullptr || grow();
}

bool buffer_pool::grow() noexcept try {
    const std::size_t count = std::min(options_.batch, options_.max - total());
    if (count == 0) {
        return false;
    }
    buffers_.reserve(total() + count);
    chunks_.reserve(chunks_.size() + 1);
    const std::size_t stride = sizeof(buffer) + options_.size;
    auto* const memory = static_cast<std::byte*>(::operator new(count * stride, alignment));
    chunks_.emplace_back(memory);
    for (std::size_t i = 0; i != count; ++i) {
        auto* const made =
            new (memory + i * stride) buffer(*this, static_cast<std::uint16_t>(total()));
        buffers_.push_back(made);
        push_free(*made);
    }
    return true;
} catch (const std::bad_alloc&) {
    return false;
}

void buffer_pool::collect() noexcept {
    queue_node* node = returned_.take();
    while (node != nullptr) {
        queue_node* const next = inbox::next(*node);
        push_free(static_cast<buffer&>(*node));
        node = next;
    }
}

void buffer_pool::recall_from_kernel() noexcept {
    for (buffer* const b : buffers_) {
        if (b->where == buffer::place::kernel) {
            push_free(*b);
        }
    }
}

void buffer_pool::give_back(buffer& b) noexcept {
    // relaxed: the push publishes it. A loop that leaves sees this if it has taken the push; a
    // later push wakes nobody.
    inside_.fetch_add(1, std::memory_order_relaxed);
    if (returned_.push(b)) {
        sleeper_.wake();
    }
    // release: pairs with leave(), after which there is nobody to wake.
    inside_.fetch_sub(1, std::memory_order_release);
    // acq_rel: release for the thread that destroys the pool, acquire if this is that thread.
    if (returned_elsewhere_.fetch_add(1, std::memory_order_acq_rel) == UINT64_MAX) {
        delete this;
    }
}

void buffer_pool::after_fork_in_child() noexcept {
    process_mark_ = kernel::process_mark();
    inside_.store(0, std::memory_order_relaxed);
}

void buffer_pool::leave() noexcept {
    collect();  // and unparks: later returns wake nobody
    // acquire: pairs with give_back().
    while (process_mark_ == kernel::process_mark() &&
           inside_.load(std::memory_order_acquire) != 0) {
        kernel::yield();
    }
    const std::uint64_t lent = lent_;
    // If some are out, the pool may be gone after this. acq_rel: as in give_back().
    if (returned_elsewhere_.fetch_sub(lent, std::memory_order_acq_rel) == lent) {
        delete this;
    }
}

void detail::pool_leaver::operator()(buffer_pool* pool) const noexcept { pool->leave(); }

}  // namespace eddy
