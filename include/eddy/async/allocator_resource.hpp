// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>

namespace eddy {

/// Adapts any allocator to std::pmr::memory_resource, from which the frames of tasks are allocated.
///
///     eddy::allocator_resource memory(my_allocator<std::byte>(arena));
///     co_await serve(std::allocator_arg, &memory, std::move(peer));
///
/// Refuses alignments above that of operator new with std::bad_alloc. Thread: those on which the
/// allocator may be used. Lifetime: the resource must outlive what was allocated from it.
template <class Allocator>
class allocator_resource final : public std::pmr::memory_resource {
    struct alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) unit {
        std::byte bytes[__STDCPP_DEFAULT_NEW_ALIGNMENT__];
    };
    using traits = typename std::allocator_traits<Allocator>::template rebind_traits<unit>;
    using pointers = std::pointer_traits<typename traits::pointer>;

public:
    explicit allocator_resource(const Allocator& from) noexcept : from_(from) {}

private:
    /// Returns at least 1: an allocator may return nullptr for 0 units.
    static std::size_t units_of(std::size_t bytes) noexcept {
        return bytes / sizeof(unit) + (bytes % sizeof(unit) != 0 || bytes == 0 ? 1 : 0);
    }

    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (alignment > alignof(unit)) {
            throw std::bad_alloc();
        }
        return std::to_address(traits::allocate(from_, units_of(bytes)));
    }
    void do_deallocate(void* memory, std::size_t bytes, std::size_t) override {
        traits::deallocate(from_, pointers::pointer_to(*static_cast<unit*>(memory)),
                           units_of(bytes));
    }
    bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }

    typename traits::allocator_type from_;
};

}  // namespace eddy
