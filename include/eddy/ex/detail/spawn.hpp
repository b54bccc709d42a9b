// SPDX-License-Identifier: Apache-2.0

// The shared part of spawn and spawn_future: their choice of allocator, and their work's
// environment.
#pragma once

#include <eddy/ex/env.hpp>
#include <eddy/ex/get_allocator.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace eddy::ex {
namespace detail {

template <class Env, class Attributes>
constexpr auto spawn_allocator(const Env& env, const Attributes& attributes) noexcept {
    if constexpr (has_query<Env, get_allocator_t>) {
        return get_allocator(env);
    } else if constexpr (has_query<Attributes, get_allocator_t>) {
        return get_allocator(attributes);
    } else {
        return std::allocator<void>{};
    }
}

template <class Env, class Attributes>
constexpr auto spawn_env(Env environment, const Attributes& attributes) noexcept {
    if constexpr (!has_query<Env, get_allocator_t> && has_query<Attributes, get_allocator_t>) {
        return env{prop{get_allocator, get_allocator(attributes)}, static_cast<Env&&>(environment)};
    } else {
        return environment;
    }
}

/// Constructs a T from `args`, in memory from `allocator`.
template <class T, class Allocator, class... Args>
T* allocate_object(const Allocator& allocator, Args&&... args) {
    using traits = typename std::allocator_traits<Allocator>::template rebind_traits<T>;
    typename traits::allocator_type rebound(allocator);
    T* const memory = traits::allocate(rebound, 1);
    try {
        return ::new (static_cast<void*>(memory)) T(static_cast<Args&&>(args)...);
    } catch (...) {
        traits::deallocate(rebound, memory, 1);
        throw;
    }
}

template <class T, class Allocator>
void free_object(const Allocator& allocator, T* object) noexcept {
    using traits = typename std::allocator_traits<Allocator>::template rebind_traits<T>;
    typename traits::allocator_type rebound(allocator);
    object->~T();
    traits::deallocate(rebound, object, 1);
}

}  // namespace detail
}  // namespace eddy::ex
