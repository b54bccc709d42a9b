// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/let.hpp>

namespace eddy::ex {

/// Calls a function with the error of a sender, and continues as the sender that the function
/// returns. The error is kept until the end.
struct let_error_t : detail::function_adaptor<let_error_t, detail::let_error_sender> {};
inline constexpr let_error_t let_error{};

}  // namespace eddy::ex

#endif
