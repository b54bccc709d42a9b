// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

namespace eddy::detail {

/// The size of a spare block, in which an operation lives while a task waits for it. A thread keeps
/// some of the blocks that are given back for later waits. So a task that waits has one block,
/// however often it says co_await, and only a new maximum of pending waits allocates.
///
/// Thread: any; a block may be given back on another thread than it was taken on.
enum class room : std::uint8_t { small, large };

/// The sizes in bytes, for which malloc wastes nothing.
inline constexpr std::array<std::size_t, 2> room_sizes = {120, 296};

/// The unused blocks of one size; each begins with a pointer to the next. Few are enough, because a
/// task that continues soon waits again.
struct spare_rooms {
    static constexpr std::size_t count_max = 256;
    void* first = nullptr;
    std::size_t count = 0;
};
EDDY_API [[gnu::tls_model("initial-exec")]] extern constinit thread_local std::array<spare_rooms, 2>
    rooms_of_thread;

/// Allocates a block. Throws std::bad_alloc.
EDDY_API EDDY_COLD void* make_room(room size);
EDDY_API EDDY_COLD void drop_room(void* taken) noexcept;

/// Takes a spare block, or allocates one. Throws std::bad_alloc.
inline void* take_room(room size) {
    spare_rooms& spare = rooms_of_thread[static_cast<std::size_t>(size)];
    void* const taken = spare.first;
    if (taken == nullptr) {
        return make_room(size);
    }
    spare.first = *static_cast<void**>(taken);
    --spare.count;
    return taken;
}

inline void give_room_back(room size, void* taken) noexcept {
    spare_rooms& spare = rooms_of_thread[static_cast<std::size_t>(size)];
    if (spare.count == spare_rooms::count_max) {
        drop_room(taken);
        return;
    }
    *static_cast<void**>(taken) = spare.first;
    spare.first = taken;
    ++spare.count;
}

/// Takes a large block for a `T`, or allocates memory if it does not fit: the stop callbacks of
/// stdexec are larger than ours. Throws std::bad_alloc.
template <class T>
void* take_large_room() {
    if constexpr (sizeof(T) <= room_sizes[1]) {
        return take_room(room::large);
    } else {
        return ::operator new(sizeof(T));
    }
}

template <class T>
void give_large_room_back(void* taken) noexcept {
    if constexpr (sizeof(T) <= room_sizes[1]) {
        give_room_back(room::large, taken);
    } else {
        ::operator delete(taken);
    }
}

}  // namespace eddy::detail
