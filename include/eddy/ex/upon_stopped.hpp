// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/then.hpp>

namespace eddy::ex {

/// Calls a function if a sender was stopped. The function's result becomes the value.
struct upon_stopped_t : detail::function_adaptor<upon_stopped_t, detail::then_stopped_sender> {};
inline constexpr upon_stopped_t upon_stopped{};

}  // namespace eddy::ex

#endif
