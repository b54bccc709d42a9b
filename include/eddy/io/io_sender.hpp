// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/detail/stop_callback.hpp>
#include <eddy/ex/operation_state.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/io/detail/sender/error_subject.hpp>
#include <eddy/io/loop_scheduler.hpp>
#include <eddy/loop/detail/stoppable_io.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <type_traits>
#include <utility>

namespace eddy {

EDDY_EX_BEGIN

/// The Convert whose value is the number of bytes that were moved.
///
/// A Convert turns the result of a successful operation into a value:
///
///     using signature = ex::set_value_t(T...);
///     void operator()(io_result, Receiver&&) noexcept;    // set_value, or set_error; may also
///                                                         // take loop&, const io_operation&
///     std::error_code prepare(io_request&) noexcept;      // optional; may return void
///     bool again(io_result, io_request&) noexcept;        // optional
///     bool has_part() const noexcept;                     // optional
///     static constexpr bool takes_parts = true;           // optional
///     error_subject subject() noexcept;                   // optional, once: names the operation
///                                                         // in the exception of its error
///     static constexpr bool waits_in_frame = true;        // optional
///
/// - prepare() is called on the thread that starts the operation, on the Convert in the operation
///   state. The request may be made to point into it. An error of prepare() is the error of the
///   operation.
/// - again() is called after each success, on the loop's thread, and may change the request. True
///   performs it once more, unless a stop was requested. In a request for `all`, the data, size and
///   offset may have been advanced over a part.
/// - has_part(): true if a stopped operation delivers a value, of the parts done so far.
/// - takes_parts: again() also sees parts of a request for `all`, and continues behind them.
/// - waits_in_frame: a task that awaits the sender keeps the operation in its frame, so the wait
///   allocates nothing and cannot fail for lack of memory.
struct as_count {
    using signature = ex::set_value_t(std::size_t);

    template <class Receiver>
    void operator()(io_result result, Receiver&& receiver) const noexcept {
        ex::set_value(std::forward<Receiver>(receiver), result.count());
    }
};

/// The Convert of operations without a value.
struct as_void {
    using signature = ex::set_value_t();

    template <class Receiver>
    void operator()(io_result, Receiver&& receiver) const noexcept {
        ex::set_value(std::forward<Receiver>(receiver));
    }
};

EDDY_EX_END

}  // namespace eddy

namespace eddy::detail {

EDDY_EX_BEGIN

/// The awaiter of tasks that await an io_sender. It is cheaper than connect().
template <class Sender, class Promise>
class io_wait;

enum class io_wait_state : std::uint8_t;

/// The request of an io_sender, and the loop that performs it.
template <class Request>
struct io_call {
    loop* home;
    [[no_unique_address]] Request request;
    io_wait_state state;  ///< for a task that awaits the sender; stored in padding if there is any
};

/// A Convert that needs the result of a call, but neither the loop nor the operation.
template <class Convert, class Receiver>
concept needs_no_operation =
    requires(Convert& convert, io_result result, Receiver receiver) {
        convert(result, std::move(receiver));
    } && !requires(Convert& convert, io_result result, Receiver receiver, loop& home,
                   const io_operation& op) { convert(result, std::move(receiver), home, op); };
/// True if a partial transfer is acceptable: always, unless the request is for `all` and the
/// Convert cannot continue.
template <class Convert>
bool may_be_cut(const io_request& request) noexcept {
    if constexpr (requires { Convert::takes_parts; }) {
        return true;
    } else {
        return !request.all;
    }
}

template <class Convert, class Receiver>
class io_state : private stoppable_io {
public:
    using operation_state_concept = ex::operation_state_tag;

    io_state(loop* home, const io_request& request, Convert convert, Receiver receiver) noexcept
        : stoppable_io(home, request, &on_complete),
          convert_(std::move(convert)),
          receiver_(std::move(receiver)) {
        if constexpr (reads) {
            will_take_lease();
        }
    }
    io_state(const io_state&) = delete;
    io_state& operator=(const io_state&) = delete;

    void start() & noexcept {
        if (stop_requested(receiver_)) {
            ex::set_stopped(std::move(receiver_));
            return;
        }
        if (home() == nullptr) {
            fail(std::make_error_code(std::errc::bad_file_descriptor));
            return;
        }
        if constexpr (prepare_may_fail) {
            if (const std::error_code error = convert_.prepare(mutable_request())) {
                fail(error);
                return;
            }
        } else if constexpr (requires { convert_.prepare(mutable_request()); }) {
            convert_.prepare(mutable_request());
        }
        if (home() == loop::current()) {
            go();
            return;
        }
        go_elsewhere();
    }

private:
    static constexpr bool prepare_may_fail = requires(Convert& convert, io_request& request) {
        { convert.prepare(request) } -> std::same_as<std::error_code>;
    };

    /// True for a receive, which most likely has to wait.
    static constexpr bool reads = requires(Convert& convert, lease lent, Receiver receiver) {
        convert(std::move(lent), std::move(receiver));
    };

