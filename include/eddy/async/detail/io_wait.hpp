#pragma once

#include <eddy/async/detail/io_wait_core.hpp>
#include <eddy/async/detail/sender_wait.hpp>
#include <eddy/async/detail/spare_room.hpp>
#include <eddy/async/detail/task_promise.hpp>
#include <eddy/base/config.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/own_io.hpp>

#include <concepts>
#include <coroutine>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

/// An I/O sender that a task awaits. The frame keeps the sender and this; the operation has a room
/// outside while it is pending, because g++ 12 gives each co_await of a frame a place of its own.
/// Here is what depends on the sender, and what happens with each receive; the rest is in
/// io_wait_core.
template <class Convert, class Request, class Promise>
class io_wait<io_sender<Convert, Request>, Promise> {
    using sender = io_sender<Convert, Request>;
    using handle = std::coroutine_handle<Promise>;
    using value = awaited_t<sender>;

public:
    /// Lifetime: `awaited` lives in the frame as long as this.
    explicit io_wait(sender& awaited) noexcept : sender_(awaited) {}
    io_wait(const io_wait&) = delete;
    io_wait& operator=(const io_wait&) = delete;
    ~io_wait() {
        if (room_ != nullptr) {
            io_wait_core::leave(sender_.home_, room_, state_);
        }
    }

    static bool await_ready() noexcept { return false; }
    bool await_suspend(handle waiting) {
        Promise& promise = waiting.promise();
        if (!is_own(promise)) [[unlikely]] {
            return start_general(promise, waiting);
        }
        if constexpr (may_arrive_at_once) {
            if constexpr (prepares && !is_small) {
                sender_.convert_.prepare(sender_.request_);
            }
            if (arrives_at_once()) {
                return false;
            }
        }
        return start(promise, waiting);
    }
    value await_resume() {
        if (state_ == io_wait_state::general) {
            io_wait_core::resume_general(room_);
        }
        return outcome_.take();
    }

private:
    struct receiver {
        using receiver_concept = ex::receiver_tag;
        io_wait* wait;

        template <class... Values>
        void set_value(Values&&... values) noexcept {
            wait->outcome_.set_value(static_cast<Values&&>(values)...);
        }
        template <class Error>
        EDDY_COLD void set_error(Error&& error) noexcept {
            wait->outcome_.set_error(to_exception(static_cast<Error&&>(error)));
        }
        void set_stopped() noexcept {}
    };

