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

/// The data of an io_wait once it has begun. The state says which members are in use.
template <class T>
struct io_wait_store {
    struct nothing {};
    using stored = std::conditional_t<std::is_void_v<T>, nothing, T>;

    io_wait_store() noexcept {}
    io_wait_store(const io_wait_store&) = delete;
    io_wait_store& operator=(const io_wait_store&) = delete;
    ~io_wait_store() {}

    void* room = nullptr;  ///< the operation's block: starting, suspended, general
    union {
        void* waiting;             ///< starting, suspended: the coroutine
        stored value;              ///< done
        std::exception_ptr error;  ///< failed
    };
};

/// Puts the store in place of the sender's request, which is used up when the wait begins: g++ 12
/// gives the sender and the awaiter of each co_await separate places in the frame.
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
/// Puts a store that is too large beside the request. The last word of the call has the state.
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
