#pragma once

#include <eddy/async/detail/sender_wait.hpp>
#include <eddy/async/detail/spare_room.hpp>
#include <eddy/async/detail/task_promise.hpp>
#include <eddy/base/config.hpp>
#include <eddy/ex/completions.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/own_io.hpp>

#include <concepts>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

/// The operation of a task that nobody but its loop can stop, on that loop.
struct task_io : own_io {
    task_io(callback on_complete, const io_request& request, lease_is how, void* awaiter,
            std::coroutine_handle<> handle) noexcept
        : own_io(on_complete, request, how), wait(awaiter), waiting(handle) {}

    void* wait;
    std::coroutine_handle<> waiting;
};

/// What the Convert of an awaited sender does, and where it is.
struct frame_calls {
    std::error_code (*prepare)(void* wait, io_request& request) noexcept;
    bool (*again)(void* wait, io_result result, io_request& request) noexcept;
    bool (*has_part)(void* wait) noexcept;
    void (*deliver)(void* wait, io_result result, loop& home, const io_operation& op) noexcept;
};

/// A Convert whose value goes into an io_wait. One for all, so that what is rare is compiled once.
struct into_frame {
    using signature = ex::set_value_t();

    std::error_code prepare(io_request& request) noexcept { return calls->prepare(wait, request); }
    bool again(io_result result, io_request& request) noexcept {
        return calls->again(wait, result, request);
    }
    bool has_part() const noexcept { return calls->has_part(wait); }
    template <class Receiver>
    void operator()(io_result result, Receiver&& receiver, loop& home,
                    const io_operation& op) noexcept {
        calls->deliver(wait, result, home, op);
        ex::set_value(std::forward<Receiver>(receiver));
    }

    void* wait;
    const frame_calls* calls;
};

/// An I/O sender that a task awaits. The frame keeps the sender and this; the operation has a room
/// outside while it is pending, because g++ 12 gives each co_await of a frame a place of its own.
///
/// Two kinds: `own_io`, where the task, its loop and the I/O are on this thread and only the end of
/// the loop can stop them; else the same as with any other sender.
///
///     nothing --own_io::transfer_now()--> nothing, with a result
///     nothing --own_io--> starting --result, or stopped--> done, stopped
///                         starting --would block--> suspended --result--> done, resumed
///     nothing --else--> general
template <class Convert, class Request, class Promise>
class io_wait<io_sender<Convert, Request>, Promise> {
    using sender = io_sender<Convert, Request>;
    using handle = std::coroutine_handle<Promise>;
    using general_wait = sender_wait<io_sender<into_frame>>;
    using value = awaited_t<sender>;

public:
    /// Lifetime: `awaited` lives in the frame as long as this.
    explicit io_wait(sender& awaited) noexcept : sender_(awaited) {}
    io_wait(const io_wait&) = delete;
    io_wait& operator=(const io_wait&) = delete;
    ~io_wait() {
        if (room_ != nullptr) {
            leave();
        }
    }

    static bool await_ready() noexcept { return false; }
    bool await_suspend(handle waiting) {
        Promise& promise = waiting.promise();
        if (!is_own(promise)) [[unlikely]] {
            return start_general(promise, waiting);
        }
        if constexpr (may_arrive_at_once) {
            prepare(sender_.request_);
            if (arrives_at_once()) {
                return false;
            }
        }
        return start_own(promise, waiting);
    }
    value await_resume() {
        if (state_ == state::general) {
            static_cast<general_wait*>(room_)->await_resume();
        }
        return outcome_.take();
    }

private:
    enum class state : std::uint8_t { nothing, starting, suspended, done, stopped, general };
    static_assert(sizeof(task_io) <= room_sizes[0] && sizeof(general_wait) <= room_sizes[1]);

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

    /// To whom the result of a call is enough, and who says nothing before it that may fail.
    static constexpr bool may_arrive_at_once = std::same_as<Request, io_request> &&
                                               needs_no_operation<Convert, receiver> &&
                                               !requires(Convert & convert, io_request& request) {
        { convert.prepare(request) } -> std::same_as<std::error_code>;
    };
    static constexpr bool takes_lease = requires(Convert & convert, lease lent, io_wait* wait) {
        convert(std::move(lent), receiver{wait});
    };

    /// Whether own_io will do.
    bool is_own(const Promise& promise) const noexcept {
        const loop* const home = sender_.home_;
        return promise.stops_with_home() && home == promise.home() && home == loop::current();
    }

    // The Convert, whose functions are optional.
    template <class Wanted>
    std::error_code prepare(Wanted& request) noexcept {
        if constexpr (requires {
                          { sender_.convert_.prepare(request) } -> std::same_as<std::error_code>;
                      }) {
            return sender_.convert_.prepare(request);
        } else if constexpr (requires { sender_.convert_.prepare(request); }) {
            sender_.convert_.prepare(request);
        }
        return {};
    }
    template <class Wanted>
    bool again(io_result result, Wanted& request) noexcept {
        if constexpr (requires { sender_.convert_.again(result, request); }) {
            return sender_.convert_.again(result, request);
        } else {
            return false;
        }
    }
    bool has_part() noexcept {
        if constexpr (requires { sender_.convert_.has_part(); }) {
            return sender_.convert_.has_part();
        } else {
            return false;
        }
    }
    void deliver(io_result result, loop& home, const io_operation& op) noexcept {
        if constexpr (requires { sender_.convert_(result, receiver{this}, home, op); }) {
            sender_.convert_(result, receiver{this}, home, op);
        } else {
            sender_.convert_(result, receiver{this});
        }
    }

