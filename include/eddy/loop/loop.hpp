// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>
#include <eddy/base/config.hpp>
#include <eddy/base/detail/member.hpp>
#include <eddy/base/function_ref.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/engine/detail/wait_retry.hpp>
#include <eddy/engine/engine_kind.hpp>
#include <eddy/engine/io_operation.hpp>
#include <eddy/intrusive/ageing.hpp>
#include <eddy/intrusive/inbox.hpp>
#include <eddy/intrusive/ready_queue.hpp>
#include <eddy/intrusive/timer_heap.hpp>
#include <eddy/loop/counters.hpp>
#include <eddy/loop/detail/loop_notice.hpp>
#include <eddy/loop/detail/spin_gauge.hpp>
#include <eddy/loop/detail/timer_room.hpp>
#include <eddy/loop/entry.hpp>
#include <eddy/loop/lease.hpp>
#include <eddy/loop/local_timer.hpp>
#include <eddy/loop/scheduler.hpp>
#include <eddy/loop/timer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

namespace eddy {

class buffer_pool;
class embedding;
class engine;
class loop;
class own_io;
class readiness_engine;
class stoppable_io;
class system_timers;
class watch;
struct fd_slot;
struct descriptor_options;
enum class progress : std::uint8_t;

namespace detail {
/// The loop that this thread runs; loop::current() returns it.
EDDY_API [[gnu::tls_model("initial-exec")]] extern constinit thread_local loop* current_loop;
}  // namespace detail

struct loop_options {
    /// Which engine performs the loop's I/O.
    engine_kind engine = engine_kind::automatic;
    /// Names the loop in reports and error messages. Lifetime: must outlive the loop.
    const char* name = "loop";
    /// Upper bound on the completions between two looks at the kernel. From 64 on, run() postpones
    /// a look that would follow the previous one within 10 us: an event of a more urgent priority
    /// may wait that much longer.
    std::size_t batch_max = 256;
    /// How deeply completions that start() calls may nest. 0: start() never calls a completion.
    unsigned inline_max = 16;
    /// The thread's timer slack while it runs the loop. Negative: unchanged.
    duration timer_slack = duration(-1);
    /// Executor for calls that block (files, on epoll and poll). Null: the loop's thread makes
    /// them. Lifetime: must outlive the loop.
    scheduler* blocking = nullptr;
    /// Upper bound, in dispatches (minimum 64), on how long the head of any priority queue waits,
    /// however busy higher priorities are. An entry behind n others waits at most n + 1 times that.
    /// A watch that another thread arms joins its queue when the loop takes that command, behind
    /// whatever is ready with priority 0. 0: no bound.
    std::size_t starvation_limit = 0;
    /// Size in bytes of each buffer that the loop lends to a receive().
    std::size_t lease_size = 4096;
    /// How many buffers are made at a time, at the first use and whenever none is left.
    std::size_t lease_count = 64;
    /// How many buffers there are at most (up to 32768). When all are out, receives wait for one.
    std::size_t lease_max = 4096;
    /// How long a turn with nothing to do looks again and again before it blocks; 0: not at all.
    /// Whatever comes during a spin needs no wake-up, but the core is busy. When fewer than half of
    /// the spins find something, or find only what came while another thread had the core, the loop
    /// spins before just one wait in 64. poll() never spins, nor does a loop whose native_handle()
    /// was called. The counters tell how often spinning paid.
    duration spin = duration::zero();
    /// How long the loop retries while the kernel refuses to wait with an error that may pass
    /// (ENOMEM, EAGAIN, EBUSY; EMFILE and ENFILE for a ring). The pauses grow from 1 ms to 1 s;
    /// timers, posts and ready work run in the meantime. The first failure is reported
    /// (set_report_handler), and so is the recovery. Between two failures, at most twice the pause
    /// counts. An interruption by a signal is not a failure. 0: run() throws at once.
    duration wait_retry = std::chrono::seconds(30);
};

/// When loop::run() returns.
enum class run_mode : std::uint8_t {
    /// After stop(). Ready and pending work stays for the next run.
    stopped,
    /// After stop(), once everything has completed, background work included. The stop cancels
    /// whatever would never end by itself: accepts, reads and readiness waits without a deadline,
    /// and timers. From then on such work is cancelled when it is started or set, and an entry when
    /// it is posted. Writes, connects, files, and operations with a deadline are waited for.
    drained,
    /// After stop(), or once nothing is pending.
    empty,
};

/// Limits of a run. A run that reaches one returns in every mode, even while draining.
struct run_limits {
    /// The time at which the run returns.
    time_point until = never;
    /// Upper bound on the completions that are handled. 0: none is.
    std::size_t completions = SIZE_MAX;
};

/// One thread's event loop: performs I/O, timers and posted work, and calls their completions.
///
/// A turn queues the timers that are due, asks the kernel (see `batch_max`) and waits if nothing
/// can run, takes what other threads have posted, and runs what is ready: lowest priority number
/// first, at most `batch_max` completions.
///
/// Thread: one thread at a time runs the loop. While it runs, every member that is not marked "any"
/// belongs to that thread; while it does not run, to one thread at a time. With io_uring, a loop
/// with pending operations can be run and destroyed only by the thread that ran it before.
///
/// Lifetime: the loop must outlive its descriptors and every call of another thread. Its destructor
/// ends pending operations, armed timers and posted entries.
class EDDY_API loop final : public scheduler {
public:
    /// Throws std::bad_alloc, and std::system_error if the engine cannot be made:
    /// errc::engine_denied, errc::engine_not_built, `invalid_argument` for an unknown name in
    /// EDDY_ENGINE, or the error of the call that failed. An io_uring is tried first, from its
    /// creation to a completion; `best` uses epoll if that fails. Thread: any.
    explicit loop(loop_options options = {});
    /// Cancels everything and runs until it has completed. An operation that has not ended after
    /// ten seconds, or belongs to another thread, is an assertion that names it. A kernel that
    /// refuses to wait is reported, and the operations that it holds end without it.
    /// Precondition: not called inside a callback of this loop.
    ~loop();
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;

