// SPDX-License-Identifier: Apache-2.0

// Decides whether closures run fast enough to be brisk.
#include <eddy/pollset/detail/pace.hpp>

#ifndef __has_feature
#define __has_feature(name) 0
#endif

namespace eddy::detail {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr auto brisk_each = std::chrono::microseconds(50);  // sanitizers are slow
#else
constexpr auto brisk_each = std::chrono::microseconds(2);
#endif

}  // namespace

bool pace::is_brisk(time_point now) noexcept {
    if (const duration passed = now - since_; passed >= window) {
        brisk_ = passed <= ran_ * brisk_each;
        since_ = now;
        ran_ = 0;
    }
    return brisk_;
}

}  // namespace eddy::detail