    /// Makes the call if it need not wait, else starts the operation. Thread: the loop's.
    void go() noexcept {
        if constexpr (needs_no_operation<Convert, Receiver>) {
            if (io_result result; may_be_cut<Convert>(request()) && transfer_here(result)) {
                const inline_call deeper(*home());
                completed_at_once(result);
                return;
            }
        }
        prepare();
        const bool there = reads ? start_reading_here() : start_here();
        if (!there) {
            on_stop_.arm(receiver_, *this);
        }
    }
    void completed_at_once(io_result result) noexcept {
        if (!result) {
            fail(result.error());
        } else if (goes_on(result)) {
            go_on();
        } else {
            deliver(result);
        }
    }
    EDDY_COLD void go_elsewhere() noexcept {
        prepare();
        // The operation may complete before start_elsewhere() returns: enable stopping first.
        on_stop_.arm(receiver_, *this);
        start_elsewhere();
    }
    /// Performs the request once more, unless the handle was closed after the last call.
    EDDY_COLD void go_on() noexcept {
        if (lost_descriptor()) {
            fail(std::make_error_code(std::errc::operation_canceled));
        } else {
            go();
        }
    }
    bool goes_on(io_result result) noexcept {
        if constexpr (requires { convert_.again(result, mutable_request()); }) {
            return convert_.again(result, mutable_request()) && !stop_requested(receiver_);
        } else {
            return false;
        }
    }

    void deliver(io_result result) noexcept {
        const io_operation& op = *this;
        if constexpr (reads) {
            convert_(take_lease(), std::move(receiver_));
        } else if constexpr (requires { convert_(result, std::move(receiver_), *home(), op); }) {
            convert_(result, std::move(receiver_), *home(), op);
        } else {
            convert_(result, std::move(receiver_));
        }
    }

    static void on_complete(io_operation& op) noexcept {
        auto& self = static_cast<io_state&>(static_cast<stoppable_io&>(op));
        self.on_stop_.disarm();
        self.stop_is_over();
        const io_result result = self.result();
        if (!result) {
            self.end_without(result);
        } else if (self.goes_on(result)) {
            self.go_on();
        } else {
            self.deliver(result);
        }
    }
    EDDY_COLD void end_without(io_result result) noexcept {
        if constexpr (reads) {
            static_cast<void>(take_lease());
        }
        if (was_canceled()) {
            end_stopped(result);
        } else {
            fail(result.error());
        }
    }
    EDDY_COLD void fail(std::error_code error) noexcept {
        if constexpr (requires { convert_.subject(); }) {
            const error_naming named(error, convert_.subject());
            ex::set_error(std::move(receiver_), error);
        } else {
            // An enclosing operation whose error was handled may still name its own subject.
            error_naming::forget();
            ex::set_error(std::move(receiver_), error);
        }
    }
    void end_stopped(io_result result) noexcept {
        if constexpr (requires { convert_.has_part(); }) {
            if (convert_.has_part()) {
                deliver(result);
                return;
            }
        }
        ex::set_stopped(std::move(receiver_));
    }

    [[no_unique_address]] Convert convert_;
    [[no_unique_address]] Receiver receiver_;
    /// First to be destroyed: a stop request must not arrive while the operation is taken back.
    [[no_unique_address]] stop_callback<Receiver, io_state> on_stop_;

    friend class stop_callback<Receiver, io_state>;
};

EDDY_EX_END

}  // namespace eddy::detail

namespace eddy {

EDDY_EX_BEGIN

/// One I/O operation as a sender. It completes on the thread of its loop, wherever it is started:
/// - with a value,
/// - with a std::error_code; `operation_canceled` if its handle was closed meanwhile,
/// - stopped, if a stop was requested or the loop ends. The operation is cancelled in the kernel; a
///   result that exists by then is delivered.
///
/// The sender itself allocates nothing; see task for an awaited sender. A task that awaits it as an
/// rvalue uses it up. The operation state may be destroyed on the loop's thread at any time, which
/// takes a pending operation back first.
///
/// `Request` is io_request, or a smaller type that is converted to it when the operation starts.
template <class Convert, class Request = io_request>
class [[nodiscard]] io_sender {
public:
    using sender_concept = ex::sender_tag;

    /// If `home` is null because the handle was empty, the sender fails with `bad_file_descriptor`.
    io_sender(loop* home, const Request& request, Convert convert = {}) noexcept
        : call_{home, request, {}}, convert_(std::move(convert)) {}

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return ex::completion_signatures<typename Convert::signature,
                                         ex::set_error_t(std::error_code), ex::set_stopped_t()>();
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) && noexcept {
        return detail::io_state<Convert, Receiver>(call_.home, call_.request, std::move(convert_),
                                                   std::move(receiver));
    }
    template <ex::receiver Receiver>
        requires std::is_copy_constructible_v<Convert>
    auto connect(Receiver receiver) const& noexcept {
        return detail::io_state<Convert, Receiver>(call_.home, call_.request, convert_,
                                                   std::move(receiver));
    }
    detail::completes_on_loop get_env() const noexcept { return {loop_scheduler(call_.home)}; }
    /// Returns a sender that completes where it is started, without a hop if that is this loop.
    template <class Self = io_sender>
    affine_sender<Self> affine() && {
        return affine_sender<Self>(std::move(*this));
    }
    template <class Self = io_sender>
    affine_sender<Self> affine() const& {
        return affine_sender<Self>(*this);
    }

private:
    detail::io_call<Request> call_;
    [[no_unique_address]] Convert convert_;

    template <class, class>
    friend class detail::io_wait;
};

EDDY_EX_END

}  // namespace eddy