    // Running the loop.

    /// Runs the loop until `mode` or `limits` end the run. Returns how many completions it called.
    ///
    /// A stop() makes it return early, and is used up by that: the next run goes on. Throws
    /// std::system_error if the kernel refuses to wait (see loop_options::wait_retry): by then
    /// everything pending was cancelled and has completed, as at the end of the loop, and the
    /// message names the call. The loop may be run again. `operation_not_permitted`: pending
    /// operations belong to another thread. Precondition: not called inside a callback of this
    /// loop. Thread: one at a time.
    std::size_t run(run_mode mode = run_mode::stopped, run_limits limits = {});
    /// Runs until stop(), or until the time `until`. See run().
    std::size_t run_until(time_point until) { return run(run_mode::stopped, {.until = until}); }
    /// Runs until stop(), or for `time`. See run().
    std::size_t run_for(duration time) { return run_until(saturating_add(clock::now(), time)); }
    /// Waits for one completion and handles only that. Returns 0 if the loop was stopped or nothing
    /// is pending. Throws as run() does.
    std::size_t run_one();
    /// Handles what is ready. If nothing is ready, waits once, unless nothing is pending. Returns
    /// how many completions it called. Throws as run() does.
    std::size_t run_some();
    /// Handles what is ready, at most `batch_max` completions, and returns how many it called.
    /// Never waits, with one exception: while the kernel cannot be asked and native_handle() is in
    /// use, each call pauses for 1 ms, since the handle is always readable. Throws as run() does.
    std::size_t poll();

    // Inside another event loop; see also embedding and loop_watch.

    /// Returns an fd for the event loop of a host: readable whenever poll() has something to do,
    /// except timers, which are due at next_deadline(). For hosts with timers of their own; an
    /// embedding needs none.
    ///
    ///     ::poll(&{loop.native_handle(), POLLIN}, 1, milliseconds_until(loop.next_deadline()));
    ///     loop.poll();
    ///
    /// The fd and the deadline are correct whenever the loop does not run, whatever any thread has
    /// started, posted or set in the meantime. Watch the fd level-triggered, and do nothing else
    /// with it; it may be readable for no reason. The fd stays open and stays the same until the
    /// loop ends. In the child after fork(), call this function again.
    ///
    /// The first call makes what the fd needs, so that other loops pay nothing. Throws
    /// std::system_error: `not_supported` on poll, which has no such fd; on io_uring,
    /// `device_or_resource_busy` if the loop was run before and has operations pending, or
    /// `operation_not_permitted` if these belong to another thread; or the kernel's error.
    /// Thread: the loop's.
    int native_handle();

    // With senders; include <eddy/io/run.hpp>.

    /// Returns a loop_scheduler. Thread: any. Lifetime: the loop must outlive it.
    template <class Loop = loop>
    auto get_scheduler() noexcept {
        return scheduler_of(static_cast<Loop&>(*this));
    }
    /// Starts `sender` on this loop, and runs the loop until the sender completes. Returns its
    /// values as a std::optional of a std::tuple, which is empty if the sender was stopped. Throws
    /// its error: the exception in an exception_ptr, std::system_error for an error_code, any other
    /// error as it is. A stop() of the loop stops the sender. If the kernel refuses to wait, the
    /// sender is stopped, and the std::system_error of run(mode) is thrown when it has completed.
    template <class Sender, class Loop = loop>
    auto run(Sender&& sender) {
        return run_until_done(static_cast<Loop&>(*this), static_cast<Sender&&>(sender));
    }
    /// Returns a sender that runs the loop on the thread that starts it, as run(mode) does. Its
    /// value is how many completions were called; its error, the std::error_code that run(mode)
    /// threw. A stop request stops the loop, and the sender then completes with its value.
    template <class Loop = loop>
    auto run_sender(run_mode mode = run_mode::stopped) noexcept {
        return make_run_sender(static_cast<Loop&>(*this), mode);
    }

