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
/// See loop::current().
EDDY_API [[gnu::tls_model("initial-exec")]] extern constinit thread_local loop* current_loop;
}  // namespace detail

struct loop_options {
    engine_kind engine = engine_kind::automatic;
    const char* name = "loop";
    /// Completions between two looks at the kernel. From 64 on, run() puts a look off while the one
    /// before is less than 10 us ago: events of a more urgent priority wait for as long.
    std::size_t batch_max = 256;
    /// How deep completions may be called from inside start(). 0: never.
    unsigned inline_max = 16;
    /// The timer slack of the thread while it runs the loop; negative: as it is.
    duration timer_slack = duration(-1);
    /// Where calls that block (files, on epoll and poll) are made. Null: on the loop's thread.
    scheduler* blocking = nullptr;
    /// What is ready and the first of its priority runs within so many dispatches (at least 64),
    /// however busy higher priorities are; what has n of its priority in front of it, within n + 1
    /// times as many. (A watch that is armed from outside the loop's thread is not ready before the
    /// loop has taken that command, behind what is ready with priority 0.) 0: lower priorities wait
    /// for as long as higher ones are busy.
    std::size_t starvation_limit = 0;
    /// The buffers of receive(): how large each is; how many are made at a time, at first use and
    /// whenever none is left; how many there are at most (up to 32768). When all are out, receives
    /// wait until one comes back.
    std::size_t lease_size = 4096;
    std::size_t lease_count = 64;
    std::size_t lease_max = 4096;
    /// How long a turn that has nothing to do looks again and again before it blocks; 0: not at
    /// all. Whatever comes meanwhile costs nobody a wake-up, but the core is busy for that long. It
    /// stops by itself, but for one wait in 64, when less than half of the spins find something,
    /// or only find what came while another thread had the core. Not in poll(), and not in a loop
    /// of which native_handle() was asked. The counters tell how often it paid.
    duration spin = duration::zero();
    /// How long the loop goes on trying while the kernel refuses to wait with an error that may
    /// pass (ENOMEM, EAGAIN, EBUSY; EMFILE and ENFILE for a ring), with pauses that grow from 1 ms
    /// to 1 s. Timers, posts and what is ready run in the meantime. The first failure is reported
    /// (set_report_handler), and so is that it is over. Of the time between two failures, twice the
    /// pause counts at most. An interruption by a signal is no failure. 0: run() throws at once.
    duration wait_retry = std::chrono::seconds(30);
};

enum class run_mode : std::uint8_t {
    /// Until stop(). What is ready or pending then stays for the next run.
    stopped,
    /// Until stop(), then until everything has completed, also what is in the background. With the
    /// stop, whatever would never end by itself is cancelled: accepts, reads and readiness waits
    /// without a deadline, timers; and what is started, set or posted from then on is cancelled in
    /// the same way. Writes, connects, files, and what has a deadline are waited for.
    drained,
    /// Until stop(), or until nothing is pending any more.
    empty,
};

/// A run that reaches a limit returns, whatever its mode, even if it is draining.
struct run_limits {
    time_point until = never;
    /// How many completions are handled at most; 0: none.
    std::size_t completions = SIZE_MAX;
};

/// One thread's event loop: performs I/O, timers and posted work, and calls their completions.
///
/// A turn: queue the timers that are due; ask the kernel (see `batch_max`), waiting if nothing can
/// run; take what other threads posted; run what is ready, lowest priority number first, at most
/// `batch_max` of them.
///
/// Thread: one at a time runs it. While it runs, everything except what is marked "any" belongs to
/// that thread; while it does not, to whoever uses it, one at a time. With io_uring, a loop that
/// has operations pending can only be run, and destroyed, by the thread that ran it before.
class EDDY_API loop final : public scheduler {
public:
    /// Throws std::system_error: the engine that was asked for is denied or not built. An io_uring
    /// is tried first, from its making to a completion; `best` takes epoll if that fails.
    explicit loop(loop_options options = {});
    /// Cancels everything and runs until it has completed. What cannot be ended is an assertion
    /// that names it. If the kernel refuses to wait, that is reported, and what the kernel holds
    /// ends without it.
    ~loop();
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;

