// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/compose/back_off.hpp>
#include <eddy/async/detail/compose/child_receiver.hpp>
#include <eddy/async/detail/compose/code_of.hpp>
#include <eddy/async/detail/compose/result_store.hpp>
#include <eddy/async/detail/compose/rounds.hpp>
#include <eddy/async/detail/task/loop_of.hpp>
#include <eddy/async/repeat.hpp>
#include <eddy/ex/detail/mistake.hpp>
#include <eddy/ex/operation_state.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/io/loop_scheduler.hpp>

#include <exception>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

namespace eddy {

/// The default predicate of retry(): every std::error_code is worth another try.
struct any_error_code {
    constexpr bool operator()(const std::error_code&) const noexcept { return true; }
};

namespace detail {
EDDY_EX_BEGIN

struct delay_child {};
using delay_sender = schedule_at_sender<loop_scheduler>;

template <class Child, class Env>
using retry_signatures_t =
    join_signatures_t<stored_signatures_t<ex::completion_signatures_of_t<Child, Env>>,
                      failure_signature, ex::completion_signatures<ex::set_stopped_t()>>;

/// The state of retry(), whose rounds are tries and, between them, delays.
template <class Operation, class Child, class Receiver, class Predicate>
class retry_state {
public:
    retry_state(Receiver&& receiver, const retry_policy& policy, Predicate&& predicate)
        : receiver_(static_cast<Receiver&&>(receiver)),
          predicate_(static_cast<Predicate&&>(predicate)),
          back_off_(policy) {}

    ex::env_of_t<Receiver> env_for(only_child) const noexcept { return ex::get_env(receiver_); }
    ex::env_of_t<Receiver> env_for(delay_child) const noexcept { return ex::get_env(receiver_); }

    template <class Tag, class... Args>
    void done(only_child, Tag tag, Args&&... args) noexcept {
        if (!plan_another(tag, args...)) result_.store(tag, static_cast<Args&&>(args)...);
        if (rounds_.end()) go_on();
    }
    template <class Tag>
    void done(delay_child, Tag tag) noexcept {
        if constexpr (std::is_same_v<Tag, ex::set_stopped_t>) result_.store(tag);
        delay_.reset();
        if (rounds_.end()) go_on();
    }

protected:
    void begin() noexcept {
        home_ = find_loop(ex::get_env(receiver_));
        go_on();
    }

private:
    void go_on() noexcept {
        rounds_.go_on([this]() noexcept { return another(); });
    }
    /// Starts the next try or delay. Returns false if the operation has completed instead.
    bool another() noexcept {
        auto& operation = static_cast<Operation&>(*this);
        if (result_.empty()) {
            try {
                if (delay_) {
                    operation.connect_delay(
                        loop_scheduler(&need_loop(home_)).schedule_after(*delay_));
                } else {
                    operation.connect_child();
                }
            } catch (...) {
                result_.store(ex::set_error_t{}, std::current_exception());
            }
        }
        if (!result_.empty()) {
            result_.deliver(receiver_);
            return false;
        }
        if (delay_) {
            operation.start_delay();
        } else {
            operation.start_child();
        }
        return true;
    }

    /// Plans another try, if the policy and the predicate allow one, or stores what the predicate
    /// throws. Returns false if it did neither: the child's result is final.
    template <class Tag, class... Args>
    bool plan_another(Tag, const Args&... args) noexcept {
        if constexpr (std::is_same_v<Tag, ex::set_error_t>) {
            try {
                if ((worth_another(args), ...)) delay_ = back_off_.next();
            } catch (...) {
                result_.store(ex::set_error_t{}, std::current_exception());
                return true;
            }
        }
        return delay_.has_value();
    }
    template <class Error>
    bool worth_another(const Error& error) {
        if constexpr (std::is_invocable_v<Predicate&, const Error&>) {
            return predicate_(error);
        } else if constexpr (std::is_same_v<Error, std::exception_ptr>) {
            const std::error_code code = code_of(error);
            return code && predicate_(code);
        } else {
            return false;
        }
    }