    // With callbacks; include <eddy/watch/watch_handle.hpp>.

    /// Calls `function(fd_watch&)`, which returns a reaction, when `fd` is readable. `fd` is an
    /// int, which is borrowed, a unique_fd, which is owned, or a descriptor of this loop. Returns a
    /// handle that owns the watch: keep it. Throws as watch_fd() does. Thread: the loop's.
    ///
    ///     auto w = loop.on_readable(fd, [](auto& w) { ...; return reaction::rearm; });
    template <class Fd, class Function, class Loop = loop>
    [[nodiscard]] auto on_readable(Fd&& fd, Function&& function) {
        return watch_fd(static_cast<Loop&>(*this), static_cast<Fd&&>(fd), interest::readable,
                        static_cast<Function&&>(function));
    }
    /// Calls `function(fd_watch&)` when `fd` is writable. Otherwise as on_readable().
    template <class Fd, class Function, class Loop = loop>
    [[nodiscard]] auto on_writable(Fd&& fd, Function&& function) {
        return watch_fd(static_cast<Loop&>(*this), static_cast<Fd&&>(fd), interest::writable,
                        static_cast<Function&&>(function));
    }

    /// Calls `function(signal_watch&, const signal_info&)` for each of `signals` that arrives. They
    /// must be blocked, see block_signals(). Returns a handle that owns the watch: keep it. Throws
    /// as watch_signals() does. Thread: the loop's.
    ///
    ///     auto w = loop.on_signal(SIGHUP, [](auto&, const signal_info&) { reload(); });
    template <class Signals, class Function, class Loop = loop>
    [[nodiscard]] auto on_signal(Signals&& signals, Function&& function) {
        return watch_signals(static_cast<Loop&>(*this), static_cast<Signals&&>(signals),
                             static_cast<Function&&>(function));
    }
    /// Calls `function(child_watch&, const exit_status&)` when a process has ended. `what` is
    /// process_options, to spawn it here, or the pid or process_handle of one that exists. Returns
    /// a handle that owns the watch: keep it. Throws as watch_exit() does. Thread: the loop's.
    template <class What, class Function, class Loop = loop>
    [[nodiscard]] auto on_exit(What&& what, Function&& function) {
        return watch_exit(static_cast<Loop&>(*this), static_cast<What&&>(what),
                          static_cast<Function&&>(function));
    }

    /// Ends the current run, or else the next one. A stop from another thread that comes while the
    /// run is ending anyway ends the next run. Thread: any.
    void stop() noexcept;

    // Work and timers; see also scheduler.

    using scheduler::post;
    /// Queues `e`: its on_run is called on the loop's thread, never inside this call. While the
    /// loop is being drained or destroyed, on_cancel is called instead. Precondition: `e` is not
    /// posted. Thread: any. Lifetime: `e` must stay alive until its callback is called.
    void post(entry& e) noexcept override {
        // Fast path for the loop's thread. submit() does the rest, assertions included.
        if (on_thread() && !lost_by_fork() && !ends() && !e.posted()) {
            e.after_poll_ = false;
            e.state_.store(entry::is_posted, std::memory_order_relaxed);
            ++counters_.posts;
            ready_.push(e);
        } else {
            submit(e, false);
        }
    }
    /// Queues `e` as post() does, for after the next look at the kernel. Thread: any.
    void post_next(entry& e) noexcept;
    /// Posts `e` from a thread that the loop's owner may not know, for libraries. The owner may
    /// destroy the loop as soon as `e` has run: the destructor waits until this call has returned.
    /// Otherwise as post(). Thread: any.
    void hand_over(entry& e) noexcept;
    /// Called by senders that are started on another loop than this. In builds of the library
    /// without NDEBUG, the program ends with a line that names both loops if nobody runs this loop
    /// for ten seconds while the other one waits. Thread: any.
    void expect_runner() noexcept;
    /// Cancels a posted `e`: its on_cancel is called on the loop's thread instead of on_run. A
    /// cancellation that comes too late has no effect. Thread: any.
    void cancel(entry& e) noexcept override;
    /// Sets or moves `t`, which is due at `when`. No effect on a timer whose on_cancel is still to
    /// come. While the loop is being drained or destroyed, `t` is cancelled. Precondition: `t` is a
    /// steady-clock timer of this loop. Thread: any.
    void post_at(time_point when, timer& t) noexcept override {
        if (!push_back_at_once(when, t)) {
            set(t, when.time_since_epoch().count());
        }
    }
    /// Sets or moves `t`, a system-clock timer of this loop, as a steady-clock one. Thread: any.
    void post_at(system_time_point when, timer& t) noexcept;
    /// Cancels `t`, armed or not: its on_cancel is called, once, on the loop's thread. No on_run
    /// follows, and on_cancel may destroy `t`. Thread: any.
    void cancel(timer& t) noexcept override;

