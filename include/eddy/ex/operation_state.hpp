// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <concepts>
#include <type_traits>

namespace eddy::ex {

struct operation_state_tag {};

/// Starts an operation. Lifetime: the operation must not move until its receiver was completed.
struct start_t {
    template <class Operation>
        requires(!std::is_const_v<Operation> &&
                 requires(Operation& operation) { operation.start(); })
    constexpr void operator()(Operation& operation) const noexcept {
        static_assert(noexcept(operation.start()), "start: the member must be noexcept");
        static_assert(std::is_void_v<decltype(operation.start())>,
                      "start: the member must return void");
        operation.start();
    }
};
inline constexpr start_t start{};

template <class Operation>
concept operation_state =
    std::derived_from<typename Operation::operation_state_concept, operation_state_tag> &&
    std::is_object_v<Operation> && std::destructible<Operation> &&
    requires(Operation& operation) { start(operation); };

}  // namespace eddy::ex

#endif
