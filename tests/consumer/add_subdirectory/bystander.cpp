// SPDX-License-Identifier: Apache-2.0
// A part of the parent project that knows nothing of eddy.

#if __cplusplus != 201703L
#error "the parent's C++17 is gone"
#endif
#if !defined(PARENT) || !defined(PARENT_TOO)
#error "the parent's definitions are gone"
#endif
#if defined(EDDY_STATIC) || defined(EDDY_BUILDING) || defined(EDDY_FAULTS)
#error "a definition of eddy leaked"
#endif
#if __has_include(<eddy/base/version.hpp>)
#error "the include path of eddy leaked"
#endif

int main() {
    const int shadowed = 1;
    {
        const int shadowed = (int)2.5;  // -Wshadow -Werror would end here
        return shadowed - 2;
    }
}