    /// Sets or moves `t`, which is due at `when`. No effect while the loop ends. Precondition: `t`
    /// is a timer of this loop. Thread: the loop's.
    [[gnu::always_inline]] void post_at(time_point when, local_timer& t) noexcept {
        // Inlined: with many timers, a call costs as much as all these checks. A fork() is not
        // checked for here, since only memory is touched; the next turn of the loop checks.
        const std::int64_t when_ns = when.time_since_epoch().count();
        if (timer_room* const room = open_room_; t.room_ == room) [[likely]] {
            // To a later deadline: the timeout of a live connection, for example. An unarmed timer
            // is refused, because its deadline is INT64_MAX.
            if (room->heap.push_back(t.node_, when_ns)) {
                return;
            }
            if (!t.armed() && on_thread()) [[likely]] {
                ++work_;
                room->heap.insert(t.node_, when_ns);
                return;
            }
        }
        set_slowly(t, when_ns);
    }
    using scheduler::post_after;
    /// Sets or moves `t`, which is due after `delay`. Thread: the loop's.
    void post_after(duration delay, local_timer& t) noexcept {
        post_at(saturating_add(clock::now(), delay), t);
    }

    /// Disarms `t` at once, without a callback. False: it was not armed. Precondition: no other
    /// thread is about to set it. Thread: the loop's.
    bool disarm(timer& t) noexcept {
        return (nothing_told(t) && disarm_at_once(t)) || disarm_slowly(t);
    }
    /// Disarms `t` at once, without a callback. False: it was not armed. Thread: the loop's.
    bool disarm(local_timer& t) noexcept { return disarm_at_once(t) || disarm_slowly(t); }
    /// Takes `e` out of the loop at once, without a callback. False: it was not posted.
    /// Precondition: no other thread is about to post it. Thread: the loop's.
    bool disarm(entry& e) noexcept;

    // I/O.

    /// Starts `op`, whose completion may be called inside this call (see loop_options::inline_max).
    /// Every failure is a result, even a descriptor that is closed. Precondition: `op` is not
    /// pending, and the descriptor in `request` belongs to this loop. Lifetime: `op`, and what
    /// `request` points to, must live until the completion is called. Thread: the loop's.
    void start(io_operation& op, const io_request& request) noexcept;
    /// Starts `op` with a deadline, at which it ends with errc::timed_out unless it has a result;
    /// `never` is no deadline. Without memory for the deadline, `op` ends with `not_enough_memory`.
    /// Otherwise as start() without a deadline. Thread: the loop's.
    void start(timed_io_operation& op, const io_request& request, time_point deadline) noexcept;
    /// Starts an operation that is a member of `object`, which also gets its result: `Operation`
    /// and `OnComplete` are pointers to members, and the function `OnComplete` takes an io_result.
    /// Otherwise as start() for any operation. Thread: the loop's.
    ///
    ///     loop.start<&session::io, &session::on_data>(*this, recv(socket, buffer));
    template <auto Operation, auto OnComplete, class T>
    void start(T& object, const io_request& request) noexcept {
        (object.*Operation).set_callback(&completion_thunk<Operation, OnComplete>);
        start(object.*Operation, request);
    }
    /// Starts a timed member of `object`, which also gets its result. Thread: the loop's.
    template <auto Operation, auto OnComplete, class T>
    void start(T& object, const io_request& request, time_point deadline) noexcept {
        (object.*Operation).set_callback(&completion_thunk<Operation, OnComplete>);
        start(object.*Operation, request, deadline);
    }
    /// Cancels `op`, which completes with `operation_canceled`, or with its result if there is one
    /// already, but not inside this call. No effect on a close, or if `op` is not pending.
    /// Thread: the loop's.
    void cancel(io_operation& op) noexcept;
    /// Ends `op` at once if it is pending: its completion is not called, and `op` may be destroyed.
    /// A result that is already there is lost, and an fd in it is closed; cancel() keeps the
    /// result. Blocks while the kernel cancels `op` or an executor performs it. A close goes on
    /// silently. Thread: the loop's.
    void abandon(io_operation& op) noexcept;

    /// Returns the buffer that a receive() has filled. Empty at the end of the stream and after an
    /// error. A buffer that is not taken goes back when the completion returns.
    /// Precondition: called inside the completion of `op`. Thread: the loop's.
    lease take_lease(const io_operation& op) noexcept;

    // Looking at the loop.

