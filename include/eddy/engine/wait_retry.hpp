#pragma once

#include <eddy/base/clock.hpp>

#include <chrono>
#include <cstdint>
#include <system_error>

namespace eddy {

/// Decides how to go on when a wait for the kernel fails: an error that may pass is worth more
/// tries, with longer and longer pauses between them.
class wait_retry {
public:
    static constexpr duration first_pause = std::chrono::milliseconds(1);
    static constexpr duration longest_pause = std::chrono::seconds(1);

    enum class verdict : std::uint8_t {
        first,    ///< pause, and try again; the failure before this was another trouble's
        again,    ///< pause, and try again
        give_up,  ///< the error stays, or has lasted for longer than the limit
    };

    /// The kernel lacks memory or room for a moment, or was interrupted.
    static bool may_pass(std::error_code error) noexcept {
        using enum std::errc;
        return error == not_enough_memory || error == resource_unavailable_try_again ||
               error == device_or_resource_busy || error == interrupted;
    }

    verdict failed(std::error_code error, time_point now, duration limit) noexcept {
        const bool first = !failing_;
        if (first) {
            failing_ = true;
            since_ = now;
            pause_ = first_pause;
        } else {
            pause_ = 2 * pause_ < longest_pause ? 2 * pause_ : longest_pause;
        }
        if (!may_pass(error) || now - since_ >= limit) {
            failing_ = false;
            return verdict::give_up;
        }
        return first ? verdict::first : verdict::again;
    }
    /// A wait has worked: the next failure is a trouble of its own.
    void worked() noexcept { failing_ = false; }

    duration pause() const noexcept { return pause_; }

private:
    bool failing_ = false;
    time_point since_{};
    duration pause_ = first_pause;
};

}  // namespace eddy
