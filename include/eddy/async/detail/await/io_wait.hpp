// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/await/io_wait_core.hpp>
#include <eddy/async/detail/await/io_wait_store.hpp>
#include <eddy/async/detail/await/sender_wait.hpp>
#include <eddy/async/detail/await/spare_room.hpp>
#include <eddy/async/detail/task/task_promise.hpp>
#include <eddy/base/assert.hpp>
#include <eddy/base/config.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/loop/detail/own_io.hpp>
#include <eddy/loop/loop.hpp>

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

/// The awaiter of an I/O sender. The frame has the sender and this awaiter; a block outside has the
/// operation while it is pending. This class contains the code that depends on the sender and the
/// code of each receive; io_wait_core has the rest.
template <class Convert, class Request, class Promise>
class io_wait<io_sender<Convert, Request>, Promise> {
    using sender = io_sender<Convert, Request>;
    using handle = std::coroutine_handle<Promise>;
    using value = awaited_t<sender>;
    using store = io_wait_store<value>;
    using place = io_wait_place<store, io_call<Request>>;
    static constexpr io_wait_state after =
        place::uses_up ? io_wait_state::used_up : io_wait_state::nothing;

public:
    /// Lifetime: `awaited` lives in the frame as long as this awaiter, and is used up afterwards.
    explicit io_wait(sender& awaited) noexcept : sender_(awaited) {}
    io_wait(const io_wait&) = delete;
    io_wait& operator=(const io_wait&) = delete;
    ~io_wait() {
        if (state() > io_wait_state::used_up) {
            leave();
        }
    }

    static bool await_ready() noexcept { return false; }
    /// Inlined, so that facts about the sender need not be read back from the frame.
    [[gnu::always_inline]] bool await_suspend(handle waiting) {
        if (!is_own(waiting.promise())) [[unlikely]] {
            return start_general(waiting);
        }
        if constexpr (may_arrive_at_once) {
            if constexpr (prepares && !is_small) {
                sender_.convert_.prepare(request());
            }
            if (arrives_at_once()) {
                return false;
            }
        }
        return start(waiting);
    }
    value await_resume() {
        if (state() != io_wait_state::done) [[unlikely]] {
            resume_otherwise();
        }
        const emptied at_end{*this};
        if constexpr (!std::is_void_v<value>) {
            return std::move(stored().value);
        }
    }

private:
    struct receiver {
        using receiver_concept = ex::receiver_tag;
        io_wait* wait;

        template <class... Values>
        void set_value(Values&&... values) noexcept {
            wait->set_value(static_cast<Values&&>(values)...);
        }
        template <class Error>
        EDDY_COLD void set_error(Error&& error) noexcept {
            wait->set_error(to_exception(static_cast<Error&&>(error)));
        }
        void set_stopped() noexcept {}
    };

    // The functions of the Convert.
    static constexpr bool prepares =
        requires(Convert& convert, io_request& request) { convert.prepare(request); };
    static constexpr bool prepare_may_fail = requires(Convert& convert, io_request& request) {
        { convert.prepare(request) } -> std::same_as<std::error_code>;
    };
    static constexpr bool goes_on =
        requires(Convert& convert, io_request& request) { convert.again(io_result(), request); };
    static constexpr bool keeps_parts = requires(Convert& convert) { convert.has_part(); };
    static constexpr bool takes_lease = requires(Convert& convert, lease lent, io_wait* wait) {
        convert(std::move(lent), receiver{wait});
    };
    /// True for a stream_request, which is cut to what one call moves when made an io_request.
    static constexpr bool is_small = !std::same_as<Request, io_request>;
    /// True if the transfer needs no operation when it can be made at once: the Convert needs only
    /// the result, and has no step before it that may fail.
    static constexpr bool may_arrive_at_once =
        needs_no_operation<Convert, receiver> && !prepare_may_fail &&
        requires(loop& home, Request& request, io_result& result) {
            own_io::transfer_now(home, request, result);
        };
    static_assert(!takes_lease || !prepares, "a receive that waits at once is not prepared");
    /// True for a request that most likely has to wait if it does not arrive at once.
    bool reads_something() const noexcept {
        if constexpr (std::same_as<Request, stream_request<direction::in, false>>) {
            return sender_.call_.request.size() != 0;
        } else {
            return takes_lease;
        }
    }