    /// Returns the loop that this thread is running, or null. Thread: any.
    static loop* current() noexcept { return detail::current_loop; }
    /// Returns epoll, io_uring or poll. Thread: any.
    engine_kind engine() const noexcept;
    /// Returns the engine and the reason for it in words: "epoll: the default", "io_uring: asked
    /// for", "io_uring: denied by seccomp; epoll". Thread: any.
    std::string_view engine_choice() const noexcept;
    /// Returns loop_options::name. Thread: any.
    const char* name() const noexcept { return options_.name; }
    /// Returns the time of this turn, which is not older than the last wait. Outside of a run,
    /// returns the current time. Thread: the loop's.
    time_point now() noexcept;
    /// Returns when the next timer or operation deadline is due; `never` if there is none. Timers
    /// of the system clock, which may be set, are not included: the kernel reports them, and the
    /// native handle is readable then. Thread: the loop's.
    time_point next_deadline() noexcept;
    /// True if nothing is pending, armed or posted, except in the background. Thread: the loop's.
    bool empty() const noexcept { return !has_work() && inbox_.empty(); }
    /// Returns what the loop has done since it was made. Thread: the loop's.
    loop_counters counters() const noexcept;
    /// True while the loop is being drained or destroyed, which cancels what is started, set or
    /// posted (see run_mode::drained). Thread: the loop's.
    bool ends() const noexcept { return ends_; }
    /// Visits each operation, timer and entry that keeps this loop alive. Thread: the loop's.
    void for_each_live(function_ref<void(const live_operation&)> visit);

    /// Notifies `notice` when this loop is destroyed, even if that has already begun, while
    /// operations can still complete. For owners that may wait for something outside the loop.
    /// Thread: the loop's.
    void tell_of_end(loop_notice& notice) noexcept;
    /// Registers `notice`, the only one of its kind on this loop, for resident(). It is notified of
    /// the end as tell_of_end() says. Thread: the loop's.
    void add_resident(loop_notice& notice) noexcept;
    /// Returns the resident whose callback is `on_notice`, or null. Thread: the loop's.
    loop_notice* resident(loop_notice::callback on_notice) const noexcept;
    /// Notifies `notice` when the next run begins, before anything else. For owners whose
    /// operations a drain has ended and that want to go on. A call inside such a notification means
    /// the run after. False: the loop is being destroyed, and `notice` will not be notified.
    /// Thread: the loop's.
    [[nodiscard]] bool tell_of_next_run(loop_notice& notice) noexcept;

    /// Repairs the loop in the child after fork(). Must be called before anything else, unless the
    /// child just destroys the loop, which then calls nothing. I/O operations end with
    /// `operation_canceled`, even those that an executor performs; descriptors stay attached,
    /// timers armed, entries posted. Throws std::system_error.
    void after_fork_in_child();
    /// True in the child after fork(), until after_fork_in_child(): the loop can only be destroyed.
    /// Thread: any.
    bool lost_by_fork() const noexcept {
        // relaxed: only the number travels.
        return process_mark_cell_.load(std::memory_order_relaxed) != process_mark_;
    }

private:
    class run_scope;
    class stop_node : public queue_node {
    public:
        stop_node() noexcept : queue_node(node_kind::stop_command) {}
    };
    /// States of `stop_node_`, which is in the inbox in every state except `none`:
    ///
    ///     none --stop()--> posted --take_back_stop()--> taken_back --stop()--> posted
    ///                      posted, taken_back --take()--> none
    enum class stop_state : std::uint8_t { none, posted, taken_back };
    struct blocking_call;
    struct lent;

    template <auto Operation, auto OnComplete>
    static void completion_thunk(io_operation& op) noexcept {
        using member = typename detail::member_pointer<decltype(Operation)>::member;
        (detail::owner_of<Operation>(static_cast<member&>(op)).*OnComplete)(op.result());
    }

