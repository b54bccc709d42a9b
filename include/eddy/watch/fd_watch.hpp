// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/interest.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/detail/bandwidth_member.hpp>
#include <eddy/loop/requests.hpp>
#include <eddy/watch/watch.hpp>

#include <cstddef>
#include <cstdint>

namespace eddy {

namespace detail {
class attached_fd;
}

/// Calls back when a descriptor is ready. Level, edge and one-shot delivery work on every engine:
/// the callback chooses by the reaction that it returns.
///
///     reaction on_ready(fd_watch& w) noexcept;  // w.ready() says for what
///     fd_watch w(loop, fd, interest::readable, &on_ready);
///
/// Arming a watch whose descriptor is ready fires it, even if nothing further happens to the
/// descriptor. The ready set includes error and hang-up without being asked. It may be out of date
/// if others read or write, so use calls that do not block. A watch with an fd of its own sets
/// O_NONBLOCK, except where descriptor says that it is never set. If the fd was non-blocking when
/// another watch gave it back in the same turn, the mode is checked again only before the first
/// callback. Regular files are always ready to read and write.
///
/// If others close the descriptor, the watch reports `invalid` once, and is disarmed for good. poll
/// notices at once, epoll and io_uring when the watch is armed next. A descriptor that the kernel
/// cannot watch, for lack of memory for example, is reported in this way too.
///
/// Each direction of a descriptor can have one watch; everything but `writable` belongs to reading.
/// A watch with an fd of its own has both directions. I/O operations on a watched descriptor are
/// independent: when it becomes ready, the watch and the operations are notified in the order of
/// their priorities, and the second may find nothing. On io_uring the kernel performs the
/// operations: whatever their priority, they may take all before the watch is called.
///
/// Thread: the loop's, except what watch and this class mark "any".
/// In a bandwidth_group, the callback passes the number of bytes that it has moved to moved(), and
/// should return reaction::again after a bounded amount.
class EDDY_API fd_watch : public watch, public bandwidth_member {
public:
    using callback = reaction (*)(fd_watch&) noexcept;
    using removed_callback = void (*)(fd_watch&) noexcept;

    /// Owns the fd, which is closed right before on_removed, never earlier. Throws
    /// std::system_error: `bad_file_descriptor`, `file_exists` if the fd is attached to this loop
    /// already (also by another watch), or the kernel's error; the fd is closed then.
    fd_watch(loop& home, unique_fd fd, interest wanted, callback on_ready,
             removed_callback on_removed = nullptr, const watch_options& options = {});
    /// Borrows the fd, which must stay open until it is given back right before on_removed, in the
    /// blocking mode in which it came (see descriptor).
    fd_watch(loop& home, int fd, interest wanted, callback on_ready,
             removed_callback on_removed = nullptr, const watch_options& options = {});
    /// Watches a descriptor that others use too. Throws std::system_error: `bad_file_descriptor` if
    /// it is empty, `file_exists` if a direction of `wanted` has a watch. Later interests must stay
    /// within these directions. The descriptor may be closed before the watch ends.
    fd_watch(const descriptor& watched, interest wanted, callback on_ready,
             removed_callback on_removed = nullptr, const watch_options& options = {});
    ~fd_watch() override;

    /// Changes the interest. Thread: any. Inside the callback, return reaction::again to look for
    /// the new interest at once.
    void set_interest(interest wanted) noexcept { change(static_cast<std::uint32_t>(wanted)); }

    interest wanted() const noexcept { return wanted_; }
    /// The events that the descriptor is ready for. Valid inside the callback.
    interest ready() const noexcept { return ready_; }
    /// The fd, or -1 if others have closed it or the watch was removed.
    int native_handle() const noexcept;

private:
    /// Says how the watch holds its fd, and so what it does with it in the end.
    enum class holding : std::uint8_t {
        nothing,   ///< holds none, or none any more
        anothers,  ///< leaves it to the descriptor that it watches
        borrowed,  ///< gives it back
        owned,     ///< closes it
    };
    /// Initializes everything but the fd, which the public constructors supply.
    fd_watch(loop& home, holding how, interest wanted, callback on_ready,
             removed_callback on_removed, const watch_options& options) noexcept;
    [[gnu::noinline]] void borrow(int fd, const watch_options& options);
    void hold(detail::attached_fd own, holding how, const watch_options& options) noexcept;
    fd_slot& slot() const noexcept { return *wait_.request().slot; }
    void claim();
    void begin(const watch_options& options, bool edge) noexcept;

    reaction call() noexcept final;
    void start(arming how) noexcept final;
    [[gnu::noinline]] void start_anew(arming how) noexcept;
    void stop() noexcept final;
    bool quiet() const noexcept final { return !wait_.pending(); }
    void reprioritise(priority_level priority) noexcept final;
    void changed(std::uint32_t value) noexcept final;
    void removed() noexcept final;
    void on_join(loop& home, priority_level priority) noexcept final;
    void on_turn() noexcept final;
    void on_leave() noexcept final;
    void on_event(io_result result) noexcept;
    EDDY_COLD bool is_event(io_result result) noexcept;
    bool attached() const noexcept;
    void let_go() noexcept;

    /// A readiness wait that is started again and again with one request.
    class repeated_wait : public io_operation {
    public:
        explicit repeated_wait(priority_level priority) noexcept;
        using io_operation::aim_at;
    };

    repeated_wait wait_;
    callback on_ready_ = nullptr;
    removed_callback on_removed_ = nullptr;
    interest directions_;
    interest wanted_ = interest::none;
    interest ready_ = interest::none;
    bool stale_ = false;     ///< the next completion of `wait_` is out of date
    bool repeated_ = false;  ///< the event comes from a requeue, not from the engine
    bool broken_ = false;    ///< `invalid` was reported: the fd is closed or cannot be watched
    holding fd_;

    friend class watch;
};

}  // namespace eddy
