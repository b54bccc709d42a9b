#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <memory_resource>

namespace eddy::detail {

/// What frames come from: the type of a task does not say what its memory is.
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

}  // namespace eddy::detail