    bool on_thread() const noexcept { return current() == this; }
    void check_use() const noexcept {
        EDDY_ASSERT(!lost_by_fork(),
                    "a loop is used after fork(): call after_fork_in_child() first");
    }
    enum class look : bool { later, now };
    void turn(time_point until, std::size_t budget);
    void take_turn(time_point until, std::size_t budget, look at_kernel);
    look next_look() noexcept;
    void harvest(time_point until);
    void ask_kernel(time_point until);
    void look_at_kernel(time_point until);
    EDDY_COLD void wait_failed(io_result found);
    bool has_waited() const noexcept;
    void waits_again() noexcept;
    void look_after_trouble() noexcept;
    EDDY_COLD void end_back_off() noexcept;
    void back_off_until(time_point when) noexcept;
    void take_pause(duration pause) noexcept;
    [[noreturn]] void cannot_wait(std::error_code error);
    void end_without_kernel() noexcept;
    EDDY_COLD void begin_pause() noexcept;
    bool may_spin() noexcept {
        return options_.spin > duration::zero() && !embedded_ && spin_gauge_.wants();
    }
    bool spin(time_point until);
    bool has_work() const noexcept { return work_ != 0 || entries_done_ != counters_.posts; }
    bool nothing_to_run() const noexcept {
        return ready_.empty() && after_poll_.empty() && inbox_.empty();
    }
    /// Takes what other threads have pushed. An inbox that is parked and empty stays parked.
    void take_inbox() noexcept {
        if (!inbox_.empty()) {
            empty_inbox();
        }
    }
    void end_sleep() noexcept;
    void take_after_poll() noexcept {
        while (!after_poll_.empty()) {
            operation& next = after_poll_.pop_front();
            static_cast<entry&>(next).after_poll_ = false;
            ready_.push(next);
        }
    }
    void empty_inbox() noexcept;
    void take(queue_node& node) noexcept;
    void expire_timers() noexcept {
        if (!timers_.empty()) {
            pop_due_timers();
        }
    }
    void pop_due_timers() noexcept;
    void run_ready(std::size_t budget) noexcept;
    [[gnu::noinline]] void run_aged(std::size_t budget) noexcept;
    void take_back_stop() noexcept;
    void begin_stop() noexcept {
        stopping_ = true;
        if (!ends()) {
            run_ready_limit_ = 0;
        }
    }
    bool limit_reached() const noexcept { return counters_.completions >= completion_limit_; }
    bool may_complete_inline() const noexcept {
        return on_thread() && inline_depth_ < options_.inline_max &&
               counters_.completions < batch_limit_;
    }

    [[gnu::noinline]] void submit(entry& e, bool after_poll) noexcept;
    void queue_entry(entry& e) noexcept;
    void dispatch(operation& op) noexcept;
    [[gnu::noinline]] void dispatch_timer(operation& op) noexcept;
    void dispatch(entry& e) noexcept;
    void dispatch(timer& t) noexcept;
    void dispatch(local_timer& t) noexcept;
    void dispatch(io_operation& op) noexcept;
    [[gnu::noinline]] void dispatch_other(io_operation& op) noexcept;
    void dispatch_easily(io_operation& op) noexcept;
    void dispatch_receive(io_operation& op) noexcept;
    void dispatch_wait(io_operation& op) noexcept;
    void complete(io_operation& op) noexcept;
    void complete_receive(io_operation& op) noexcept;
    void tell(io_operation& op) noexcept;
    void queue_result(io_operation& op) noexcept;
    /// Counts the operation as work of this loop.
    void count(const io_operation& op) noexcept { ++(op.background_ ? background_work_ : work_); }
    /// Counts the operation as work of this loop no longer, and removes its deadline.
    void forget(io_operation& op) noexcept {
        --(op.background_ ? background_work_ : work_);
        if (op.timed_) {
            unlimit(static_cast<timed_io_operation&>(op));
        }
    }
    void deliver(io_operation& op, bool now) noexcept;
    bool begin(io_operation& op, bool timed, bool may_try) noexcept;
    [[nodiscard]] bool begin_specially(io_operation& op, bool timed, bool& there) noexcept;
    bool is_there(io_operation& op, progress how_far) noexcept;
    bool begin_here(io_operation& op) noexcept;
    bool done_at_once(io_operation& op) noexcept;
    bool start_here(io_operation& op) noexcept;

    // Transfers without an operation, see own_io::transfer_now().
    [[nodiscard]] bool transfer_now(const io_request& request, io_result& result) noexcept {
        if (request.slot == nullptr || request.size == 0) {
            return false;
        }
        const handle_of of{*request.slot, request.generation};
        return request.code == opcode::send
                   ? send_now(of, request.data, request.size, request.flags, result)
                   : request.code == opcode::recv && !request.all &&
                         recv_now(of, request.data, request.size, request.flags, result);
    }
    struct handle_of {
        fd_slot& slot;
        std::uint32_t generation;
    };
    bool may_transfer(const handle_of& of) const noexcept {
        return transfers_now_ && of.slot.generation == of.generation &&
               counters_.completions < batch_limit_;
    }
    /// Precondition: `size` is not 0.
    [[nodiscard]] bool send_now(const handle_of& to, const void* data, std::size_t size, int flags,
                                io_result& result) noexcept {
        return may_transfer(to) && to.slot.takes_data() &&
               send_at_once(to.slot, data, size, flags, result);
    }
    /// Precondition: `size` is not 0.
    [[nodiscard]] bool recv_now(const handle_of& from, void* data, std::size_t size, int flags,
                                io_result& result) noexcept {
        return may_transfer(from) && from.slot.has_data() &&
               recv_at_once(from.slot, data, size, flags, result);
    }
    [[nodiscard]] bool send_at_once(fd_slot& to, const void* data, std::size_t size, int flags,
                                    io_result& result) noexcept;
    [[nodiscard]] bool recv_at_once(fd_slot& from, void* data, std::size_t size, int flags,
                                    io_result& result) noexcept;
    template <opcode Code>
    [[nodiscard]] bool transfer_at_once(fd_slot& slot, void* data, std::size_t size, int flags,
                                        io_result& result) noexcept;
    [[nodiscard]] EDDY_COLD bool moved_nothing(fd_slot& slot, opcode code,
                                               io_result result) noexcept;

