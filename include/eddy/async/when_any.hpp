// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/compose/child_receiver.hpp>
#include <eddy/async/detail/compose/result_store.hpp>
#include <eddy/async/detail/compose/stop_join.hpp>
#include <eddy/ex/operation_state.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/io/detail/sender/sender_argument.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace eddy {
namespace detail {
EDDY_EX_BEGIN

template <class Env, class... Children>
using when_any_signatures_t = stored_signatures_t<
    join_signatures_t<ex::completion_signatures_of_t<Children, stoppable_env<Env>>...>>;

/// The state that the children of when_any() share.
///
///     running --a child has a value or an error--> decided: that is stored, the others are stopped
///     running --a child was stopped--> stopped: the others are stopped too
///     stopped --a child has a value or an error all the same--> decided
template <class Receiver, class... Children>
class when_any_state : public stop_join<when_any_state<Receiver, Children...>, Receiver> {
    enum class race : std::uint8_t { running, stopped, decided };
    using signatures = when_any_signatures_t<ex::env_of_t<Receiver>, Children...>;

public:
    explicit when_any_state(Receiver&& receiver) noexcept
        : stop_join<when_any_state, Receiver>(sizeof...(Children)),
          receiver_(static_cast<Receiver&&>(receiver)) {}

    auto env_for(only_child) const noexcept { return this->stoppable(); }

    template <class Tag, class... Args>
    void done(only_child, Tag tag, Args&&... args) noexcept {
        // relaxed: only one child decides, and arrive() publishes what it has stored.
        if constexpr (std::is_same_v<Tag, ex::set_stopped_t>) {
            auto expected = race::running;
            if (race_.compare_exchange_strong(expected, race::stopped, std::memory_order_relaxed)) {
                this->stop_children();
            }
        } else if (race_.exchange(race::decided, std::memory_order_relaxed) != race::decided) {
            result_.store(tag, static_cast<Args&&>(args)...);
            this->stop_children();
        }
        this->arrive();
    }

private:
    friend stop_join<when_any_state, Receiver>;

    void finish() noexcept {
        if constexpr (has_signature<ex::set_stopped_t(), signatures>) {
            if (result_.empty()) return ex::set_stopped(static_cast<Receiver&&>(receiver_));
        }
        result_.deliver(receiver_);
    }

    Receiver receiver_;
    std::atomic<race> race_ = race::running;
    result_store<signatures> result_;
};

template <class Receiver, class... Children>
class when_any_operation : when_any_state<Receiver, Children...> {
    using state = when_any_state<Receiver, Children...>;
    using receiver = child_receiver<state, only_child>;

public:
    using operation_state_concept = ex::operation_state_tag;

    explicit when_any_operation(Receiver&& r, Children&&... children)
        : state(static_cast<Receiver&&>(r)), children_(ex::detail::from_functions, [&] {
              return ex::connect(static_cast<Children&&>(children), receiver{this});
          }...) {}

    void start() & noexcept {
        this->watch();
        children_.apply([](auto&... operations) noexcept { (ex::start(operations), ...); });
    }

private:
    ex::detail::product<ex::connect_result_t<Children, receiver>...> children_;
};

template <class... Children>
class [[nodiscard]] when_any_sender {
public:
    using sender_concept = ex::sender_tag;

    template <class Self, class Env>
    static consteval auto get_completion_signatures() {
        return when_any_signatures_t<Env, Children...>{};
    }

    template <class... Senders>
    explicit when_any_sender(ex::detail::from_values_t from, Senders&&... senders)
        : children_(from, static_cast<Senders&&>(senders)...) {}

    template <ex::receiver Receiver>
    auto connect(Receiver receiver) && {
        return static_cast<ex::detail::product<Children...>&&>(children_).apply(
            [&](Children&&... children) {
                return when_any_operation<Receiver, Children...>(
                    static_cast<Receiver&&>(receiver), static_cast<Children&&>(children)...);
            });
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const& {
        return when_any_sender(*this).connect(static_cast<Receiver&&>(receiver));
    }

private:
    ex::detail::product<Children...> children_;
};

EDDY_EX_END
}  // namespace detail

EDDY_EX_BEGIN

/// Starts all senders, and completes with the result of the first to end. Before that, the others
/// are asked to stop and waited for.
///
///     auto line = co_await when_any(socket.read_some(buffer), quit.wait());
///
/// The possible values are those of all senders together, in any number. A sender that is stopped
/// also ends the race, but a value or an error of another sender goes before it. Results of the
/// others are destroyed: a socket that was accepted at the same time is closed. A stop of the
/// operation stops all senders. Allocates nothing.
struct when_any_t {
    template <ex::sender... Senders>
    auto operator()(Senders&&... senders) const {
        static_assert(sizeof...(Senders) != 0, "when_any: there must be at least one sender");
        return detail::when_any_sender<std::decay_t<Senders>...>(
            ex::detail::from_values, static_cast<Senders&&>(senders)...);
    }
    /// Reports wrong arguments as a compile-time error in plain words.
    template <class... Senders>
    void operator()(Senders&&...) const {
        detail::explain_arguments<Senders...>();
    }
};
inline constexpr when_any_t when_any{};

EDDY_EX_END
}  // namespace eddy