    // Running the loop.
    // Each returns how many completions it has called. Each returns early after stop(), which it
    // takes back: the next one runs again. If the kernel refuses to wait (see
    // loop_options::wait_retry), everything that is pending is cancelled and completes, as at the
    // end of the loop, and they throw std::system_error, which names the call. The loop may be run
    // again.

    std::size_t run(run_mode mode = run_mode::stopped, run_limits limits = {});
    std::size_t run_until(time_point until) { return run(run_mode::stopped, {.until = until}); }
    std::size_t run_for(duration time) { return run_until(saturating_add(clock::now(), time)); }
    /// Waits for one completion and handles just that. 0: stopped, or nothing is pending.
    std::size_t run_one();
    /// Handles what is ready; if nothing is, waits once, unless nothing is pending.
    std::size_t run_some();
    /// Handles what is ready, at most `batch_max`. Never waits (but for a millisecond if the kernel
    /// cannot be asked and native_handle() is in use, which is readable then all the time).
    std::size_t poll();

    // Inside another event loop; see also embedding and loop_watch.

    /// An fd that is readable whenever poll() has something to do but timers, which are due at
    /// next_deadline(). For hosts that have timers of their own; embedding needs none.
    ///
    ///     ::poll(&{loop.native_handle(), POLLIN}, 1, milliseconds_until(loop.next_deadline()));
    ///     loop.poll();
    ///
    /// Both are true whenever the loop does not run, whatever was started, posted or set meanwhile,
    /// by whom ever. Watch it level-triggered, and do nothing else with it. It may be readable for
    /// nothing. It is the same one until the loop ends; in the child after fork(), ask again.
    ///
    /// The first call makes what is needed, so that nobody else pays. Throws std::system_error:
    /// `not_supported`, the engine is poll, which has no such fd; with io_uring
    /// `device_or_resource_busy`, the loop was run before and has operations pending, and
    /// `operation_not_permitted`, they belong to another thread; what the kernel says.
    /// Thread: the loop's.
    int native_handle();

    // With senders; include <eddy/io/run.hpp>.

    /// A loop_scheduler. Thread: any.
    template <class Loop = loop>
    auto get_scheduler() noexcept {
        return scheduler_of(static_cast<Loop&>(*this));
    }
    /// Starts `sender` on this loop, and runs the loop until it has completed. Its values, as a
    /// std::optional of a std::tuple; nothing if it was stopped. Throws its error: what an
    /// exception_ptr holds, std::system_error for an error_code, else the error itself. A stop() of
    /// the loop stops the sender. If the kernel refuses to wait, the sender is stopped, and this
    /// throws when it has completed.
    template <class Sender, class Loop = loop>
    auto run(Sender&& sender) {
        return run_until_done(static_cast<Loop&>(*this), static_cast<Sender&&>(sender));
    }
    /// A sender that runs the loop on the thread that starts it, as run(mode) does. Value: how many
    /// completions were called. Asked to stop, it stops the loop and then completes with the value.
    template <class Loop = loop>
    auto run_sender(run_mode mode = run_mode::stopped) noexcept {
        return make_run_sender(static_cast<Loop&>(*this), mode);
    }

    // With callbacks; include <eddy/watch/watch_handle.hpp>.

    /// Calls `function(fd_watch&)`, which returns a reaction, when `fd` is readable (writable): an
    /// int, which is borrowed, a unique_fd, which is owned, or a descriptor. The result owns the
    /// watch: keep it. See watch_fd().
    ///
    ///     auto w = loop.on_readable(fd, [](auto& w) { ...; return reaction::rearm; });
    template <class Fd, class Function, class Loop = loop>
    [[nodiscard]] auto on_readable(Fd&& fd, Function&& function) {
        return watch_fd(static_cast<Loop&>(*this), static_cast<Fd&&>(fd), interest::readable,
                        static_cast<Function&&>(function));
    }
    template <class Fd, class Function, class Loop = loop>
    [[nodiscard]] auto on_writable(Fd&& fd, Function&& function) {
        return watch_fd(static_cast<Loop&>(*this), static_cast<Fd&&>(fd), interest::writable,
                        static_cast<Function&&>(function));
    }

