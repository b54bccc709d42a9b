// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/then.hpp>

namespace eddy::ex {

/// Calls a function with the error of a sender. The function's result becomes the value.
struct upon_error_t : detail::function_adaptor<upon_error_t, detail::then_error_sender> {};
inline constexpr upon_error_t upon_error{};

}  // namespace eddy::ex

#endif