    void start_made(io_operation& op) noexcept;
    /// Takes the buffer of a receive with `takes_lease_`, inside its completion.
    static lease lease_of(io_operation& op) noexcept {
        return lease(static_cast<detail::lease_buffer*>(std::exchange(op.request_.data, nullptr)));
    }
    /// Starts a receive, or a recv of at least one byte, if it only has to wait for data that the
    /// poller will report. False: nothing was done. Precondition: `op` was made for this start, has
    /// a descriptor, and is not in the background.
    [[nodiscard]] bool wait_for_data(io_operation& op) noexcept {
        fd_slot& slot = *op.request_.slot;
        if (!transfers_now_ || lost_by_fork() || slot.generation != op.request_.generation ||
            !slot.waits_for_data()) {
            return false;
        }
        op.phase_ = io_operation::phase::waiting;
        op.easy_ = op.request_.code == opcode::receive ? 1 : 0;
        slot.readers.push_back(op);
        ++work_;
        return true;
    }
    [[gnu::noinline]] void end_start(io_operation& op, progress how_far, bool now) noexcept;
    void begin_queued(io_operation& op) noexcept;
    void take(io_operation& op, const io_request& request) noexcept;
    void post_start(stoppable_io& io) noexcept;
    void post_stop(stoppable_io& io) noexcept;
    bool begin_close(io_operation& op) noexcept;
    bool perform_blocking(io_operation& op) noexcept;
    bool send_away(io_operation& op) noexcept;
    void take_back(blocking_call& call) noexcept;
    void give_up_away() noexcept;
    void limit(timed_io_operation& op, time_point deadline) noexcept;
    void unlimit(timed_io_operation& op) noexcept;

    // For watches, whose callbacks are never called inside a call.
    [[gnu::noinline]] void reclaim(io_operation& op) noexcept;
    [[nodiscard]] bool part(io_operation& wait) noexcept;
    [[nodiscard]] bool watch_again(io_operation& wait, int fd, const char* name,
                                   interest wanted) noexcept;
    void start_wait(io_operation& op, interest wanted, bool edge) noexcept;
    [[nodiscard]] bool wait_again(io_operation& op) noexcept;
    void start_queued(io_operation& op, const io_request& request) noexcept;
    void complete_queued(io_operation& op, io_result result) noexcept;
    [[nodiscard]] bool withdraw(io_operation& op) noexcept;
    void move(operation& op, priority_level priority) noexcept;

    /// True if no command of another thread for `t` waits to be applied; a command that is being
    /// given right now may come later. An empty inbox answers first: with many timers, it is nearer
    /// in memory than `t`. relaxed: commands given before this call have been pushed.
    bool nothing_told(const timer& t) const noexcept {
        return inbox_.empty() || t.wanted_ns_.load(std::memory_order_relaxed) == timer::no_command;
    }
    /// Fast path for moving an armed timer to later on the loop's thread. False: nothing was done.
    bool push_back_at_once(time_point when, timer& t) noexcept {
        return !lost_by_fork() && on_thread() && t.room_ == open_room_ && t.node_.armed() &&
               nothing_told(t) && timers_.push_back(t.node_, when.time_since_epoch().count());
    }
    /// Fast path for disarming a timer that is in the heap. The heap is reached through the loop,
    /// not through the timer: with many timers, each access would wait for the timer's memory.
    /// False: nothing was done.
    bool disarm_at_once(timer_base& t) noexcept {
        timer_room* const room = timer_room_.get();
        if (t.room_ != room || !room->heap.erase(t.node_)) {
            return false;
        }
        --work_;
        return true;
    }
    void set(timer& t, std::int64_t when_ns) noexcept;
    void check_thread() noexcept;
    void set_slowly(timer& t, std::int64_t when_ns) noexcept;
    EDDY_COLD void set_slowly(local_timer& t, std::int64_t when_ns) noexcept;
    bool disarm_slowly(timer& t) noexcept;
    bool disarm_slowly(local_timer& t) noexcept;
    bool take_out(timer_base& t) noexcept;
    void command(timer& t, std::int64_t wanted_ns) noexcept;
    void tell(timer& t, std::int64_t wanted_ns) noexcept;
    void apply(timer& t, std::int64_t wanted_ns) noexcept;
    EDDY_COLD void begin_cancel(timer& t) noexcept;
    void due(timer_base& t) noexcept;
    void repeat(timer& t) noexcept;

