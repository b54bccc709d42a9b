// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/task/frame_allocator.hpp>
#include <eddy/base/config.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <memory_resource>

namespace eddy::detail {

/// Accepts std::allocator_arg_t itself, but no type that converts to it.
template <class Tag>
concept allocator_tag = std::same_as<Tag, std::allocator_arg_t>;

/// Allocates the frame of a coroutine from the memory resource among its arguments: the one after
/// `std::allocator_arg`, which comes first, or second after the object of a member function or
/// lambda. The resource is stored behind the frame.
class task_frame {
public:
    static void* operator new(std::size_t size) { return allocate(size, nullptr); }
    // Always inlined, because otherwise g++ 12 says that operator delete does not match these.
    template <allocator_tag Tag, class Allocator, class... Args>
    [[gnu::always_inline]] static void* operator new(std::size_t size, Tag, const Allocator& with,
                                                     const Args&...) {
        return allocate(size, to_frame_allocator(with).resource());
    }
    template <class Self, allocator_tag Tag, class Allocator, class... Args>
    [[gnu::always_inline]] static void* operator new(std::size_t size, const Self&, Tag,
                                                     const Allocator& with, const Args&...) {
        return allocate(size, to_frame_allocator(with).resource());
    }
    EDDY_API static void operator delete(void* frame, std::size_t size) noexcept;

    // Public, because coroutines could not use the inherited constructors otherwise.
    task_frame() noexcept = default;
    template <allocator_tag Tag, class Allocator, class... Args>
    task_frame(Tag, const Allocator& with, const Args&...) noexcept
        : resource_(to_frame_allocator(with).resource()) {}
    template <class Self, allocator_tag Tag, class Allocator, class... Args>
    task_frame(const Self&, Tag, const Allocator& with, const Args&...) noexcept
        : resource_(to_frame_allocator(with).resource()) {}

protected:
    frame_allocator get_allocator() const noexcept { return resource_; }

private:
    // The alignment lets g++ check at compile time where a frame begins (frame_check.hpp).
    [[gnu::assume_aligned(alignof(std::max_align_t))]] EDDY_API static void* allocate(
        std::size_t size, std::pmr::memory_resource* with);

    std::pmr::memory_resource* resource_ = std::pmr::new_delete_resource();
};

}  // namespace eddy::detail
