// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/compose/child_receiver.hpp>
#include <eddy/async/detail/compose/result_store.hpp>
#include <eddy/async/detail/compose/rounds.hpp>
#include <eddy/ex/detail/mistake.hpp>
#include <eddy/ex/get_stop_token.hpp>
#include <eddy/ex/operation_state.hpp>
#include <eddy/ex/sender.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace eddy {
namespace detail {
EDDY_EX_BEGIN

/// The completions that end the repetition: an error of a child or of the factory, or a stop.
template <class Child, class Env>
using repeat_endings_t =
    join_signatures_t<stored_signatures_t<only_signatures_t<
                          ex::completion_signatures_of_t<Child, Env>, ex::set_error_t>>,
                      failure_signature, ex::completion_signatures<ex::set_stopped_t()>>;

template <class Operation, class Child, class Receiver, bool Until>
class repeat_state {
public:
    explicit repeat_state(Receiver&& receiver) noexcept
        : receiver_(static_cast<Receiver&&>(receiver)) {}

    ex::env_of_t<Receiver> env_for(only_child) const noexcept { return ex::get_env(receiver_); }

    template <class Tag, class... Args>
    void done(only_child, Tag tag, Args&&... args) noexcept {
        if constexpr (!std::is_same_v<Tag, ex::set_value_t>) {
            ending_.store(tag, static_cast<Args&&>(args)...);
        } else if constexpr (Until) {
            static_assert(
                sizeof...(Args) == 1,
                "repeat_until: each sender must send one value, which is taken as a bool");
            try {
                finished_ = (static_cast<bool>(static_cast<Args&&>(args)), ...);
            } catch (...) {
                ending_.store(ex::set_error_t{}, std::current_exception());
            }
        }
        if (rounds_.end()) go_on();
    }

protected:
    void go_on() noexcept {
        rounds_.go_on([this]() noexcept { return another(); });
    }

private:
    /// Starts the next child. Returns false if the repetition has completed instead.
    bool another() noexcept {
        if constexpr (Until) {
            if (finished_) {
                ex::set_value(static_cast<Receiver&&>(receiver_));
                return false;
            }
        }
        if (ending_.empty() && ex::get_stop_token(ex::get_env(receiver_)).stop_requested()) {
            ending_.store(ex::set_stopped_t{});
        }
        if (ending_.empty()) {
            try {
                static_cast<Operation&>(*this).connect_child();
            } catch (...) {
                ending_.store(ex::set_error_t{}, std::current_exception());
            }
        }
        if (!ending_.empty()) {
            ending_.deliver(receiver_);
            return false;
        }
        static_cast<Operation&>(*this).start_child();
        return true;
    }

    Receiver receiver_;
    rounds rounds_;
    bool finished_ = false;
    result_store<repeat_endings_t<Child, ex::env_of_t<Receiver>>> ending_;
};

template <class Factory, class Receiver, bool Until>
class repeat_operation : repeat_state<repeat_operation<Factory, Receiver, Until>,
                                      std::invoke_result_t<Factory&>, Receiver, Until> {
    using child = std::invoke_result_t<Factory&>;
    using state = repeat_state<repeat_operation, child, Receiver, Until>;
    using receiver = child_receiver<state, only_child>;
    using child_operation = ex::connect_result_t<child, receiver>;

public:
    using operation_state_concept = ex::operation_state_tag;

    repeat_operation(Factory&& factory, Receiver&& r)
        : state(static_cast<Receiver&&>(r)), factory_(static_cast<Factory&&>(factory)) {}

    void start() & noexcept { this->go_on(); }

private:
    friend state;
    void connect_child() {
        child_.reset();
        child_.template emplace_from<child_operation>(
            [this] { return ex::connect(factory_(), receiver{this}); });
    }
    void start_child() noexcept { ex::start(child_.template get<child_operation>()); }

    Factory factory_;
    ex::detail::choice<child_operation> child_;
};

template <class Factory, bool Until>
class [[nodiscard]] repeat_sender {
public:
    using sender_concept = ex::sender_tag;

    template <class Self, class Env>
    static consteval auto get_completion_signatures() {
        using endings = repeat_endings_t<std::invoke_result_t<Factory&>, Env>;
        if constexpr (Until) {
            return join_signatures_t<ex::completion_signatures<ex::set_value_t()>, endings>{};
        } else {
            return endings{};
        }
    }

    explicit repeat_sender(Factory factory) : factory_(static_cast<Factory&&>(factory)) {}

    template <ex::receiver Receiver>
    auto connect(Receiver receiver) && {
        return repeat_operation<Factory, Receiver, Until>(static_cast<Factory&&>(factory_),
                                                          static_cast<Receiver&&>(receiver));
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const& {
        return repeat_sender(*this).connect(static_cast<Receiver&&>(receiver));
    }

private:
    [[no_unique_address]] Factory factory_;
};

EDDY_EX_END
}  // namespace detail

EDDY_EX_BEGIN

template <class Factory>
concept sender_factory = std::is_invocable_v<std::decay_t<Factory>&> &&
                         ex::sender<std::invoke_result_t<std::decay_t<Factory>&>>;

/// Runs the senders that `factory` returns one after another, until one fails or is stopped, or the
/// repetition itself is stopped. Values are dropped. An exception of the factory is sent as an
/// exception_ptr.
///
///     co_await repeat([&] { return acceptor.accept() | ex::then(serve); });
///
/// Senders that complete inside their start do not grow the stack, however many they are, but
/// nothing else runs on this thread meanwhile. Allocates nothing.
struct repeat_t {
    template <sender_factory Factory>
    auto operator()(Factory&& factory) const {
        return detail::repeat_sender<std::decay_t<Factory>, false>(static_cast<Factory&&>(factory));
    }
    /// Reports a wrong argument as a compile-time error in plain words.
    template <class Factory>
    void operator()(Factory&&) const {
        static_assert(ex::detail::never<Factory>,
                      "repeat: the argument must be a function that returns a sender");
    }
};
inline constexpr repeat_t repeat{};

/// Runs the senders that `factory` returns one after another, until the one value of a sender
/// converts to true; completes without a value then. In all other respects like repeat.
///
///     co_await repeat_until([&] { return poll_status() | ex::then(is_ready); });
struct repeat_until_t {
    template <sender_factory Factory>
    auto operator()(Factory&& factory) const {
        return detail::repeat_sender<std::decay_t<Factory>, true>(static_cast<Factory&&>(factory));
    }
    /// Reports a wrong argument as a compile-time error in plain words.
    template <class Factory>
    void operator()(Factory&&) const {
        static_assert(ex::detail::never<Factory>,
                      "repeat_until: the argument must be a function that returns a sender");
    }
};
inline constexpr repeat_until_t repeat_until{};

EDDY_EX_END
}  // namespace eddy
