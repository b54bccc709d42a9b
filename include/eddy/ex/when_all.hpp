// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/connect.hpp>
#include <eddy/ex/detail/adaptor.hpp>
#include <eddy/ex/detail/choice.hpp>
#include <eddy/ex/detail/keepable.hpp>
#include <eddy/ex/detail/mistake.hpp>
#include <eddy/ex/detail/product.hpp>
#include <eddy/ex/get_stop_token.hpp>
#include <eddy/ex/inplace_stop_token.hpp>
#include <eddy/ex/just.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace eddy::ex {

namespace detail {

EDDY_EX_MISTAKE(when_all_ambiguous,
                "when_all: each sender must complete with at most one set of values; use "
                "when_all_with_variant");

/// The children's environment, whose token stops if the whole is stopped or a child fails or stops.
template <class Env>
using when_all_env = joined_env_t<prop<get_stop_token_t, inplace_stop_token>, Env>;

struct when_all_error_map {
    template <class Signature>
    struct apply : identity<completion_signatures<>> {};
    template <class Error>
    struct apply<set_error_t(Error)>
        : identity<completion_signatures<set_error_t(std::decay_t<Error>)>> {};
    template <class... None>
    struct apply<set_stopped_t(None...)> : identity<completion_signatures<set_stopped_t()>> {};
};

template <class... Ts>
using decayed_list = type_list<std::decay_t<Ts>...>;

template <class T>
using decayed_t = std::decay_t<T>;

template <class... Ts>
using set_value_of = set_value_t(Ts...);

/// Joins the signatures of all children into those of when_all.
template <class... Children>
consteval auto when_all_signatures() {
    if constexpr (!(is_signatures<Children> && ...)) {
        return join_signatures_t<Children...>{};
    } else if constexpr (((count_of<Children, set_value_t> > 1) || ...)) {
        return when_all_ambiguous{};
    } else if constexpr (!(keepable<Children, set_value_t, set_error_t> && ...)) {
        return not_keepable{};
    } else {
        using others = join_signatures_t<completion_signatures<>,
                                         map_signatures_t<Children, when_all_error_map>...,
                                         throws_if<!((stores_nothrow<Children, set_value_t> &&
                                                      stores_nothrow<Children, set_error_t>) &&
                                                     ...)>>;
        if constexpr (((count_of<Children, set_value_t> == 1) && ...)) {
            using values =
                concat_t<rename_t<gather_t<Children, set_value_t, decayed_list>, concat_t>...>;
            return join_signatures_t<completion_signatures<rename_t<values, set_value_of>>,
                                     others>{};
        } else {
            return others{};
        }
    }
}

template <class... Children>
using when_all_signatures_t = decltype(detail::when_all_signatures<Children...>());

/// Fails to compile, with a message for the first argument that cannot be a child.
template <class First, class... Others>
constexpr void explain_children() {
    if constexpr (sender<First>) {
        explain_children<Others...>();
    } else if constexpr (sender<std::remove_cvref_t<First>>) {
        static_assert(never<First>,
                      "when_all: a sender cannot be copied: is a std::move() missing?");
    } else {
        static_assert(never<First>,
                      "when_all: an argument is not a sender: it has no `using sender_concept = "
                      "ex::sender_tag`");
    }
}

/// The state that the children's operations share.
///
///     running  --a child stopped-->  stopped
///     running, stopped  --a child failed-->  failed
///
/// `pending_` counts the children that have not completed. The last one may complete inside
/// source_.request_stop(); that call permits the destruction of this object.
template <class Receiver, class... Signatures>
class when_all_state : immovable {
public:
    enum class ending { running, stopped, failed };

    static constexpr bool sends_stop = ((count_of<Signatures, set_stopped_t> != 0) || ...);
    static constexpr bool sends_values = ((count_of<Signatures, set_value_t> == 1) && ...);
    static constexpr bool stores_safely =
        ((stores_nothrow<Signatures, set_value_t> && stores_nothrow<Signatures, set_error_t>) &&
         ...);

    explicit when_all_state(Receiver&& receiver) noexcept
        : receiver_(static_cast<Receiver&&>(receiver)) {}

    when_all_env<env_of_t<Receiver>> env() const noexcept {
        return detail::join_env(prop{get_stop_token, source_.get_token()}, get_env(receiver_));
    }

