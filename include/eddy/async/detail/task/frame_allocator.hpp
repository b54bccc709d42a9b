// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>

namespace eddy::detail {

/// The allocator of frames, type-erased so that the type of a task does not depend on it.
using frame_allocator = std::pmr::polymorphic_allocator<std::byte>;

template <class Allocator>
inline constexpr bool is_operator_new = false;
template <class T>
inline constexpr bool is_operator_new<std::allocator<T>> = true;

template <class Allocator>
concept gives_frames =
    std::convertible_to<const Allocator&, frame_allocator> || is_operator_new<Allocator>;

template <class Allocator>
frame_allocator to_frame_allocator(const Allocator& given) noexcept {
    if constexpr (std::convertible_to<const Allocator&, frame_allocator>) {
        return given;
    } else {
        static_assert(is_operator_new<Allocator>,
                      "the frame of a task comes from a memory resource: pass the address of one; "
                      "eddy::allocator_resource makes one of an allocator");
        return std::pmr::new_delete_resource();
    }
}

/// Does what new_object() does, without uses-allocator construction, which takes long to compile.
template <class T, class... Args>
T* new_in(frame_allocator memory, Args&&... args) {
    void* const place = memory.resource()->allocate(sizeof(T), alignof(T));
    if constexpr (std::is_nothrow_constructible_v<T, Args...>) {
        return ::new (place) T(std::forward<Args>(args)...);
    } else {
        try {
            return ::new (place) T(std::forward<Args>(args)...);
        } catch (...) {
            memory.resource()->deallocate(place, sizeof(T), alignof(T));
            throw;
        }
    }
}
template <class T>
void delete_in(frame_allocator memory, T* gone) noexcept {
    gone->~T();
    memory.resource()->deallocate(gone, sizeof(T), alignof(T));
}

}  // namespace eddy::detail
