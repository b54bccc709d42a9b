// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/then.hpp>

namespace eddy::ex {

/// Calls a function with the values of a sender. The function's result becomes the value.
struct then_t : detail::function_adaptor<then_t, detail::then_value_sender> {};
inline constexpr then_t then{};

}  // namespace eddy::ex

#endif
