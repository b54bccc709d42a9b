// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/compose/child_receiver.hpp>
#include <eddy/async/detail/compose/result_store.hpp>
#include <eddy/ex/get_stop_token.hpp>
#include <eddy/ex/operation_state.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/ex/stop_token.hpp>
#include <eddy/io/detail/sender/sender_argument.hpp>

#include <type_traits>
#include <utility>

namespace eddy {
namespace detail {
EDDY_EX_BEGIN

struct cleanup_child {};

template <class Env>
using unstoppable_env = ex::env<ex::prop<ex::get_stop_token_t, ex::never_stop_token>, Env>;

template <class Child, class Env>
using kept_signatures_t = stored_signatures_t<ex::completion_signatures_of_t<Child, Env>>;

template <class Child, class Cleanup, class Env>
using finally_signatures_t = join_signatures_t<
    kept_signatures_t<Child, Env>,
    only_signatures_t<ex::completion_signatures_of_t<Cleanup, unstoppable_env<Env>>,
                      ex::set_error_t>>;

template <class Operation, class Child, class Receiver>
class finally_state {
public:
    explicit finally_state(Receiver&& receiver) noexcept
        : receiver_(static_cast<Receiver&&>(receiver)) {}

    ex::env_of_t<Receiver> env_for(only_child) const noexcept { return ex::get_env(receiver_); }
    unstoppable_env<ex::env_of_t<Receiver>> env_for(cleanup_child) const noexcept {
        return {ex::prop<ex::get_stop_token_t, ex::never_stop_token>{}, ex::get_env(receiver_)};
    }

    template <class Tag, class... Args>
    void done(only_child, Tag tag, Args&&... args) noexcept {
        result_.store(tag, static_cast<Args&&>(args)...);
        static_cast<Operation&>(*this).clean_up();
    }
    template <class Tag, class... Args>
    void done(cleanup_child, Tag tag, Args&&... args) noexcept {
        if constexpr (std::is_same_v<Tag, ex::set_error_t>) {
            tag(static_cast<Receiver&&>(receiver_), static_cast<Args&&>(args)...);
        } else {
            result_.deliver(receiver_);
        }
    }

private:
    Receiver receiver_;
    result_store<kept_signatures_t<Child, ex::env_of_t<Receiver>>> result_;
};

template <class Child, class Cleanup, class Receiver>
class finally_operation
    : finally_state<finally_operation<Child, Cleanup, Receiver>, Child, Receiver> {
    using state = finally_state<finally_operation, Child, Receiver>;
    using first_receiver = child_receiver<state, only_child>;
    using second_receiver = child_receiver<state, cleanup_child>;

public:
    using operation_state_concept = ex::operation_state_tag;

    finally_operation(Child&& child, Cleanup&& cleanup, Receiver&& receiver)
        : state(static_cast<Receiver&&>(receiver)),
          child_(ex::connect(static_cast<Child&&>(child), first_receiver{this})),
          cleanup_(ex::connect(static_cast<Cleanup&&>(cleanup), second_receiver{this})) {}

    void start() & noexcept { ex::start(child_); }

private:
    friend state;
    void clean_up() noexcept { ex::start(cleanup_); }

    ex::connect_result_t<Child, first_receiver> child_;
    ex::connect_result_t<Cleanup, second_receiver> cleanup_;
};

template <class Child, class Cleanup>
class [[nodiscard]] finally_sender {
public:
    using sender_concept = ex::sender_tag;

    template <class Self, class Env>
    static consteval auto get_completion_signatures() {
        return finally_signatures_t<Child, Cleanup, Env>{};
    }

    finally_sender(Child child, Cleanup cleanup)
        : child_(static_cast<Child&&>(child)), cleanup_(static_cast<Cleanup&&>(cleanup)) {}

    template <ex::receiver Receiver>
    auto connect(Receiver receiver) && {
        return finally_operation<Child, Cleanup, Receiver>(static_cast<Child&&>(child_),
                                                           static_cast<Cleanup&&>(cleanup_),
                                                           static_cast<Receiver&&>(receiver));
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const& {
        return finally_sender(*this).connect(static_cast<Receiver&&>(receiver));
    }

private:
    [[no_unique_address]] Child child_;
    [[no_unique_address]] Cleanup cleanup_;
};

EDDY_EX_END
}  // namespace detail

EDDY_EX_BEGIN

/// Runs `sender`, then `cleanup`, however `sender` ended. Completes with the result of `sender`.
///
///     co_await finally(serve(socket), ex::just() | ex::let_value([&] { return socket.close(); }));
///
/// The cleanup cannot be stopped. If it fails, its error replaces the result of `sender`. Its
/// values are dropped, and a cleanup that ends stopped counts as done. Both senders are connected
/// before `sender` starts, so that nothing can fail between them. Allocates nothing.
struct finally_t {
    template <ex::sender Sender, ex::sender Cleanup>
    auto operator()(Sender&& sender, Cleanup&& cleanup) const {
        return detail::finally_sender<std::decay_t<Sender>, std::decay_t<Cleanup>>(
            static_cast<Sender&&>(sender), static_cast<Cleanup&&>(cleanup));
    }
    /// Reports wrong arguments as a compile-time error in plain words.
    template <class Sender, class Cleanup>
    void operator()(Sender&&, Cleanup&&) const {
        detail::explain_arguments<Sender, Cleanup>();
    }
};
inline constexpr finally_t finally{};

EDDY_EX_END
}  // namespace eddy