    Receiver receiver_;
    [[no_unique_address]] Predicate predicate_;
    back_off back_off_;
    std::optional<duration> delay_;  ///< if set, the next round is this delay
    loop* home_ = nullptr;
    rounds rounds_;
    result_store<retry_signatures_t<Child, ex::env_of_t<Receiver>>> result_;
};

template <class Factory, class Receiver, class Predicate>
class retry_operation : retry_state<retry_operation<Factory, Receiver, Predicate>,
                                    std::invoke_result_t<Factory&>, Receiver, Predicate> {
    using child = std::invoke_result_t<Factory&>;
    using state = retry_state<retry_operation, child, Receiver, Predicate>;
    using try_receiver = child_receiver<state, only_child>;
    using delay_receiver = child_receiver<state, delay_child>;
    using try_operation = ex::connect_result_t<child, try_receiver>;
    using delay_operation = ex::connect_result_t<delay_sender, delay_receiver>;

public:
    using operation_state_concept = ex::operation_state_tag;

    retry_operation(Factory&& factory, const retry_policy& policy, Predicate&& predicate,
                    Receiver&& r)
        : state(static_cast<Receiver&&>(r), policy, static_cast<Predicate&&>(predicate)),
          factory_(static_cast<Factory&&>(factory)) {}

    void start() & noexcept { this->begin(); }

private:
    friend state;
    void connect_child() {
        round_.reset();
        round_.template emplace_from<try_operation>(
            [this] { return ex::connect(factory_(), try_receiver{this}); });
    }
    void connect_delay(delay_sender delay) {
        round_.reset();
        round_.template emplace_from<delay_operation>(
            [&] { return ex::connect(std::move(delay), delay_receiver{this}); });
    }
    void start_child() noexcept { ex::start(round_.template get<try_operation>()); }
    void start_delay() noexcept { ex::start(round_.template get<delay_operation>()); }

    Factory factory_;
    ex::detail::choice<try_operation, delay_operation> round_;
};

template <class Factory, class Predicate>
class [[nodiscard]] retry_sender {
public:
    using sender_concept = ex::sender_tag;

    template <class Self, class Env>
    static consteval auto get_completion_signatures() {
        return retry_signatures_t<std::invoke_result_t<Factory&>, Env>{};
    }

    retry_sender(Factory factory, const retry_policy& policy, Predicate predicate)
        : factory_(static_cast<Factory&&>(factory)),
          policy_(policy),
          predicate_(static_cast<Predicate&&>(predicate)) {}

    template <ex::receiver Receiver>
    auto connect(Receiver receiver) && {
        return retry_operation<Factory, Receiver, Predicate>(
            static_cast<Factory&&>(factory_), policy_, static_cast<Predicate&&>(predicate_),
            static_cast<Receiver&&>(receiver));
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const& {
        return retry_sender(*this).connect(static_cast<Receiver&&>(receiver));
    }

private:
    [[no_unique_address]] Factory factory_;
    retry_policy policy_;
    [[no_unique_address]] Predicate predicate_;
};

EDDY_EX_END
}  // namespace detail

EDDY_EX_BEGIN

/// Runs the sender that `factory` returns. If it fails, retry waits and runs another one, as the
/// policy says. Completes as the last sender does.
///
///     co_await retry([&] { return tcp::connect(loop, address); }, {.tries_max = 10});
///
/// `worth_it(error)` decides which errors are worth another try: by default, every std::error_code.
/// A predicate that takes no exception_ptr gets the code of a std::system_error in it instead.
/// Errors that it cannot take are final. An exception of the factory or of `worth_it` is final too,
/// and is sent as an exception_ptr; so is a lack of memory for a delay.
///
/// Delays use the loop of the environment's scheduler, or else the loop on which the operation is
/// started. A stop ends the current try or delay. Allocates nothing.
struct retry_t {
    template <sender_factory Factory, class Predicate = any_error_code>
    auto operator()(Factory&& factory, retry_policy policy = {}, Predicate&& worth_it = {}) const {
        return detail::retry_sender<std::decay_t<Factory>, std::decay_t<Predicate>>(
            static_cast<Factory&&>(factory), policy, static_cast<Predicate&&>(worth_it));
    }
    /// Reports wrong arguments as a compile-time error in plain words.
    template <class Factory, class Predicate = any_error_code>
    void operator()(Factory&&, retry_policy = {}, Predicate&& = {}) const {
        static_assert(ex::detail::never<Factory>,
                      "retry: the first argument must be a function that returns a sender");
    }
};
inline constexpr retry_t retry{};

EDDY_EX_END
}  // namespace eddy
