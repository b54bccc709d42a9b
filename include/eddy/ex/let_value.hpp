// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/let.hpp>

namespace eddy::ex {

/// Calls a function with the values of a sender, and continues as the sender that the function
/// returns. The values are kept until the end.
struct let_value_t : detail::function_adaptor<let_value_t, detail::let_value_sender> {};
inline constexpr let_value_t let_value{};

}  // namespace eddy::ex

#endif
