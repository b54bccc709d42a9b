// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <system_error>

namespace eddy {

/// Errors that are eddy's own. All others are errno values in `std::system_category()`.
enum class errc {
    /// The deadline of the operation passed. Differs from the kernel's ETIMEDOUT (a peer that does
    /// not answer); both compare equal to `std::errc::timed_out`.
    timed_out = 1,
    /// The engine that was asked for is not in this build of the library.
    engine_not_built = 2,
    /// The kernel or its administrator refuses the engine that was asked for.
    engine_denied = 3,
    /// The stream has ended before what was asked for had come.
    end_of_stream = 4,
    /// The channel is closed, and for a receiver also empty.
    channel_closed = 5,
    /// The signal is not blocked in this thread: its disposition would take it.
    signal_not_blocked = 10,
    /// A signal that kills or stops even when it is blocked, or that the C library keeps.
    signal_not_waitable = 11,
    /// The signal is ignored: ignoring throws away what is pending, and for SIGCHLD also statuses.
    signal_ignored = 12,
    /// Another signal_source of this process has the signal.
    signal_has_owner = 13,
    /// The signal_source does not have the signal.
    signal_not_attached = 14,
    /// Another loop watches the process.
    process_has_owner = 20,
    /// Stops and continuations are told only of children.
    process_not_child = 21,
    /// The disposition of SIGCHLD hides what happens to children: SA_NOCLDSTOP or SA_NOCLDWAIT.
    children_hidden = 22,
    /// Made before a fork, by the parent: a child may only destroy it.
    forked = 30,
    /// A signalfd in a pollset: it is ready for the thread that asks, so any other loses signals.
    signal_needs_loop = 31,
    /// The kernel, or a filter of its administrator's, refuses what the poll_strategy needs.
    strategy_denied = 40,
};

EDDY_API const std::error_category& error_category() noexcept;

inline std::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), error_category()};
}

/// How a call or an operation ended: a count, an fd or a set of ready bits, or an error.
class io_result {
public:
    constexpr io_result() noexcept = default;
    static constexpr io_result value(std::int64_t value) noexcept { return io_result(value); }
    static constexpr io_result system_error(int error) noexcept { return io_result(-error); }
    static constexpr io_result eddy_error(errc code) noexcept {
        return io_result(-(first_own_error + static_cast<int>(code)));
    }
    /// From the form that the kernel uses inside: a value, or a negative errno.
    static constexpr io_result from_kernel(std::int64_t result) noexcept {
        return io_result(result);
    }

    constexpr bool ok() const noexcept { return raw_ >= 0; }
    constexpr explicit operator bool() const noexcept { return ok(); }
    /// Bytes moved. 0 if it failed.
    constexpr std::size_t count() const noexcept {
        return ok() ? static_cast<std::size_t>(raw_) : 0;
    }
    /// The fd that was accepted or opened. -1 if it failed.
    constexpr int fd() const noexcept { return ok() ? static_cast<int>(raw_) : -1; }
    /// The errno value, or 0 if it succeeded or failed with an error of eddy's own.
    constexpr int system_error() const noexcept {
        return !ok() && raw_ > -first_own_error ? static_cast<int>(-raw_) : 0;
    }
    EDDY_API std::error_code error() const noexcept;
    bool would_block() const noexcept;
    constexpr std::int64_t raw() const noexcept { return raw_; }

    friend constexpr bool operator==(io_result, io_result) noexcept = default;

private:
    /// The kernel's own errors end at 4095.
    static constexpr int first_own_error = 4096;
    constexpr explicit io_result(std::int64_t raw) noexcept : raw_(raw) {}

    std::int64_t raw_ = 0;
};

inline bool io_result::would_block() const noexcept {
    return system_error() == static_cast<int>(std::errc::operation_would_block);
}

}  // namespace eddy

template <>
struct std::is_error_code_enum<eddy::errc> : std::true_type {};
