// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace eddy {

template <class Signature>
class function_ref;

namespace detail {

template <class Callable, class Ref, class Result, class... Args>
concept lendable = !std::is_same_v<std::remove_cvref_t<Callable>, Ref> &&
                   std::is_invocable_r_v<Result, Callable&, Args...>;

}  // namespace detail

/// A reference to a callable that is lent for the duration of a call.
/// Lifetime: must not outlive the callable. A function, as opposed to an object, lives for ever.
template <class Result, class... Args>
class function_ref<Result(Args...)> {
public:
    template <detail::lendable<function_ref, Result, Args...> Callable>
    function_ref(Callable&& callable) noexcept {
        using target = std::remove_reference_t<Callable>;
        if constexpr (std::is_function_v<target>) {
            callee_.function = reinterpret_cast<void (*)()>(&callable);
            call_ = [](callee to, Args... args) -> Result {
                return invoke(*reinterpret_cast<target*>(to.function), std::forward<Args>(args)...);
            };
        } else {
            callee_.object = std::addressof(callable);
            call_ = [](callee to, Args... args) -> Result {
                return invoke(*static_cast<target*>(const_cast<void*>(to.object)),
                              std::forward<Args>(args)...);
            };
        }
    }

    Result operator()(Args... args) const { return call_(callee_, std::forward<Args>(args)...); }

private:
    union callee {
        const void* object;
        void (*function)();
    };

    /// Calls `target`, and drops its result if Result is void.
    template <class Target>
    static Result invoke(Target& target, Args&&... args) {
        if constexpr (std::is_void_v<Result>) {
            static_cast<void>(target(std::forward<Args>(args)...));
        } else {
            return target(std::forward<Args>(args)...);
        }
    }

    callee callee_;
    Result (*call_)(callee, Args...);
};

}  // namespace eddy
