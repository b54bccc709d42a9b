#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace eddy {

template <class Signature>
class function_ref;

/// A callable that is lent for the duration of a call.
/// Lifetime: must not outlive the callable.
template <class Result, class... Args>
class function_ref<Result(Args...)> {
public:
    template <class Callable>
        requires(!std::is_same_v<std::remove_cvref_t<Callable>, function_ref>)
    function_ref(Callable&& callable)
    noexcept
        : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
          call_([](void* object, Args... args) -> Result {
              return (*static_cast<std::remove_reference_t<Callable>*>(object))(
                  std::forward<Args>(args)...);
          }) {}

    Result operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

private:
    void* object_;
    Result (*call_)(void*, Args...);
};

}  // namespace eddy
