// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <system_error>

namespace eddy {

/// Eddy's own errors. All other errors are errno values in `std::system_category()`.
enum class errc {
    /// The operation's deadline passed. Differs from the kernel's ETIMEDOUT (a peer that does not
    /// answer); both compare equal to `std::errc::timed_out`.
    timed_out = 1,
    /// This build of the library does not contain the requested engine.
    engine_not_built = 2,
    /// The kernel or its administrator refuses the requested engine.
    engine_denied = 3,
    /// The stream ended before the requested data had arrived.
    end_of_stream = 4,
    /// The channel is closed. A receiver gets this error only when the channel is also empty.
    channel_closed = 5,
    /// This thread does not block the signal, so the signal's disposition would take it.
    signal_not_blocked = 10,
    /// The signal kills or stops even when blocked, or the C library reserves it.
    signal_not_waitable = 11,
    /// The signal is ignored. Ignoring it discards pending signals and, for SIGCHLD, exit statuses.
    signal_ignored = 12,
    /// Another signal_source of this process owns the signal.
    signal_has_owner = 13,
    /// The signal_source does not have the signal.
    signal_not_attached = 14,
    /// Another loop watches the process.
    process_has_owner = 20,
    /// Stops and continuations are reported only for children.
    process_not_child = 21,
    /// The disposition of SIGCHLD (SA_NOCLDSTOP or SA_NOCLDWAIT) hides what happens to children.
    children_hidden = 22,
    /// The parent made this object before it forked. The child may only destroy it.
    forked = 30,
    /// A signalfd is in a pollset. It is ready only for the thread that asks, so signals would be
    /// lost.
    signal_needs_loop = 31,
    /// The kernel, or its administrator's filter, refuses what the poll_strategy needs.
    strategy_denied = 40,
};

EDDY_API const std::error_category& error_category() noexcept;

inline std::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), error_category()};
}

/// The result of a call or an operation: a count, an fd or a set of ready bits, or an error.
class io_result {
public:
    constexpr io_result() noexcept = default;
    static constexpr io_result value(std::int64_t value) noexcept { return io_result(value); }
    static constexpr io_result system_error(int error) noexcept { return io_result(-error); }
    static constexpr io_result eddy_error(errc code) noexcept {
        return io_result(-(first_own_error + static_cast<int>(code)));
    }
    /// Converts the kernel's own form: a value, or a negative errno.
    static constexpr io_result from_kernel(std::int64_t result) noexcept {
        return io_result(result);
    }

    constexpr bool ok() const noexcept { return raw_ >= 0; }
    constexpr explicit operator bool() const noexcept { return ok(); }
    /// The number of bytes moved, or 0 after a failure.
    constexpr std::size_t count() const noexcept {
        return ok() ? static_cast<std::size_t>(raw_) : 0;
    }
    /// The fd that was accepted or opened, or -1 after a failure.
    constexpr int fd() const noexcept { return ok() ? static_cast<int>(raw_) : -1; }
    /// The errno value, or 0 after a success or one of eddy's own errors.
    constexpr int system_error() const noexcept {
        return !ok() && raw_ > -first_own_error ? static_cast<int>(-raw_) : 0;
    }
    EDDY_API std::error_code error() const noexcept;
    bool would_block() const noexcept;
    constexpr std::int64_t raw() const noexcept { return raw_; }

    friend constexpr bool operator==(io_result, io_result) noexcept = default;

private:
    /// Above 4095, the largest errno value that the kernel returns.
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
