// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>

#include <chrono>
#include <cstdint>
#include <system_error>

namespace eddy {

/// Decides what to do when a wait for the kernel fails. An error that may pass is worth more tries,
/// with growing pauses between them.
class wait_retry {
public:
    static constexpr duration first_pause = std::chrono::milliseconds(1);
    static constexpr duration longest_pause = std::chrono::seconds(1);

    enum class verdict : std::uint8_t {
        first,    ///< pause and try again: a series of failures begins
        again,    ///< pause and try again
        give_up,  ///< the error stays, or the series has lasted for longer than the limit
    };

    /// True if the kernel lacks memory, room or descriptors for a moment, or was interrupted.
    static bool may_pass(std::error_code error) noexcept {
        using enum std::errc;
        return error == not_enough_memory || error == resource_unavailable_try_again ||
               error == device_or_resource_busy || error == interrupted ||
               error == too_many_files_open || error == too_many_files_open_in_system;
    }

    /// Takes note of a failure. A series lasts from its first failure to its last. Between two of
    /// them at most twice the pause counts: if more time passes, the caller was busy or could wait.
    verdict failed(std::error_code error, time_point now, duration limit) noexcept {
        const bool first = !failing_;
        if (first) {
            failing_ = true;
            lasted_ = duration::zero();
            pause_ = first_pause;
        } else {
            lasted_ += now - last_ < 2 * pause_ ? now - last_ : 2 * pause_;
            pause_ = 2 * pause_ < longest_pause ? 2 * pause_ : longest_pause;
        }
        last_ = now;
        if (!may_pass(error) || lasted_ >= limit) {
            failing_ = false;
            return verdict::give_up;
        }
        return first ? verdict::first : verdict::again;
    }
    /// Takes note of a wait that worked: the next failure begins a new series.
    void worked() noexcept { failing_ = false; }

    bool failing() const noexcept { return failing_; }
    duration pause() const noexcept { return pause_; }

private:
    bool failing_ = false;
    time_point last_{};
    duration lasted_ = duration::zero();
    duration pause_ = first_pause;
};

}  // namespace eddy
