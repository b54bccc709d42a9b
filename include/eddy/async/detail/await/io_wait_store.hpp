// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/await/io_wait_core.hpp>
#include <eddy/base/config.hpp>

#include <exception>
#include <memory>
#include <new>
#include <type_traits>

namespace eddy::detail {

EDDY_EX_BEGIN

/// What an io_wait has once it has begun, by its state.
template <class T>
struct io_wait_store {
    struct nothing {};
    using stored = std::conditional_t<std::is_void_v<T>, nothing, T>;

    io_wait_store() noexcept {}
    io_wait_store(const io_wait_store&) = delete;
    io_wait_store& operator=(const io_wait_store&) = delete;
    ~io_wait_store() {}

    void* room = nullptr;  ///< of the operation: starting, suspended, and all that is general
    union {
        void* waiting;             ///< starting, suspended: the coroutine
        stored value;              ///< done
        std::exception_ptr error;  ///< failed
    };
};

/// Where that is: in the place of what the sender asks for, which is used up when the wait begins.
/// g++ 12 gives each co_await of a frame a place of its own, for the sender and for its awaiter.
template <class Store, class Call>
class io_wait_place {
public:
    static constexpr bool uses_up = true;
    static Store& begin(Call& used_up) noexcept { return *std::construct_at(in(used_up)); }
    static Store& of(Call& used_up) noexcept { return *std::launder(in(used_up)); }

private:
    static Store* in(Call& used_up) noexcept {
        static_assert(std::is_trivially_destructible_v<Call>);
        return reinterpret_cast<Store*>(&used_up);
    }
};
/// Of what is larger; the state is in the last word of the call.
template <class Store, class Call>
    requires(sizeof(Store) > sizeof(Call) - sizeof(void*) || alignof(Store) > alignof(Call))
class io_wait_place<Store, Call> {
public:
    static constexpr bool uses_up = false;
    Store& begin(Call&) noexcept { return store_; }
    Store& of(Call&) noexcept { return store_; }

private:
    Store store_;
};

EDDY_EX_END

}  // namespace eddy::detail