    /// Called when something was done, outside of a run, that no event reports: the host that waits
    /// for the native handle must run the loop once. This keeps an invariant: an embedded loop that
    /// does not run has settled and sleeps, or its handle is readable.
    void attend() noexcept {
        if (embedded_) [[unlikely]] {
            call_attention();
        }
    }
    EDDY_COLD void call_attention() noexcept;
    void settle() noexcept;

    static bool ends_by_itself(const io_operation& op, bool timed) noexcept;
    bool away_from_inbox(timer& t) noexcept;
    time_point next_in_heap() noexcept {
        return timers_.empty() ? never : time_point(duration(timers_.next_deadline_ns()));
    }
    void visit_live(function_ref<void(const live_operation&)> visit, bool background) const;
    void begin_drain() noexcept;
    void set_ends(bool draining, bool destroying) noexcept;
    void cancel_operations(bool also_those_that_end) noexcept;
    void cancel_entries() noexcept;
    void cancel_timers() noexcept;
    void finish_everything() noexcept;
    void finish_some(time_point until) noexcept;
    static void insert(loop_notice*& first, loop_notice& notice) noexcept;
    static void give_notice(loop_notice*& first,
                            loop_notice::callback loop_notice::* which) noexcept;
    void give_notice_of_end() noexcept;
    bool idle() const noexcept;
    void forget_everything() noexcept;
    [[noreturn]] void report_stuck() const noexcept;

    loop_options options_;
    ready_queue ready_;
    std::optional<ageing> ageing_;
    spin_gauge spin_gauge_;
    operation_list after_poll_;
    const std::unique_ptr<timer_room, timer_room::leaver> timer_room_ = timer_room::make(*this);
    timer_heap& timers_ = timer_room_->heap;
    timer_room* open_room_ = timer_room_.get();  ///< null while the loop ends
    std::unique_ptr<eddy::engine> engine_;
    readiness_engine* performer_;  ///< engine_, if it makes the calls itself; else null
    std::unique_ptr<buffer_pool, detail::pool_leaver> leases_;
    lent* lent_ = nullptr;  ///< of the completion that is being called
    std::unique_ptr<system_timers> system_timers_;
    loop_counters counters_;
    std::size_t work_ = 0;  ///< started or set, and not completed
    std::size_t background_work_ = 0;
    std::uint64_t entries_done_ = 0;               ///< of counters_.posts; the others are work too
    std::uint64_t completion_limit_ = UINT64_MAX;  ///< of this run
    std::uint64_t batch_limit_ = UINT64_MAX;       ///< of this turn; not above the run's
    std::uint64_t run_ready_limit_ = UINT64_MAX;   ///< batch_limit_, or 0 after a stop
    loop* outer_ = nullptr;                        ///< the loop whose callback runs this one
    time_point turn_now_ = time_point::min();
    time_point looked_at_{};  ///< when the kernel was last asked although more could run
    unsigned inline_depth_ = 0;
    unsigned quiet_waits_ = 0;  ///< since another thread's last post, at most 64
    bool stopping_ = false;
    bool draining_ = false;
    bool destroying_ = false;
    bool ends_ = false;  ///< draining_ or destroying_
    /// The engine makes the calls itself, start() may call completions, and the loop does not end.
    bool transfers_now_ = false;
    bool embedded_ = false;  ///< a host waits for the native handle while the loop does not run
    loop_notice* residents_ = nullptr;  ///< notified of the end too, see add_resident()
    loop_notice* told_of_end_ = nullptr;
    loop_notice* told_of_next_run_ = nullptr;
    timer_node back_off_;
    std::unique_ptr<blocking_call> free_calls_;
    blocking_call* away_calls_ = nullptr;
    const std::atomic<std::uint64_t>& process_mark_cell_;
    std::uint64_t process_mark_;
    embedding* embedding_ = nullptr;
    bool attended_ = false;  ///< the native handle was made readable since the last run
    wait_retry wait_retry_;
    std::uint64_t failed_turn_ = 0;  ///< the last turn whose wait failed
    time_point run_until_ = never;   ///< the end of this run; `min()`: the run never waits

    /// The members from here on are modified by other threads: on cache lines of their own.
    alignas(64) inbox inbox_;
    std::atomic<stop_state> stop_state_{stop_state::none};
    std::atomic<bool> running_{false};  ///< only to detect misuse
    stop_node stop_node_;
    /// Threads in hand_over() and similar calls, for which ~loop() waits.
    std::atomic<unsigned> threads_inside_{0};

    friend class timer;
    friend class local_timer;
    friend class lease;
    friend class lease_operation;
    friend class loop_group;
    friend class own_io;
    friend class stoppable_io;
    friend class descriptor;
    friend class embedding;
    friend class system_timers;
    friend class watch;
};

}  // namespace eddy
