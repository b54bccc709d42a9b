// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/let.hpp>

namespace eddy::ex {

/// Calls a function if a sender was stopped, and continues as the sender that the function returns.
struct let_stopped_t : detail::function_adaptor<let_stopped_t, detail::let_stopped_sender> {};
inline constexpr let_stopped_t let_stopped{};

}  // namespace eddy::ex

#endif
