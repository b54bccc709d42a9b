// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace eddy::detail {

/// Looks whether it `is_over`, for about as long as it takes to fall asleep and to be woken, so
/// that a short wait costs neither. Returns true if it was over.
template <class Condition>
bool wait_a_moment(unsigned looks, Condition&& is_over) noexcept {
    for (; looks != 0; --looks) {
        if (is_over()) {
            return true;
        }
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("isb" ::: "memory");
#endif
    }
    return false;
}

}  // namespace eddy::detail
