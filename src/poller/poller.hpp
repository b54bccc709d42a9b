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

/// What the kernel reported for one fd: the token that it was added with, and what it is ready for.
struct poll_event {
    std::uint64_t token;
    interest ready;
};

/// How a registration reports.
enum class trigger : std::uint8_t {
    edge,      ///< when something new happens, and at add() and modify() if it is ready then
    level,     ///< whenever it is ready
    one_shot,  ///< once, then nothing until modify()
    /// As an edge, but of several pollers that watch the fd and are waited in, one is told (those
    /// nobody waits in all are, in their next wait). Only for reading and writing; stays as it was
    /// added: modify() is `invalid_argument`.
    exclusive,
};

struct poller_traits {
    bool edge = false;       ///< supports trigger::edge
    bool one_shot = false;   ///< supports trigger::one_shot
    bool exclusive = false;  ///< supports trigger::exclusive
    bool nests = false;      ///< has an fd that another poller can wait for
    /// add(), modify() and remove() may be called while other threads are in wait(), and count for
    /// them at once, except that one may still report what has just been removed. Of several that
    /// wait, one is told of an edge, and one returns for a wake(), also beside one whose time is up
    /// at that moment (which epoll did not see to before Linux 5.11).
    bool concurrent = false;
};

/// Tells which descriptors are ready. Knows no users, no callbacks, no operations.
///
/// Contract:
/// - An fd is added once and removed before it is closed. A token belongs to one registration:
///   after remove() it is not reported any more, not even if the fd lives on as a duplicate. Of one
///   that was closed before, it is reported for as long as a duplicate lives, or until renew().
/// - `error`, `hangup` (and `invalid`, where the poller has it) are reported unasked. A
///   registration with trigger::level and no interest is not in the set, so that it cannot spin.
/// - wait() returns when something is ready, at the deadline, after wake(), or early for no reason.
///   An event that does not fit into `events` is reported by the next wait().
/// - wake() is never lost: called before wait(), it ends that wait at once.
///
/// Thread: one at a time; wake(): any. Where the traits say `concurrent`, any number in wait() and
/// one in the rest at the same time.
class poller {
public:
    virtual ~poller() = default;

    virtual poller_traits traits() const noexcept = 0;
    /// `operation_not_permitted`: a file that is always ready and cannot be waited for.
    virtual std::error_code add(int fd, interest wanted, trigger how,
                                std::uint64_t token) noexcept = 0;
    /// Precondition: `fd` was added.
    virtual std::error_code modify(int fd, interest wanted, trigger how,
                                   std::uint64_t token) noexcept = 0;
    /// Also for an fd that was closed meanwhile: false then, or if it was not added.
    virtual bool remove(int fd) noexcept = 0;
    /// Whether `fd` is a file that was added under this number and not removed; all stays as it is
    /// then. If not, it may be added now, and readd() will do.
    [[nodiscard]] virtual bool has(int, interest, trigger, std::uint64_t) noexcept { return false; }
    /// If `fd` is a file that was added under this number and not removed: as remove() and add().
    /// Else false, also where the poller cannot tell; then it can be added.
    [[nodiscard]] virtual bool readd(int, interest, trigger, std::uint64_t) noexcept {
        return false;
    }
    /// Begins anew, with what `add_all` adds. On error all is as it was.
    /// Thread: none may be in wait(). The native handle is another one.
    virtual std::error_code renew(function_ref<std::error_code()>) noexcept { return {}; }
    /// How many `events` there are now, or an error. `time_point::min()`: do not wait, only look.
    virtual io_result wait(time_point until, std::span<poll_event> events,
                           bool& woken) noexcept = 0;
    virtual void wake() noexcept = 0;
    /// An fd that is readable when wait() would return at once. -1: there is none.
    virtual int native_handle() const noexcept = 0;
};

std::error_code make_epoll_poller(std::unique_ptr<poller>& out) noexcept;
call_failure open_poll_poller(std::unique_ptr<poller>& out) noexcept;
/// The same without the name of the call.
std::error_code make_poll_poller(std::unique_ptr<poller>& out) noexcept;

}  // namespace eddy
