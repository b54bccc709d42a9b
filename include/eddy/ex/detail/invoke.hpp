// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>

namespace eddy::ex {
namespace detail {

/// The object to apply a member pointer to, given an object, a pointer or a reference_wrapper.
template <class Class, class Object>
constexpr decltype(auto) member_target(Object&& object) noexcept {
    if constexpr (std::is_base_of_v<Class, std::remove_cvref_t<Object>>) {
        return static_cast<Object&&>(object);
    } else if constexpr (requires { object.get(); }) {
        return object.get();
    } else {
        return *static_cast<Object&&>(object);
    }
}

template <class Member, class Class, class Object, class... Args>
constexpr decltype(auto) invoke_member(Member Class::* member, Object&& object, Args&&... args) {
    if constexpr (std::is_function_v<Member>) {
        return (member_target<Class>(static_cast<Object&&>(object)).*
                member)(static_cast<Args&&>(args)...);
    } else {
        return (member_target<Class>(static_cast<Object&&>(object)).*member);
    }
}

/// Does what std::invoke does, without including <functional>.
template <class Function, class... Args>
    requires std::is_invocable_v<Function, Args...>
constexpr auto invoke(Function&& function,
                      Args&&... args) noexcept(std::is_nothrow_invocable_v<Function, Args...>)
    -> std::invoke_result_t<Function, Args...> {
    if constexpr (std::is_member_pointer_v<std::decay_t<Function>>) {
        return detail::invoke_member(function, static_cast<Args&&>(args)...);
    } else {
        return static_cast<Function&&>(function)(static_cast<Args&&>(args)...);
    }
}

}  // namespace detail
}  // namespace eddy::ex