    /// Calls `function(signal_watch&, const signal_info&)` with each of these signals, which are
    /// blocked. See watch_signals().
    ///
    ///     auto w = loop.on_signal(SIGHUP, [](auto&, const signal_info&) { reload(); });
    template <class Signals, class Function, class Loop = loop>
    [[nodiscard]] auto on_signal(Signals&& signals, Function&& function) {
        return watch_signals(static_cast<Loop&>(*this), static_cast<Signals&&>(signals),
                             static_cast<Function&&>(function));
    }
    /// Calls `function(child_watch&, const exit_status&)` when a process has ended: one that is
    /// spawned here (process_options), or that exists (a pid or a process_handle). See
    /// watch_exit().
    template <class What, class Function, class Loop = loop>
    [[nodiscard]] auto on_exit(What&& what, Function&& function) {
        return watch_exit(static_cast<Loop&>(*this), static_cast<What&&>(what),
                          static_cast<Function&&>(function));
    }

    /// Ends the run that is going on, or else the next one: one that comes from another thread when
    /// the run is ending anyway ends the next. Thread: any.
    void stop() noexcept;

    // Work and timers, see scheduler. Thread: any.

    using scheduler::post;
    void post(entry& e) noexcept override {
        // The short way, on the loop's thread: what asserts is the long one.
        if (on_thread() && !lost_by_fork() && !ends() && !e.posted()) {
            e.after_poll_ = false;
            e.state_.store(entry::is_posted, std::memory_order_relaxed);
            ++counters_.posts;
            ready_.push(e);
        } else {
            submit(e, false);
        }
    }
    /// Runs `e` after the kernel was asked next.
    void post_next(entry& e) noexcept;
    /// post(), for libraries: by a thread of which the owner of the loop may know nothing, so that
    /// he may destroy the loop as soon as `e` has run. The destructor waits until this has
    /// returned.
    void hand_over(entry& e) noexcept;
    /// For senders, which call it when they are started on another loop than this. In builds of the
    /// library without NDEBUG, if nobody runs this loop for ten seconds while the other one waits,
    /// the program ends with a line that names both.
    /// Thread: any.
    void expect_runner() noexcept;
    void cancel(entry& e) noexcept override;
    void post_at(time_point when, timer& t) noexcept override {
        if (!push_back_at_once(when, t)) {
            set(t, when.time_since_epoch().count());
        }
    }
    void post_at(system_time_point when, timer& t) noexcept;
    void cancel(timer& t) noexcept override;

