// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/compose/child_receiver.hpp>
#include <eddy/async/detail/compose/result_store.hpp>
#include <eddy/async/detail/compose/stop_join.hpp>
#include <eddy/async/detail/compose/time_limit.hpp>
#include <eddy/async/detail/task/loop_of.hpp>
#include <eddy/base/clock.hpp>
#include <eddy/ex/detail/mistake.hpp>
#include <eddy/ex/operation_state.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/ex/sender_adaptor_closure.hpp>

#include <system_error>
#include <type_traits>
#include <utility>

namespace eddy {
namespace detail {
EDDY_EX_BEGIN

template <class Child, class Env>
using child_results_t =
    stored_signatures_t<ex::completion_signatures_of_t<Child, stoppable_env<Env>>>;

/// The state of timeout(), with two parties: the child and the time limit. The limit arrives when
/// it has passed, or when it was taken back on its loop.
template <class Child, class Receiver>
class timeout_state : public stop_join<timeout_state<Child, Receiver>, Receiver>, time_limit {
    using join = stop_join<timeout_state, Receiver>;
    using results = child_results_t<Child, ex::env_of_t<Receiver>>;

public:
    explicit timeout_state(Receiver&& receiver) noexcept
        : join(2), time_limit(&limit_over), receiver_(static_cast<Receiver&&>(receiver)) {}

    auto env_for(only_child) const noexcept { return this->stoppable(); }

    template <class Tag, class... Args>
    void done(only_child, Tag tag, Args&&... args) noexcept {
        if constexpr (!std::is_same_v<Tag, ex::set_stopped_t>) {
            result_.store(tag, static_cast<Args&&>(args)...);
        }
        switch (claim()) {
            case claimed::nothing:
                this->arrive();
                break;
            case claimed::here:
                this->arrive();
                this->arrive();
                break;
            case claimed::elsewhere:
                this->arrive();  // not the last: the limit arrives on its loop
                bring_back();
                break;
        }
    }

protected:
    /// Arms the limit. Returns false, and completes, if there is no memory for a timer.
    [[nodiscard]] bool begin(when limit) noexcept {
        if (!make_timer(need_loop(find_loop(ex::get_env(receiver_))))) {
            ex::set_error(static_cast<Receiver&&>(receiver_),
                          std::make_error_code(std::errc::not_enough_memory));
            return false;
        }
        this->watch();
        arm(limit.from_now());
        return true;
    }

private:
    friend join;

    static void limit_over(time_limit& limit, ending how) noexcept {
        auto& self = static_cast<timeout_state&>(limit);
        if (how != ending::taken_back) {
            self.timed_out_ = how == ending::due && !self.stop_requested();
            self.stop_children();
        }
        self.arrive();
    }

    void finish() noexcept {
        if (result_.empty() && timed_out_) {
            return ex::set_error(static_cast<Receiver&&>(receiver_),
                                 make_error_code(errc::timed_out));
        }
        if constexpr (has_signature<ex::set_stopped_t(), results>) {
            if (result_.empty()) return ex::set_stopped(static_cast<Receiver&&>(receiver_));
        }
        result_.deliver(receiver_);
    }

    Receiver receiver_;
    bool timed_out_ = false;
    result_store<results> result_;
};

template <class Child, class Receiver>
class timeout_operation : timeout_state<Child, Receiver> {
    using state = timeout_state<Child, Receiver>;
    using receiver = child_receiver<state, only_child>;

public:
    using operation_state_concept = ex::operation_state_tag;

    timeout_operation(Child&& child, when limit, Receiver&& r)
        : state(static_cast<Receiver&&>(r)),
          limit_(limit),
          child_(ex::connect(static_cast<Child&&>(child), receiver{this})) {}

    void start() & noexcept {
        if (this->begin(limit_)) ex::start(child_);
    }

private:
    when limit_;
    ex::connect_result_t<Child, receiver> child_;
};

template <class Child>
class [[nodiscard]] timeout_sender {
public:
    using sender_concept = ex::sender_tag;

