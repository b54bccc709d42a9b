// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/sync/waiter.hpp>
#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/completions.hpp>
#include <eddy/ex/env.hpp>
#include <eddy/ex/get_stop_token.hpp>
#include <eddy/ex/operation_state.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/ex/stop_token.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace eddy::detail {
EDDY_EX_BEGIN

/// The operation state of waits for synchronization primitives. A `Wait` says what to wait for:
///
///     struct node : waiter { node(callback, Wait&); };   // with the data of the primitive
///     using signatures = ...;
///     void finish(node&, receiver);          // completes a granted or closed wait
///     core* core;                            // a wait_core, with
///         bool enter(node&, bool may_wait);  //   decides at once, or lets the node join the list
///         void stop(node&);                  //   takes a request to stop, from any thread
///         void take_back(node&);             //   called when the operation is destroyed
///
/// The stop callback is registered before the node can join the list, because a node without a loop
/// may complete on another thread as soon as it has joined.
///
/// Lifetime: until it has completed. If destroyed before, on its loop's thread, it has taken
/// nothing.
template <class Wait, class Receiver>
class wait_operation {
    using node_type = typename Wait::node;
    using token = ex::stop_token_of_t<ex::env_of_t<Receiver>>;

public:
    using operation_state_concept = ex::operation_state_tag;

    wait_operation(Wait&& wait, Receiver&& receiver) noexcept
        : wait_(static_cast<Wait&&>(wait)),
          receiver_(static_cast<Receiver&&>(receiver)),
          node_(this, wait_) {}
    wait_operation(wait_operation&&) = delete;
    ~wait_operation() {
        if (!pending_) return;
        on_stop_.reset();
        wait_.core->take_back(node_);
    }

    void start() & noexcept {
        const auto stop = ex::get_stop_token(ex::get_env(receiver_));
        if (stop.stop_requested()) return ex::set_stopped(static_cast<Receiver&&>(receiver_));
        if (wait_.core->enter(node_, false)) return complete();
        node_.remember_loop();
        pending_ = true;
        on_stop_.emplace(stop, request{this});
        if (wait_.core->enter(node_, true)) complete();
    }

private:
    struct request {
        wait_operation* self;
        void operator()() noexcept { self->wait_.core->stop(self->node_); }
    };
    struct owned_node : node_type {
        owned_node(wait_operation* operation, Wait& wait) noexcept
            : node_type(&on_ready, wait), owner(operation) {}
        static void on_ready(waiter& self) noexcept {
            wait_operation* const operation = static_cast<owned_node&>(self).owner;
            operation->wait_.core->leave(operation->node_);
            operation->complete();
        }
        wait_operation* owner;
    };

    void complete() noexcept {
        on_stop_.reset();
        pending_ = false;
        if (node_.how() == waiter::state::stopped) {
            ex::set_stopped(static_cast<Receiver&&>(receiver_));
        } else {
            wait_.finish(node_, receiver_);
        }
    }

    Wait wait_;
    Receiver receiver_;
    bool pending_ = false;  ///< the primitive may know the node
    std::optional<ex::stop_callback_for_t<token, request>> on_stop_;
    owned_node node_;
};

template <class Wait>
class [[nodiscard]] wait_sender {
public:
    using sender_concept = ex::sender_tag;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return typename Wait::signatures{};
    }

    explicit wait_sender(Wait wait) noexcept : wait_(static_cast<Wait&&>(wait)) {}

    template <ex::receiver Receiver>
    auto connect(Receiver receiver) && noexcept {
        return wait_operation<Wait, Receiver>(static_cast<Wait&&>(wait_),
                                              static_cast<Receiver&&>(receiver));
    }
    template <ex::receiver Receiver>
        requires std::is_copy_constructible_v<Wait>
    auto connect(Receiver receiver) const& noexcept(std::is_nothrow_copy_constructible_v<Wait>) {
        return wait_operation<Wait, Receiver>(Wait(wait_), static_cast<Receiver&&>(receiver));
    }
    /// Returns this sender: a wait completes on the loop that it was started on.
    wait_sender affine() && noexcept { return static_cast<wait_sender&&>(*this); }
    wait_sender affine() const& { return *this; }

private:
    Wait wait_;
};

EDDY_EX_END
}  // namespace eddy::detail