    /// Sets or moves `t`; nothing happens while the loop ends. Thread: the loop's.
    [[gnu::always_inline]] void post_at(time_point when, local_timer& t) noexcept {
        // In line: where there are many timers, a call costs as much as all that is asked here. A
        // fork() is not asked for, since only memory is touched; the next turn of the loop does.
        const std::int64_t when_ns = when.time_since_epoch().count();
        if (timer_room* const room = open_room_; t.room_ == room) [[likely]] {
            // To later, such as the timeout of a connection that is alive. One that is not armed
            // has no deadline that anything would be later than.
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
    void post_after(duration delay, local_timer& t) noexcept {
        post_at(saturating_add(clock::now(), delay), t);
    }

    /// Take back a timer or an entry at once, without a callback; false if it was not armed or
    /// posted. Thread: the loop's; no other may be about to set or post it.
    bool disarm(timer& t) noexcept {
        return (nothing_told(t) && disarm_at_once(t)) || disarm_slowly(t);
    }
    bool disarm(local_timer& t) noexcept { return disarm_at_once(t) || disarm_slowly(t); }
    bool disarm(entry& e) noexcept;

    // I/O. Thread: the loop's.

    /// Starts `op`. Its completion may be called from inside this call.
    void start(io_operation& op, const io_request& request) noexcept;
    /// The same with a deadline, at which it ends with errc::timed_out.
    void start(timed_io_operation& op, const io_request& request, time_point deadline) noexcept;
    /// The typed form: `Operation` is a member of `object`, whose member function `OnComplete`
    /// takes an io_result.
    ///
    ///     loop.start<&session::io, &session::on_data>(*this, recv(socket, buffer));
    template <auto Operation, auto OnComplete, class T>
    void start(T& object, const io_request& request) noexcept {
        (object.*Operation).set_callback(&completion_thunk<Operation, OnComplete>);
        start(object.*Operation, request);
    }
    template <auto Operation, auto OnComplete, class T>
    void start(T& object, const io_request& request, time_point deadline) noexcept {
        (object.*Operation).set_callback(&completion_thunk<Operation, OnComplete>);
        start(object.*Operation, request, deadline);
    }
    /// `op` completes with `operation_canceled`, or with its result if there is one already.
    void cancel(io_operation& op) noexcept;
    /// Takes `op` back at once if it is pending: its completion is not called, and it may be
    /// destroyed. A result that is there already is lost, an fd in it closed; to keep it, cancel.
    /// Blocks while the kernel cancels it, or an executor performs it. A close goes on silently.
    void abandon(io_operation& op) noexcept;

    /// The buffer with what a receive() has got, inside its completion. Empty at the end of the
    /// stream and after an error. What is not taken goes back when the completion returns.
    lease take_lease(const io_operation& op) noexcept;

    // Looking at the loop.

    /// The loop that this thread is running, or null. Thread: any.
    static loop* current() noexcept { return detail::current_loop; }
    engine_kind engine() const noexcept;
    /// The engine and the reason for it in words: "epoll: the default", "io_uring: asked for",
    /// "io_uring: denied by seccomp; epoll".
    std::string_view engine_choice() const noexcept;
    const char* name() const noexcept { return options_.name; }
    /// The time at the beginning of this turn, not older than the last wait; the time while the
    /// loop does not run.
    time_point now() noexcept;
    /// When the next timer or deadline is due; `never` if there is none. Not those of the system
    /// clock, which may be set: the kernel tells of them, and the native handle is readable then.
    time_point next_deadline() noexcept;
    bool empty() const noexcept { return !has_work() && inbox_.empty(); }
    loop_counters counters() const noexcept;
    /// What is started, set or posted now is cancelled. Thread: the loop's.
    bool ends() const noexcept { return ends_; }
    /// What keeps this loop alive.
    void for_each_live(function_ref<void(const live_operation&)> visit);

    /// `notice` is told when this loop is destroyed, also if that is going on, where things can
    /// still complete: for those who may wait for what the loop knows nothing of, such as an event.
    /// Thread: the loop's.
    void tell_of_end(loop_notice& notice) noexcept;
    /// The same for a notice that is one of its kind on this loop and found by its callback; null:
    /// there is none. Thread: the loop's.
    void add_resident(loop_notice& notice) noexcept;
    loop_notice* resident(loop_notice::callback on_notice) const noexcept;
    /// `notice` is told when the next run begins, before anything else: for those whose operations
    /// a drain has ended and who want to go on. False: it is not, the loop is being destroyed.
    /// Thread: the loop's. From inside such a call: it is told of the run after.
    [[nodiscard]] bool tell_of_next_run(loop_notice& notice) noexcept;

    /// In the child after fork(): must be called before anything else. I/O operations end with
    /// `operation_canceled`, also those that are with an executor; descriptors stay attached,
    /// timers set, entries posted. A child may also just destroy the loop: then nothing is called.
    /// Throws std::system_error.
    void after_fork_in_child();
    /// In the child after fork(), before after_fork_in_child(): it can only be destroyed.
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
    /// Of `stop_node_`, which is in the inbox unless it is `none`:
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
    /// Leaves it parked if nothing is in it.
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
    /// The operation is work of this loop from here on.
    void count(const io_operation& op) noexcept { ++(op.background_ ? background_work_ : work_); }
    /// The operation is no longer one of this loop.
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

    // Transfers that need no operation, see own_io::transfer_now().
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
    /// The same.
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
    /// What a receive that `takes_lease_` has got, in its completion.
    static lease lease_of(io_operation& op) noexcept {
        return lease(static_cast<detail::lease_buffer*>(std::exchange(op.request_.data, nullptr)));
    }
    /// Starts a receive, or a recv of something, if that comes to waiting for what will be told.
    /// False: nothing was done. Precondition: it was made for this start, has a descriptor, and is
    /// no background work.
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

    // For watches: nothing of theirs is ever called from inside a call.
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

    /// Whether no other thread has told anything of `t` that is still to be done; what is just
    /// being told may come later. Asked of the inbox if that is empty: with many timers it is
    /// nearer than they are. relaxed: what was told before this call has been pushed.
    bool nothing_told(const timer& t) const noexcept {
        return inbox_.empty() || t.wanted_ns_.load(std::memory_order_relaxed) == timer::no_command;
    }
    /// The short way for a timer that is set and moved to later, by the loop's thread. False:
    /// nothing was done.
    bool push_back_at_once(time_point when, timer& t) noexcept {
        return !lost_by_fork() && on_thread() && t.room_ == open_room_ && t.node_.armed() &&
               nothing_told(t) && timers_.push_back(t.node_, when.time_since_epoch().count());
    }
    /// The same for one that is in the heap and to be disarmed. The heap is the one that the loop
    /// knows, not the one that the timer points to: with many timers, all that is asked of it would
    /// wait for the timer's memory.
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

    /// While nobody runs the loop, something was done of which no event tells: whoever waits for
    /// the native handle is to run it once. So this holds at any time: an embedded loop that does
    /// not run has settled and is asleep, or its handle is readable.
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
    readiness_engine* performer_;  ///< the same, if it makes the calls itself
    std::unique_ptr<buffer_pool, detail::pool_leaver> leases_;
    lent* lent_ = nullptr;  ///< by the completion that is being called
    std::unique_ptr<system_timers> system_timers_;
    loop_counters counters_;
    std::size_t work_ = 0;  ///< what was started or set and has not completed
    std::size_t background_work_ = 0;
    std::uint64_t entries_done_ = 0;  ///< of those that were posted: the others are work too
    std::uint64_t completion_limit_ = UINT64_MAX;  ///< of this run
    std::uint64_t batch_limit_ = UINT64_MAX;       ///< of this turn; not above the run's
    std::uint64_t run_ready_limit_ = UINT64_MAX;   ///< the same, or 0: a stop ends it
    loop* outer_ = nullptr;                        ///< the loop from whose callback this one is run
    time_point turn_now_ = time_point::min();
    time_point looked_at_{};  ///< the last time that the kernel was asked though more could run
    unsigned inline_depth_ = 0;
    unsigned quiet_waits_ = 0;  ///< since another thread has last posted something; not above a few
    bool stopping_ = false;
    bool draining_ = false;
    bool destroying_ = false;
    bool ends_ = false;  ///< either of them
    /// The engine makes calls itself, results may come inside a start, and the loop does not end.
    bool transfers_now_ = false;
    bool embedded_ = false;  ///< somebody waits for the native handle while the loop does not run
    loop_notice* residents_ = nullptr;  ///< they are told of the end too
    loop_notice* told_of_end_ = nullptr;
    loop_notice* told_of_next_run_ = nullptr;
    timer_node back_off_;
    std::unique_ptr<blocking_call> free_calls_;
    blocking_call* away_calls_ = nullptr;
    const std::atomic<std::uint64_t>& process_mark_cell_;
    std::uint64_t process_mark_;
    embedding* embedding_ = nullptr;
    bool attended_ = false;  ///< the native handle is readable since the last run
    wait_retry wait_retry_;
    std::uint64_t failed_turn_ = 0;  ///< the last one whose wait failed
    time_point run_until_ = never;   ///< the end of this run; `min()`: it never waits

    /// What other threads touch, away from what only the loop's does.
    alignas(64) inbox inbox_;
    std::atomic<stop_state> stop_state_{stop_state::none};
    std::atomic<bool> running_{false};  ///< only to notice misuse
    stop_node stop_node_;
    /// Threads whose calls the loop's owner may know nothing of.
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
