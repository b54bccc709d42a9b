// says: the frame of a task comes from a memory resource
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

template <class T>
struct arena_allocator : std::allocator<T> {
    template <class Other>
    struct rebind {
        using other = arena_allocator<Other>;
    };
};

template <class Memory>
eddy::task<> child(std::allocator_arg_t, Memory) {
    co_return;
}

eddy::task<> parent() {
    const arena_allocator<std::byte> arena;
#ifdef CORRECTED
    eddy::allocator_resource memory(arena);
    co_await child(std::allocator_arg, &memory);
#else
    co_await child(std::allocator_arg, arena);
#endif
}
