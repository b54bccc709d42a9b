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

/// Rejects a frame that g++ 12 has laid out wrongly: in a function without local variables, it puts
/// a temporary of `while (co_await ... != 0)` in front of the frame, which then cannot be resumed.
/// With optimisation, such a frame does not compile; without, the first call ends the program. A
/// correct frame begins where operator new says, but clang may elide that call, and is not checked.
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
