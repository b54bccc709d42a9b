// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>

#include <cstddef>
#include <cstdint>

namespace eddy::detail {

#ifndef __clang__

[[gnu::error(
    "this coroutine awaits in a condition without naming the result, which this compiler "
    "lays out wrongly: write `const auto result = co_await ...`")]] void
frame_is_laid_out_wrongly();

/// g++ 12 puts a temporary of `while (co_await ... != 0)` in front of the frame if the function has
/// no local variables. Such a frame cannot be resumed, so it does not compile; without optimisation
/// the compiler does not see it, and the first call ends the program. Frames begin where operator
/// new says (but clang may spare it that).
[[gnu::always_inline]] inline void check_frame(const void* frame) noexcept {
    const auto ahead = reinterpret_cast<std::uintptr_t>(frame) % alignof(std::max_align_t);
    if (__builtin_constant_p(ahead) && ahead != 0) {
        frame_is_laid_out_wrongly();
    }
    EDDY_ASSERT(ahead == 0,
                "the compiler has laid out this coroutine wrongly; if it awaits in a condition, as "
                "`while (co_await ...)`, without local variables, give the result a name");
}

#else

inline void check_frame(const void*) noexcept {}

#endif

}  // namespace eddy::detail
