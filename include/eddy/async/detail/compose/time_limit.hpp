// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>
#include <eddy/base/config.hpp>
#include <eddy/loop/entry.hpp>
#include <eddy/loop/timer.hpp>

#include <atomic>
#include <cstdint>
#include <optional>

namespace eddy::detail {

/// A time limit that any thread may take back.
///
///     armed --it is due--> over: on_over(due)
///     armed --its loop is drained--> over: on_over(ended)
///     armed --claim() on its loop--> over: claimed::here
///     armed --claim() elsewhere--> over: claimed::elsewhere; bring_back() leads to
///                                  on_over(taken_back) on the loop
///
/// Once the timer is armed, only its loop's thread touches it. The limit may be destroyed on that
/// thread while it is armed or being brought back.
class time_limit {
public:
    enum class ending : std::uint8_t { due, ended, taken_back };
    enum class claimed : std::uint8_t { nothing, here, elsewhere };
    using callback = void (*)(time_limit&, ending) noexcept;

    explicit time_limit(callback on_over) noexcept
        : on_over_(on_over), entry_(&on_brought_back, &on_brought_back) {}
    time_limit(time_limit&&) = delete;
    EDDY_API ~time_limit();

    /// Makes the timer. Returns false if there is no memory for it.
    [[nodiscard]] EDDY_API bool make_timer(loop& home) noexcept;
    EDDY_API void arm(time_point when) noexcept;

    /// Ends the limit before its time. Returns claimed::nothing if on_over was or will be called
    /// anyway.
    [[nodiscard]] EDDY_API claimed claim() noexcept;
    /// Disarms the timer on its loop, after claimed::elsewhere. Afterwards this object may be gone.
    EDDY_API void bring_back() noexcept;

private:
    struct owned_timer : timer {
        owned_timer(loop& home, time_limit* limit);
        time_limit* owner;
    };

    EDDY_API static void on_brought_back(entry& e) noexcept;
    static void on_due(timer& t) noexcept;
    static void on_cancel(timer& t) noexcept;
    void pass(ending how) noexcept;
    bool become_over() noexcept;

    callback on_over_;
    std::atomic<bool> over_ = true;
    entry entry_;
    std::optional<owned_timer> timer_;
};

}  // namespace eddy::detail
