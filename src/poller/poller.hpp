// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call_failure.hpp"

#include <eddy/base/clock.hpp>
#include <eddy/base/error.hpp>
#include <eddy/base/function_ref.hpp>
#include <eddy/base/interest.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <system_error>

namespace eddy {

/// A report for one fd: the token of its registration, and the conditions that it meets.
struct poll_event {
    std::uint64_t token;
    interest ready;
};

/// The condition under which a registration reports.
enum class trigger : std::uint8_t {
    edge,      ///< when something new happens, and at add() and modify() if ready then
    level,     ///< whenever the fd is ready
    one_shot,  ///< once, then nothing until modify()
    /// Like `edge`, but only one of the pollers that watch the fd and are waited in reports an
    /// event. (Pollers without a waiter all report it, in their next wait.) Only for reading and
    /// writing. modify() fails with `invalid_argument`.
    exclusive,
};

struct poller_traits {
    bool edge = false;       ///< supports trigger::edge
    bool one_shot = false;   ///< supports trigger::one_shot
    bool exclusive = false;  ///< supports trigger::exclusive
    bool nests = false;      ///< has an fd that another poller can wait for
    /// add(), modify() and remove() may be called while other threads are in wait(), and take
    /// effect at once. However, a wait may still report an fd that was just removed. One of several
    /// waiting threads reports an edge. One returns for a wake(), even beside a thread whose
    /// deadline passes at that moment (which epoll did not ensure before Linux 5.11).
    bool concurrent = false;
};

/// Reports which descriptors are ready. Knows no users, no callbacks and no operations.
///
/// Contract:
/// - An fd is added once and removed before it is closed. A token belongs to one registration:
///   after remove() the token is not reported any more, even if the fd lives on as a duplicate. If
///   the fd was closed before remove(), the token is reported for as long as a duplicate lives, or
///   until renew().
/// - `error`, `hangup` (and `invalid`, where the poller has it) are reported even if not requested.
///   A registration with trigger::level and no interest is not in the set, so that it cannot spin.
/// - wait() returns when something is ready, at the deadline, after wake(), or early for no reason.
///   The next wait() reports events that do not fit into `events`.
/// - wake() is never lost: a wait() that begins later returns at once.
///
/// Thread: one at a time; wake(): any. If traits() says `concurrent`: any number in wait(), and one
/// at the same time in the other functions.
class poller {
public:
    virtual ~poller() = default;

    virtual poller_traits traits() const noexcept = 0;
    /// Adds an fd. `operation_not_permitted`: a file that is always ready and cannot be waited for.
    virtual std::error_code add(int fd, interest wanted, trigger how,
                                std::uint64_t token) noexcept = 0;
    /// Precondition: `fd` was added.
    virtual std::error_code modify(int fd, interest wanted, trigger how,
                                   std::uint64_t token) noexcept = 0;
    /// Removes an fd, even one that was closed before. Returns false then, or if it was not added.
    virtual bool remove(int fd) noexcept = 0;
    /// True if `fd` is a file that was added under this number and not removed; its registration
    /// stays unchanged. Otherwise the call may have added `fd`, and readd() still works.
    [[nodiscard]] virtual bool has(int, interest, trigger, std::uint64_t) noexcept { return false; }
    /// If `fd` is a file that was added under this number and not removed, does what remove() and
    /// add() would do. Returns false otherwise, and if the poller cannot tell; add() is then
    /// possible.
    [[nodiscard]] virtual bool readd(int, interest, trigger, std::uint64_t) noexcept {
        return false;
    }
    /// Starts again with an empty set and what `add_all` adds. After an error the old set is kept.
    /// Thread: no thread may be in wait(). The native handle changes.
    virtual std::error_code renew(function_ref<std::error_code()>) noexcept { return {}; }
    /// Waits, and returns the number of `events` or an error. `time_point::min()` only looks.
    virtual io_result wait(time_point until, std::span<poll_event> events,
                           bool& woken) noexcept = 0;
    virtual void wake() noexcept = 0;
    /// An fd that is readable when wait() would return at once. -1 if there is none.
    virtual int native_handle() const noexcept = 0;
};

std::error_code make_epoll_poller(std::unique_ptr<poller>& out) noexcept;
call_failure open_poll_poller(std::unique_ptr<poller>& out) noexcept;
/// Makes a poll poller like open_poll_poller(), but does not name the call that failed.
std::error_code make_poll_poller(std::unique_ptr<poller>& out) noexcept;

}  // namespace eddy