    /// Listens for a stop. A stop requested earlier reaches the children when they are started.
    void begin() noexcept {
        on_stop_.emplace(get_stop_token(get_env(receiver_)), stop_all{&source_});
    }

    void arrive() noexcept {
        // acq_rel: the last child sees everything that the others stored.
        if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) finish();
    }

    template <std::size_t Index, class... Values>
    void child_done(set_value_t, Values&&... values) noexcept {
        if constexpr (sends_values) {
            auto& slot = element<Index>(values_);
            if constexpr (nothrow_decay_copyable<Values...>) {
                slot.emplace(from_values, static_cast<Values&&>(values)...);
            } else {
                try {
                    slot.emplace(from_values, static_cast<Values&&>(values)...);
                } catch (...) {
                    fail(std::current_exception());
                }
            }
        }
        arrive();
    }
    template <std::size_t Index, class Error>
    void child_done(set_error_t, Error&& error) noexcept {
        fail(static_cast<Error&&>(error));
        arrive();
    }
    template <std::size_t Index>
    void child_done(set_stopped_t) noexcept {
        stop();
        arrive();
    }

private:
    /// Passes a stop on to the children. They decide how the whole ends, and may still succeed.
    struct stop_all {
        inplace_stop_source* source;
        void operator()() noexcept { source->request_stop(); }
    };

    void stop() noexcept {
        auto expected = ending::running;
        // relaxed: published by arrive().
        if (ending_.compare_exchange_strong(expected, ending::stopped, std::memory_order_relaxed)) {
            source_.request_stop();
        }
    }

    template <class Error>
    void fail(Error&& error) noexcept {
        // relaxed: published by arrive(). Only one thread stores its error.
        const auto before = ending_.exchange(ending::failed, std::memory_order_relaxed);
        if (before == ending::failed) return;
        using stored = std::decay_t<Error>;
        if constexpr (nothrow_decay_copyable<Error>) {
            errors_.template emplace<stored>(static_cast<Error&&>(error));
        } else {
            try {
                errors_.template emplace<stored>(static_cast<Error&&>(error));
            } catch (...) {
                errors_.template emplace<std::exception_ptr>(std::current_exception());
            }
        }
        if (before == ending::running) source_.request_stop();
    }

    void finish() noexcept {
        on_stop_.reset();
        const auto how = ending_.load(std::memory_order_relaxed);
        if (how == ending::failed) {
            errors_.visit([this]<class Error>(Error& error) noexcept {
                set_error(static_cast<Receiver&&>(receiver_), static_cast<Error&&>(error));
            });
            return;
        }
        if constexpr (sends_stop) {
            if (how == ending::stopped) {
                set_stopped(static_cast<Receiver&&>(receiver_));
                return;
            }
        }
        if constexpr (sends_values) deliver<0>();
    }

    /// Collects references to all children's values recursively, and then sends them.
    template <std::size_t Index, class... Values>
    void deliver(Values&&... values) noexcept {
        if constexpr (Index == sizeof...(Signatures)) {
            set_value(static_cast<Receiver&&>(receiver_), static_cast<Values&&>(values)...);
        } else {
            std::move(*element<Index>(values_)).apply([&]<class... More>(More&&... more) noexcept {
                deliver<Index + 1>(static_cast<Values&&>(values)..., static_cast<More&&>(more)...);
            });
        }
    }

    template <class List>
    using slot_of = std::optional<
        rename_t<rename_t<gather_t<List, set_value_t, decayed_list>, concat_t>, product>>;
    using error_list =
        concat_t<gather_t<Signatures, set_error_t, decayed_t>...,
                 std::conditional_t<stores_safely, type_list<>, type_list<std::exception_ptr>>>;

    Receiver receiver_;
    std::atomic<std::size_t> pending_{sizeof...(Signatures)};
    std::atomic<ending> ending_{ending::running};
    inplace_stop_source source_;
    rename_t<distinct_t<error_list>, choice> errors_;
    [[no_unique_address]] std::conditional_t<sends_values, product<slot_of<Signatures>...>,
                                             product<>> values_;
    std::optional<stop_callback_for_t<stop_token_of_t<env_of_t<Receiver>>, stop_all>> on_stop_;
};