    template <class Self, class Env>
    static consteval auto get_completion_signatures() {
        return join_signatures_t<child_results_t<Child, Env>,
                                 ex::completion_signatures<ex::set_error_t(std::error_code)>>{};
    }

    timeout_sender(Child child, when limit) : child_(static_cast<Child&&>(child)), limit_(limit) {}

    template <ex::receiver Receiver>
    auto connect(Receiver receiver) && {
        return timeout_operation<Child, Receiver>(static_cast<Child&&>(child_), limit_,
                                                  static_cast<Receiver&&>(receiver));
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const& {
        return timeout_sender(*this).connect(static_cast<Receiver&&>(receiver));
    }

private:
    [[no_unique_address]] Child child_;
    when limit_;
};

/// True for the arguments of timeout() or deadline(): a sender and a limit, or a limit alone.
template <class Limit, class... Args>
inline constexpr bool limit_arguments = false;
template <class Limit, class Only>
inline constexpr bool limit_arguments<Limit, Only> = std::is_convertible_v<Only, Limit>;
template <class Limit, class Sender, class Last>
inline constexpr bool limit_arguments<Limit, Sender, Last> =
    ex::sender<Sender> && std::is_convertible_v<Last, Limit>;

struct timeout_closure : ex::sender_adaptor_closure<timeout_closure> {
    explicit timeout_closure(when l) noexcept : limit(l) {}

    template <ex::sender Sender>
    auto operator()(Sender&& sender) const {
        return timeout_sender<std::decay_t<Sender>>(static_cast<Sender&&>(sender), limit);
    }
    when limit;
};

EDDY_EX_END
}  // namespace detail

EDDY_EX_BEGIN

/// Completes as `sender` does, or with the error errc::timed_out if the time passes first. The
/// sender is then asked to stop and waited for. If it still completes with a value or an error,
/// that is the result.
///
///     auto n = co_await timeout(socket.read_some(buffer), 5s);
///     auto m = co_await (socket.read_some(buffer) | timeout(5s));
///
/// The time begins when the operation is started. A stop of the operation stops the sender. So does
/// a drain of the loop, after which there are no timers. The timer belongs to the loop of the
/// environment's scheduler, or else to the loop on which the operation is started. The operation
/// completes on that loop or, after the time has passed, where the sender completes. Errors:
/// not_enough_memory if there is no memory for a timer.
struct timeout_t {
    template <ex::sender Sender>
    auto operator()(Sender&& sender, duration limit) const {
        return (*this)(limit)(static_cast<Sender&&>(sender));
    }
    detail::timeout_closure operator()(duration limit) const noexcept {
        return detail::timeout_closure(detail::when(limit));
    }
    /// Reports wrong arguments as a compile-time error in plain words.
    template <class... Args>
        requires(!detail::limit_arguments<duration, Args...>)
    void operator()(Args&&...) const {
        static_assert(ex::detail::never<Args...>,
                      "timeout: the arguments must be a sender (if it is a task with a name, "
                      "std::move() it) and a duration, or behind `|` a duration alone");
    }
};
inline constexpr timeout_t timeout{};

/// Completes as `sender` does, or with the error errc::timed_out if the time `end` comes first. In
/// all other respects like timeout().
///
///     const auto end = clock::now() + 5s;
///     co_await deadline(socket.read(header), end);
struct deadline_t {
    template <ex::sender Sender>
    auto operator()(Sender&& sender, time_point end) const {
        return (*this)(end)(static_cast<Sender&&>(sender));
    }
    detail::timeout_closure operator()(time_point end) const noexcept {
        return detail::timeout_closure(detail::when(end));
    }
    /// Reports wrong arguments as a compile-time error in plain words.
    template <class... Args>
        requires(!detail::limit_arguments<time_point, Args...>)
    void operator()(Args&&...) const {
        static_assert(ex::detail::never<Args...>,
                      "deadline: the arguments must be a sender (if it is a task with a name, "
                      "std::move() it) and a time_point, or behind `|` a time_point alone");
    }
};
inline constexpr deadline_t deadline{};

EDDY_EX_END
}  // namespace eddy