    static io_wait& of(void* wait) noexcept { return *static_cast<io_wait*>(wait); }
    static std::error_code prepare(void* wait, io_request& request) noexcept {
        if constexpr (prepare_may_fail) {
            return of(wait).sender_.convert_.prepare(request);
        } else {
            of(wait).sender_.convert_.prepare(request);
            return {};
        }
    }
    static bool again(void* wait, io_result result, io_request& request) noexcept {
        return of(wait).sender_.convert_.again(result, request);
    }
    static bool has_part(void* wait) noexcept { return of(wait).sender_.convert_.has_part(); }
    static void deliver(void* wait, io_result result, loop& home, const io_operation& op) noexcept {
        io_wait& self = of(wait);
        const bool general = is_general(self.state());
        if constexpr (needs_no_operation<Convert, receiver>) {
            self.sender_.convert_(result, receiver{&self});
        } else {
            self.sender_.convert_(result, receiver{&self}, home, op);
        }
        if (general) {
            self.state() = has_value(self.state()) ? io_wait_state::general_done
                                                   : io_wait_state::general_failed;
        }
    }
    static void fail(void* wait, std::exception_ptr error) noexcept {
        of(wait).set_error(std::move(error));
    }
    static error_subject subject(void* wait) noexcept {
        return of(wait).sender_.convert_.subject();
    }
    static consteval io_wait_calls make_calls() noexcept {
        io_wait_calls made{};
        if constexpr (prepares) {
            made.prepare = &prepare;
        }
        if constexpr (goes_on) {
            made.again = &again;
        }
        if constexpr (keeps_parts) {
            made.has_part = &has_part;
        }
        made.deliver = &deliver;
        made.fail = &fail;
        if constexpr (requires(Convert& convert) { convert.subject(); }) {
            made.subject = &subject;
        }
        return made;
    }
    static constexpr io_wait_calls calls = make_calls();

    Request& request() noexcept { return sender_.call_.request; }
    io_wait_state& state() noexcept { return sender_.call_.state; }
    /// Puts a store in place of the request.
    store& begin() noexcept { return place_.begin(sender_.call_); }
    store& stored() noexcept { return place_.of(sender_.call_); }
    template <class... Values>
    void set_value(Values&&... values) noexcept {
        using kept = typename store::stored;
        if constexpr (std::is_nothrow_constructible_v<kept, Values...>) {
            std::construct_at(std::addressof(stored().value), static_cast<Values&&>(values)...);
            state() = io_wait_state::done;
        } else {
            try {
                std::construct_at(std::addressof(stored().value), static_cast<Values&&>(values)...);
                state() = io_wait_state::done;
            } catch (...) {
                set_error(std::current_exception());
            }
        }
    }
    void set_error(std::exception_ptr error) noexcept {
        std::construct_at(&stored().error, std::move(error));
        state() = io_wait_state::failed;
    }
    struct emptied {
        io_wait& wait;
        ~emptied() {
            std::destroy_at(std::addressof(wait.stored().value));
            wait.state() = after;
        }
    };
    /// The coroutine that waits for the task_io.
    handle waiting() noexcept { return handle::from_address(stored().waiting); }
    io_wait_core core(handle waiting) noexcept {
        return {stored().room, state(), waiting.promise(), waiting, calls};
    }

    /// True if a task_io will do: only this loop, which is that of the handle, can stop the task.
    bool is_own(const Promise& promise) const noexcept {
        const loop* const home = sender_.call_.home;
        return promise.stops_with_home() && home == promise.home() && home == loop::current();
    }

    /// Tries the transfer without an operation. Returns false if all or the rest of it needs one.
    bool arrives_at_once() noexcept {
        io_result result;
        if constexpr (is_small) {
            if (!own_io::transfer_now(*sender_.call_.home, request(), result)) {
                return false;
            }
            if (goes_on ? result.raw() == static_cast<std::int64_t>(request().size()) : result.ok())
                [[likely]] {
                begin();
                set_value(static_cast<std::size_t>(result.raw()));
                return true;
            }
        } else if (!may_be_cut<Convert>(request()) ||
                   !own_io::transfer_now(*sender_.call_.home, request(), result)) {
            return false;
        }
        return arrived(result);
    }
    /// Takes the result of a transfer without an operation. Returns false if it is only a part.
    EDDY_COLD bool arrived(io_result result) noexcept {
        if (!result) {
            begin();
            set_error(to_exception(result.error()));
            return true;
        }
        if constexpr (goes_on && is_small) {
            io_request whole = request();
            if (sender_.convert_.again(result, whole)) {
                request().skip(result.count());
                return false;
            }
        } else if constexpr (goes_on) {
            if (sender_.convert_.again(result, request())) {
                return false;
            }
        }
        begin();
        sender_.convert_(result, receiver{this});
        return true;
    }

