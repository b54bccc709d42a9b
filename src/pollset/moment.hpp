#pragma once

namespace eddy::detail {

/// Looks whether it `is_over`, about as long as it would take to fall asleep and to be woken: what
/// is over by then costs neither. A hint only: who was waited for may have been faster or slower.
template <class Condition>
void wait_a_moment(unsigned looks, Condition&& is_over) noexcept {
    for (; looks != 0 && !is_over(); --looks) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("isb" ::: "memory");
#endif
    }
}

}  // namespace eddy::detail
