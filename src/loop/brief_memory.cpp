// SPDX-License-Identifier: Apache-2.0

// Cuts short-lived pieces of memory from blocks, which are freed as a whole.
#include <eddy/loop/detail/brief_memory.hpp>

#include "base/at_thread_exit.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace eddy::detail {

namespace {

/// A block, from which pieces are cut. They follow its header, each behind a pointer to the block.
///
/// `balance` is minus the number of pieces that were given back, until the cutting thread has
/// finished and adds the number of pieces that it made. The thread that then brings it to 0 frees
/// the block; before, it is below 0.
struct block {
    std::atomic<std::int64_t> balance{0};

    void add(std::int64_t pieces) noexcept {
        // acq_rel: the thread that frees the block comes after all that used its pieces.
        if (balance.fetch_add(pieces, std::memory_order_acq_rel) + pieces == 0) {
            this->~block();
            ::operator delete(this);
        }
    }
};

constexpr std::size_t block_size = 8192;
constexpr std::size_t piece_max = 512;
constexpr std::size_t alignment = alignof(std::max_align_t);

constexpr std::size_t round_up(std::size_t size) noexcept {
    return (size + alignment - 1) / alignment * alignment;
}
constexpr std::size_t first_piece = round_up(sizeof(block) + sizeof(block*));

/// The state of one thread. Pieces that come back are counted here as long as they are of one
/// block, which is then notified once.
struct desk {
    block* cut = nullptr;  ///< null: no block is being cut
    std::size_t next = 0;  ///< where the next piece begins
    std::int64_t made = 0;
    block* returned_to = nullptr;
    std::int64_t returned = 0;
    bool armed = false;   ///< close() will be called when the thread ends
    bool closed = false;  ///< the thread ends

    /// True if counts may stay here. Otherwise each piece is settled at once.
    bool keeps() noexcept { return armed || (!closed && arm()); }
    bool arm() noexcept;
    void close() noexcept {
        finish_cutting();
        tell_of_returns();
        armed = false;
        closed = true;
    }
    void finish_cutting() noexcept {
        if (cut != nullptr) {
            cut->add(made);
            cut = nullptr;
        }
    }
    void tell_of_returns() noexcept {
        if (returned_to != nullptr) {
            returned_to->add(-returned);
            returned_to = nullptr;
        }
    }
};

// No destructor: usable until the very end of its thread.
[[gnu::tls_model("initial-exec")]] constinit thread_local desk mine;

void close_desk() noexcept { mine.close(); }

bool desk::arm() noexcept {
    armed = at_thread_exit<&close_desk>::arm();
    return armed;
}

void begin_block(desk& d) {
    d.finish_cutting();
    d.cut = ::new (::operator new(block_size)) block;
    d.next = first_piece;
    d.made = 0;
    d.keeps();
}

}  // namespace

void* brief_new(std::size_t size) {
    if (size > piece_max) {
        return ::operator new(size);
    }
    desk& d = mine;
    const std::size_t room = round_up(size + sizeof(block*));
    if (d.cut == nullptr || d.next + room > block_size) {
        begin_block(d);
    }
    std::byte* const piece = reinterpret_cast<std::byte*>(d.cut) + d.next;
    d.next += room;
    ++d.made;
    ::new (piece - sizeof(block*)) block*(d.cut);
    if (!d.armed) {
        d.finish_cutting();
    }
    return piece;
}

void brief_delete(void* piece, std::size_t size) noexcept {
    if (size > piece_max) {
        ::operator delete(piece);
        return;
    }
    block* const from = *reinterpret_cast<block**>(static_cast<std::byte*>(piece) - sizeof(block*));
    desk& d = mine;
    if (d.returned_to == from) {
        ++d.returned;
        return;
    }
    if (!d.keeps()) {
        from->add(-1);
        return;
    }
    d.tell_of_returns();
    d.returned_to = from;
    d.returned = 1;
}

}  // namespace eddy::detail
