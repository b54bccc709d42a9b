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

/// Calls back when a descriptor is ready. Level, edge and one-shot delivery on every engine, chosen
/// by what the callback returns: see reaction.
///
///     reaction on_ready(fd_watch& w) noexcept;  // w.ready() says for what
///     fd_watch w(loop, fd, interest::readable, &on_ready);
///
/// Arming one whose descriptor is ready fires it, also if nothing happens to the descriptor any
/// more. The ready set holds error and hang-up unasked. It may be wrong if others read or write
/// meanwhile: use calls that do not block (a watch with an fd of its own sets O_NONBLOCK, except
/// where descriptor says that it is never set; what was non-blocking when it was watched before in
/// the same turn is looked at again when the watch is called first). Regular files are always ready
/// to read and write.
///
/// If the descriptor is closed by others, it is told of `invalid` once, on poll at once, on epoll
/// and io_uring when it is armed next; it is disarmed for good then. So it is if the kernel cannot
/// watch the descriptor, for lack of memory for example.
///
/// One watch a direction: everything but `writable` belongs to reading. A watch that has the fd to
/// itself has both. I/O operations on a descriptor that is watched go their own way: both are told
/// when it becomes ready, in the order of their priorities, and who comes second may find nothing.
/// On io_uring the kernel performs operations by itself: they may have taken all, whatever their
/// priority, before the watch is called.
///
/// Thread: the loop's, except what watch and this class mark "any".
/// In a bandwidth_group, the callback tells moved() how many bytes it has moved, and should return
/// reaction::again after a bounded amount.
class EDDY_API fd_watch : public watch, public bandwidth_member {
public:
    using callback = reaction (*)(fd_watch&) noexcept;
    using removed_callback = void (*)(fd_watch&) noexcept;

    /// Owns the fd: it is closed right before on_removed, never earlier. Throws std::system_error:
    /// `bad_file_descriptor`, `file_exists` if it is attached to this loop already (also by another
    /// watch), what the kernel says; the fd is closed then.
    fd_watch(loop& home, unique_fd fd, interest wanted, callback on_ready,
             removed_callback on_removed = nullptr, const watch_options& options = {});
    /// Borrows the fd: it is given back right before on_removed, in the blocking mode in which it
    /// came (see descriptor). It must stay open until then.
    fd_watch(loop& home, int fd, interest wanted, callback on_ready,
             removed_callback on_removed = nullptr, const watch_options& options = {});
    /// Watches a descriptor that others use too. Throws std::system_error: `bad_file_descriptor` if
    /// it is empty, `file_exists` if a direction of `wanted` has a watch. The interest must stay
    /// within these directions. The descriptor may be closed before.
    fd_watch(const descriptor& watched, interest wanted, callback on_ready,
             removed_callback on_removed = nullptr, const watch_options& options = {});
    ~fd_watch() override;

    /// Thread: any. Inside the callback, `again` is what looks for the new interest at once.
    void set_interest(interest wanted) noexcept { change(static_cast<std::uint32_t>(wanted)); }

    interest wanted() const noexcept { return wanted_; }
    /// What it is ready for. Inside the callback.
    interest ready() const noexcept { return ready_; }
    /// -1: it was closed by others, or the watch was removed.
    int native_handle() const noexcept;

private:
    /// What it does with its fd in the end.
    enum class holding : std::uint8_t {
        nothing,   ///< it has done that
        anothers,  ///< leaves it to the descriptor that it is watched by
        borrowed,  ///< gives it back
        owned,     ///< closes it
    };
    /// Has an fd to itself, which is to come.
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

    /// Started again and again, with the request that it was made with.
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
    bool stale_ = false;     ///< what `wait_` brings is not what is wanted any more
    bool repeated_ = false;  ///< the event comes from a requeue, not from the engine
    bool broken_ = false;    ///< others have closed the descriptor, and it was told
    holding fd_;

    friend class watch;
};

}  // namespace eddy
