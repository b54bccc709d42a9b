// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/detail/meta.hpp>

#include <cstddef>
#include <initializer_list>
#include <new>
#include <type_traits>

namespace eddy::ex {
namespace detail {

consteval std::size_t largest(std::initializer_list<std::size_t> sizes) {
    std::size_t result = 1;
    for (const std::size_t size : sizes) result = size > result ? size : result;
    return result;
}

/// A minimal variant. It starts empty, does not move, and is emplaced at most once between resets.
/// The alternatives are distinct and need not be movable.
template <class... Ts>
class choice : immovable {
public:
    choice() = default;
    ~choice() { reset(); }

    /// Constructs a `T` in place from the result of `make`.
    template <class T, class Make>
    T& emplace_from(Make&& make) noexcept(noexcept(static_cast<Make&&>(make)())) {
        T* const object = ::new (static_cast<void*>(storage_)) T(static_cast<Make&&>(make)());
        index_ = index_of<T, Ts...>();
        return *object;
    }

    template <class T, class... Args>
    T& emplace(Args&&... args) noexcept(std::is_nothrow_constructible_v<T, Args...>) {
        T* const object = ::new (static_cast<void*>(storage_)) T(static_cast<Args&&>(args)...);
        index_ = index_of<T, Ts...>();
        return *object;
    }

    void reset() noexcept {
        visit([]<class T>(T& object) noexcept { object.~T(); });
        index_ = sizeof...(Ts);
    }

    /// Resets an object that is known to hold a `T`.
    template <class T>
    void destroy() noexcept {
        get<T>().~T();
        index_ = sizeof...(Ts);
    }

    bool empty() const noexcept { return index_ == sizeof...(Ts); }
    template <class T>
    bool holds() const noexcept {
        return index_ == index_of<T, Ts...>();
    }
    template <class T>
    T& get() noexcept {
        return *std::launder(reinterpret_cast<T*>(storage_));
    }

    /// Calls `function` with the object, if there is one.
    template <class Function>
    void visit(Function&& function) noexcept {
        std::size_t index = 0;
        static_cast<void>(((index_ == index++ ? (function(get<Ts>()), true) : false) || ...));
    }

private:
    alignas(Ts...) std::byte storage_[largest({sizeof(Ts)...})];
    std::size_t index_ = sizeof...(Ts);
};

template <>
class choice<> : immovable {
public:
    void reset() noexcept {}
    bool empty() const noexcept { return true; }
    template <class Function>
    void visit(Function&&) noexcept {}
};

}  // namespace detail
}  // namespace eddy::ex