template <class State, std::size_t Index>
struct when_all_receiver {
    using receiver_concept = receiver_tag;
    State* state;

    template <class... Values>
    void set_value(Values&&... values) noexcept {
        state->template child_done<Index>(set_value_t{}, static_cast<Values&&>(values)...);
    }
    template <class Error>
    void set_error(Error&& error) noexcept {
        state->template child_done<Index>(set_error_t{}, static_cast<Error&&>(error));
    }
    void set_stopped() noexcept { state->template child_done<Index>(set_stopped_t{}); }
    auto get_env() const noexcept { return state->env(); }
};

template <class Receiver, class... Children>
using when_all_state_for =
    when_all_state<Receiver, signatures_or_mistake<Children, when_all_env<env_of_t<Receiver>>>...>;

template <class Receiver, class... Children>
consteval bool when_all_connects() {
    using state = when_all_state_for<Receiver, Children...>;
    return []<std::size_t... Is>(std::index_sequence<Is...>) {
        return (std::is_invocable_v<connect_unchecked_t, Children, when_all_receiver<state, Is>> &&
                ...);
    }(std::index_sequence_for<Children...>{});
}

template <class Indices, class Receiver, class... Children>
class when_all_operation;

template <std::size_t... Is, class Receiver, class... Children>
class when_all_operation<std::index_sequence<Is...>, Receiver, Children...>
    : when_all_state_for<Receiver, Children...> {
    using state = when_all_state_for<Receiver, Children...>;

public:
    using operation_state_concept = operation_state_tag;

    explicit when_all_operation(Receiver&& receiver, Children&&... children) noexcept(
        (connects_nothrow<Children, when_all_receiver<state, Is>> && ...))
        : state(static_cast<Receiver&&>(receiver)),
          children_(from_functions,
                    [&]() noexcept(connects_nothrow<Children, when_all_receiver<state, Is>>) {
                        return connect_unchecked(static_cast<Children&&>(children),
                                                 when_all_receiver<state, Is>{this});
                    }...) {}

    void start() & noexcept {
        this->begin();
        children_.apply([](auto&... operations) noexcept { (operations.start(), ...); });
    }

private:
    product<operation_of<Children, when_all_receiver<state, Is>>...> children_;
};

template <class... Children>
struct when_all_sender : connected_as_it_is<when_all_sender<Children...>> {
    using sender_concept = sender_tag;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return when_all_signatures_t<
            signatures_or_mistake<like_t<Self, Children>, when_all_env<Env>...>...>{};
    }

    template <class Self, class Receiver>
    using operation = when_all_operation<std::index_sequence_for<Children...>, Receiver,
                                         like_t<Self, Children>...>;

    template <class Self, class Receiver>
        requires(detail::when_all_connects<Receiver, like_t<Self, Children>...>())
    static auto connect_as(Self&& self, Receiver&& receiver) noexcept(
        std::is_nothrow_constructible_v<operation<Self, Receiver>, Receiver,
                                        like_t<Self, Children>...>) {
        return part_of<Self>(self.children).apply([&](like_t<Self, Children>&&... each) {
            return operation<Self, Receiver>(static_cast<Receiver&&>(receiver),
                                             static_cast<like_t<Self, Children>&&>(each)...);
        });
    }

    product<Children...> children;
};

}  // namespace detail

/// Starts several senders, and completes with all their values when all of them have completed. If
/// one fails or stops, the others are asked to stop.
struct when_all_t {
    template <sender... Senders>
        requires(sizeof...(Senders) != 0)
    constexpr auto operator()(Senders&&... senders) const {
        using result = detail::when_all_sender<std::remove_cvref_t<Senders>...>;
        detail::check_early<result>();
        return result{{},
                      detail::product<std::remove_cvref_t<Senders>...>(
                          detail::from_values, static_cast<Senders&&>(senders)...)};
    }
    /// Never compiles: explains which argument is wrong.
    template <class... Senders>
        requires(!(sender<Senders> && ...))
    constexpr auto operator()(Senders&&...) const -> decltype(just()) {
        detail::explain_children<Senders...>();
        return just();
    }
};
inline constexpr when_all_t when_all{};

}  // namespace eddy::ex

#endif
