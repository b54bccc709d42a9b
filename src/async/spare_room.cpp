// SPDX-License-Identifier: Apache-2.0

// Allocates the blocks for operations of waiting tasks, and frees them when a thread ends.
#include <eddy/async/detail/await/spare_room.hpp>

#include "base/at_thread_exit.hpp"

#include <new>

namespace eddy::detail {

namespace {

constexpr spare_rooms none_are_kept = {.first = nullptr, .count = spare_rooms::count_max};

}  // namespace

/// A thread that makes no block keeps none, because nothing would free it when the thread ends.
constinit thread_local std::array<spare_rooms, 2> rooms_of_thread = {none_are_kept, none_are_kept};

namespace {

void drop_spare_rooms() noexcept {
    for (spare_rooms& spare : rooms_of_thread) {
        while (spare.first != nullptr) {
            void* const room = spare.first;
            spare.first = *static_cast<void**>(room);
            drop_room(room);
        }
        spare = none_are_kept;
    }
}

bool none_is_kept(const spare_rooms& spare) noexcept {
    return spare.first == nullptr && spare.count == spare_rooms::count_max;
}

}  // namespace

void* make_room(room size) {
    void* const made = ::operator new(room_sizes[static_cast<std::size_t>(size)]);
    if (none_is_kept(rooms_of_thread[0])) {
        if (at_thread_exit<&drop_spare_rooms>::arm()) {
            rooms_of_thread = {};
        }
    }
    return made;
}

void drop_room(void* taken) noexcept { ::operator delete(taken); }

}  // namespace eddy::detail