    bool start(handle waiting) { return start_in(take_room(room::small), waiting); }
    [[gnu::noinline]] bool start_in(void* taken, handle waiting) noexcept {
        auto* const op = new (taken)
            task_io(&on_complete, request(),
                    takes_lease ? own_io::lease_is::taken : own_io::lease_is::left, this);
        const bool reads = reads_something();
        store& begun = begin();
        begun.room = op;
        begun.waiting = waiting.address();
        // A loop that ends refuses wait_for_data(), so stop requests are checked only after it.
        if (reads && op->wait_for_data(*waiting.promise().home())) [[likely]] {
            state() = io_wait_state::suspended;
            return true;
        }
        state() = io_wait_state::starting;
        return start_otherwise(*op, waiting);
    }
    [[gnu::noinline]] bool start_otherwise(task_io& op, handle waiting) noexcept {
        Promise& promise = waiting.promise();
        if (promise.stop_token().stop_requested()) [[unlikely]] {
            promise.end_stopped();
            return true;
        }
        if constexpr (prepares && !may_arrive_at_once) {
            if (!core(waiting).prepare(op)) {
                return false;
            }
        }
        op.start(*promise.home());
        if (state() == io_wait_state::starting) [[likely]] {
            state() = io_wait_state::suspended;
            return true;
        }
        if (state() != io_wait_state::stopped) {
            return false;
        }
        promise.end_stopped();  // this may be gone
        return true;
    }
    static void on_complete(io_operation& op) noexcept {
        auto& own = static_cast<task_io&>(op);
        of(own.wait).completed(own);
    }
    void completed(task_io& op) noexcept {
        const io_result result = op.result();
        if (!result) [[unlikely]] {
            ended_without(op, result);
            return;
        }
        if constexpr (goes_on) {
            if (sender_.convert_.again(result, op.mutable_request())) {
                go_on(op, result);
                return;
            }
        }
        const handle next = waiting();
        const bool inside_start = state() == io_wait_state::starting;
        if constexpr (takes_lease) {
            sender_.convert_(op.take_lease(), receiver{this});
        } else {
            deliver(this, result, *next.promise().home(), op);
        }
        give_back(op);
        if (!inside_start) {
            next.resume();
        }
    }

    EDDY_COLD void ended_without(task_io& op, io_result result) noexcept {
        core(waiting()).ended_without(op, result);
    }
    EDDY_COLD void go_on(task_io& op, io_result result) noexcept {
        core(waiting()).go_on(op, result);
    }
    /// Waits as for any other sender. A used-up sender also ends here, because it has the block of
    /// an operation, or null, in place of its loop.
    EDDY_COLD bool start_general(handle waiting) {
        EDDY_ASSERT(state() == io_wait_state::nothing,
                    "an I/O sender was awaited again: what was moved into a co_await is used up");
        loop* const home = sender_.call_.home;
        const io_request wanted = request();
        begin();
        return core(waiting).start_general(this, home, wanted);
    }
    /// Leaves the wait with a value and nothing else, or throws the error of the wait.
    EDDY_COLD void resume_otherwise() {
        if (is_general(state())) {
            io_wait_core::resume_general(stored().room);
        }
        if (has_error(state())) {
            std::rethrow_exception(std::move(stored().error));
        }
        io_wait_core::leave_general(stored().room);
        state() = io_wait_state::done;
    }
    EDDY_COLD void leave() noexcept {
        if (is_general(state())) {
            io_wait_core::leave_general(stored().room);
        } else if (state() == io_wait_state::starting || state() == io_wait_state::suspended) {
            io_wait_core::leave(*waiting().promise().home(), *static_cast<task_io*>(stored().room));
        }
        if (has_value(state())) {
            std::destroy_at(std::addressof(stored().value));
        } else if (has_error(state())) {
            std::destroy_at(&stored().error);
        }
        state() = after;
    }

    sender& sender_;
    [[no_unique_address]] place place_;
};

EDDY_EX_END

}  // namespace eddy::detail