    /// A transfer need not have an operation. False: it needs one, perhaps for the rest.
    bool arrives_at_once() noexcept {
        io_result result;
        if (!may_be_cut<Convert>(sender_.request_) ||
            !own_io::transfer_now(*sender_.home_, sender_.request_, result)) {
            return false;
        }
        if (!result) [[unlikely]] {
            failed(result);
            return true;
        }
        if (again(result, sender_.request_)) {
            return false;
        }
        sender_.convert_(result, receiver{this});
        return true;
    }
    EDDY_COLD void failed(io_result result) noexcept {
        outcome_.set_error(to_exception(result.error()));
    }

    [[gnu::noinline]] bool start_own(Promise& promise, handle waiting) {
        if (promise.stop_token().stop_requested()) {
            promise.end_stopped();
            return true;
        }
        if constexpr (!may_arrive_at_once) {
            if (const std::error_code error = prepare(sender_.request_)) {
                outcome_.set_error(to_exception(error));
                return false;
            }
        }
        auto* const op = new (take_room(room::small))
            task_io(&on_complete, sender_.request_,
                    takes_lease ? own_io::lease_is::taken : own_io::lease_is::left, this, waiting);
        room_ = op;
        state_ = state::starting;
        op->start(*sender_.home_);
        if (state_ == state::starting) [[likely]] {
            state_ = state::suspended;
            return true;
        }
        if (state_ == state::done) {
            return false;
        }
        promise.end_stopped();  // this may be gone
        return true;
    }

    static handle handle_of(task_io& op) noexcept {
        return handle::from_address(op.waiting.address());
    }
    static void on_complete(io_operation& op) noexcept {
        auto& own = static_cast<task_io&>(op);
        static_cast<io_wait*>(own.wait)->completed(own);
    }
    void completed(task_io& op) noexcept {
        const io_result result = op.result();
        if (!result) {
            ended_without(op, result);
            return;
        }
        if (again(result, sender_.request_) &&
            !handle_of(op).promise().stop_token().stop_requested()) {
            go_on(op);
            return;
        }
        if constexpr (takes_lease) {
            sender_.convert_(op.take_lease(), receiver{this});
        } else {
            deliver(result, *sender_.home_, op);
        }
        arrived(op, false);
    }
    /// The same once more, unless its handle was closed between the two.
    EDDY_COLD void go_on(task_io& op) noexcept {
        if (op.lost_descriptor()) {
            outcome_.set_error(to_exception(std::make_error_code(std::errc::operation_canceled)));
            arrived(op, false);
        } else {
            sender_.home_->start(op, sender_.request_);
        }
    }
    EDDY_COLD void ended_without(task_io& op, io_result result) noexcept {
        if constexpr (takes_lease) {
            static_cast<void>(op.take_lease());
        }
        bool stopped = false;
        if (!op.was_canceled()) {
            failed(result);
        } else if (has_part()) {
            deliver(result, *sender_.home_, op);
        } else {
            stopped = true;
        }
        arrived(op, stopped);
    }
    /// Afterwards the task may be gone.
    void arrived(task_io& op, bool stopped) noexcept {
        const handle waiting = handle_of(op);
        give_back(op);
        if (std::exchange(state_, stopped ? state::stopped : state::done) == state::starting) {
            return;
        }
        if (stopped) {
            waiting.promise().end_stopped();
        } else {
            waiting.resume();
        }
    }
    void give_back(task_io& op) noexcept {
        room_ = nullptr;
        std::destroy_at(&op);
        give_room_back(room::small, &op);
    }

    EDDY_COLD bool start_general(Promise& promise, handle waiting) {
        static constexpr frame_calls calls = {
            [](void* wait, io_request& request) noexcept {
                return static_cast<io_wait*>(wait)->prepare(request);
            },
            [](void* wait, io_result result, io_request& request) noexcept {
                return static_cast<io_wait*>(wait)->again(result, request);
            },
            [](void* wait) noexcept { return static_cast<io_wait*>(wait)->has_part(); },
            [](void* wait, io_result result, loop& home, const io_operation& op) noexcept {
                static_cast<io_wait*>(wait)->deliver(result, home, op);
            }};
        auto* const wait = new (take_room(room::large))
            general_wait(io_sender<into_frame>(sender_.home_, sender_.request_, {this, &calls}),
                         promise, waiting);
        room_ = wait;
        state_ = state::general;
        return wait->await_suspend(waiting);
    }
    EDDY_COLD void leave() noexcept {
        if (state_ == state::general) {
            std::destroy_at(static_cast<general_wait*>(room_));
            give_room_back(room::large, room_);
        } else {
            auto& op = *static_cast<task_io*>(room_);
            if (op.pending()) {
                sender_.home_->abandon(op);
            }
            give_back(op);
        }
    }

    sender& sender_;
    void* room_ = nullptr;
    [[no_unique_address]] outcome<value> outcome_;
    state state_ = state::nothing;
};

EDDY_EX_END

}  // namespace eddy::detail
