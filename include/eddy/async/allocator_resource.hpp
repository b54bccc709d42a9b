// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>

namespace eddy {

/// An allocator of any kind as a memory resource, for what takes only those: the frames of tasks.
///
///     eddy::allocator_resource memory(my_allocator<std::byte>(arena));
///     co_await serve(std::allocator_arg, &memory, std::move(peer));
///
/// It must outlive what was allocated from it. Thread: those on which the allocator may be used.
/// Alignments above that of operator new are refused with std::bad_alloc.
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
    /// At least one: allocators may answer nullptr for none.
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