    // What the Convert has to say.
    static constexpr bool prepares = requires(Convert & convert, io_request& request) {
        convert.prepare(request);
    };
    static constexpr bool prepare_may_fail = requires(Convert & convert, io_request& request) {
        { convert.prepare(request) } -> std::same_as<std::error_code>;
    };
    static constexpr bool goes_on = requires(Convert & convert, io_request& request) {
        convert.again(io_result(), request);
    };
    static constexpr bool keeps_parts = requires(Convert & convert) { convert.has_part(); };
    static constexpr bool takes_lease = requires(Convert & convert, lease lent, io_wait* wait) {
        convert(std::move(lent), receiver{wait});
    };
    /// A request of a stream, which is cut to what one call moves when it becomes an io_request.
    static constexpr bool is_small = !std::same_as<Request, io_request>;
    /// To whom the result of a call is enough, and who says nothing before it that may fail.
    static constexpr bool may_arrive_at_once =
        needs_no_operation<Convert, receiver> && !prepare_may_fail &&
        requires(loop & home, Request& request, io_result& result) {
        own_io::transfer_now(home, request, result);
    };
    static_assert(!takes_lease || !prepares, "a receive that waits at once is not prepared");
    /// What most likely has to wait if it does not arrive at once.
    bool reads_something() const noexcept {
        if constexpr (std::same_as<Request, stream_request<direction::in, false>>) {
            return sender_.request_.size() != 0;
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
        if constexpr (needs_no_operation<Convert, receiver>) {
            self.sender_.convert_(result, receiver{&self});
        } else {
            self.sender_.convert_(result, receiver{&self}, home, op);
        }
    }
    static void fail(void* wait, std::exception_ptr error) noexcept {
        of(wait).outcome_.set_error(std::move(error));
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
        return made;
    }
    static constexpr io_wait_calls calls = make_calls();

    io_wait_core core(Promise& promise) noexcept {
        return {sender_.home_, room_, state_, promise, calls};
    }

    /// Whether a task_io will do.
    bool is_own(const Promise& promise) const noexcept {
        const loop* const home = sender_.home_;
        return promise.stops_with_home() && home == promise.home() && home == loop::current();
    }

    /// A transfer need not have an operation. False: it needs one, perhaps for the rest.
    bool arrives_at_once() noexcept {
        io_result result;
        if constexpr (is_small) {
            if (!own_io::transfer_now(*sender_.home_, sender_.request_, result)) {
                return false;
            }
            if (goes_on ? result.raw() == static_cast<std::int64_t>(sender_.request_.size())
                        : result.ok()) [[likely]] {
                outcome_.set_value(result.count());
                return true;
            }
        } else if (!may_be_cut<Convert>(sender_.request_) ||
                   !own_io::transfer_now(*sender_.home_, sender_.request_, result)) {
            return false;
        }
        return arrived(result);
    }
    /// False: only a part.
    EDDY_COLD bool arrived(io_result result) noexcept {
        if (!result) {
            receiver{this}.set_error(result.error());
            return true;
        }
        if constexpr (goes_on && is_small) {
            io_request request = sender_.request_;
            if (sender_.convert_.again(result, request)) {
                sender_.request_.skip(result.count());
                return false;
            }
        } else if constexpr (goes_on) {
            if (sender_.convert_.again(result, sender_.request_)) {
                return false;
            }
        }
        sender_.convert_(result, receiver{this});
        return true;
    }

    [[gnu::noinline]] bool start(Promise& promise, handle waiting) {
        auto* const op = new (take_room(room::small))
            task_io(&on_complete, sender_.request_,
                    takes_lease ? own_io::lease_is::taken : own_io::lease_is::left, this, waiting);
        room_ = op;
        // A loop at whose end the task is to be stopped lets nothing wait any more.
        if (reads_something() && op->wait_for_data(*sender_.home_)) [[likely]] {
            state_ = io_wait_state::suspended;
            return true;
        }
        return start_otherwise(promise, *op);
    }
    [[gnu::noinline]] bool start_otherwise(Promise& promise, task_io& op) {
        if (promise.stop_token().stop_requested()) [[unlikely]] {
            promise.end_stopped();
            return true;
        }
        state_ = io_wait_state::starting;
        if constexpr (prepares && !may_arrive_at_once) {
            if (!core(promise).prepare(op)) {
                return false;
            }
        }
        op.start(*sender_.home_);
        if (state_ == io_wait_state::starting) [[likely]] {
            state_ = io_wait_state::suspended;
            return true;
        }
        if (state_ == io_wait_state::done) {
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
        const handle waiting = handle::from_address(op.waiting.address());
        const io_result result = op.result();
        if (!result) [[unlikely]] {
            ended_without(op, result, waiting.promise());
            return;
        }
        if constexpr (goes_on) {
            if (sender_.convert_.again(result, op.mutable_request())) {
                go_on(op, result, waiting.promise());
                return;
            }
        }
        if constexpr (takes_lease) {
            sender_.convert_(op.take_lease(), receiver{this});
        } else {
            deliver(this, result, *sender_.home_, op);
        }
        room_ = nullptr;
        give_back(op);
        if (std::exchange(state_, io_wait_state::done) != io_wait_state::starting) {
            waiting.resume();
        }
    }

    EDDY_COLD bool start_general(Promise& promise, handle waiting) {
        return core(promise).start_general(this, sender_.request_, waiting);
    }
    EDDY_COLD void ended_without(task_io& op, io_result result, Promise& promise) noexcept {
        core(promise).ended_without(op, result);
    }
    EDDY_COLD void go_on(task_io& op, io_result result, Promise& promise) noexcept {
        core(promise).go_on(op, result);
    }

    sender& sender_;
    void* room_ = nullptr;
    [[no_unique_address]] outcome<value> outcome_;
    io_wait_state state_ = io_wait_state::nothing;
};

EDDY_EX_END

}  // namespace eddy::detail
