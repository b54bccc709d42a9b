// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/connect.hpp>
#include <eddy/ex/detail/meta.hpp>
#include <eddy/ex/detail/mistake.hpp>
#include <eddy/ex/get_scheduler.hpp>
#include <eddy/ex/scheduler.hpp>

#include <cstddef>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>

namespace eddy::ex {
namespace detail {

/// A waiting join(). The caller owns the node.
struct join_node : immovable {
    explicit join_node(void (*function)(join_node&) noexcept) noexcept : joined(function) {}
    void (*const joined)(join_node&) noexcept;
    join_node* next = nullptr;
};

/// The shared part of the counting scopes. It counts the associated work, and lists waiting joins.
///
///     unused  --try_associate-->  open  --close-->  closed
///     unused  --close-->  unused_and_closed
///     open, closed  --join, with work left-->  .._and_joining  --the last work ends-->  joined
///     any  --join, with no work left-->  joined
///
/// Thread: any. A mutex costs less than anything that the associated work does.
class scope_base : immovable {
public:
    static constexpr std::size_t max_associations = std::numeric_limits<std::size_t>::max();

    scope_base() = default;
    ~scope_base() {
        if (state_ != state::unused && state_ != state::unused_and_closed &&
            state_ != state::joined) {
            std::terminate();
        }
    }

    /// Ends the association of new work.
    void close() noexcept {
        const std::lock_guard lock(mutex_);
        switch (state_) {
            case state::unused:
                state_ = state::unused_and_closed;
                break;
            case state::open:
                state_ = state::closed;
                break;
            case state::open_and_joining:
                state_ = state::closed_and_joining;
                break;
            default:
                break;
        }
    }

    [[nodiscard]] bool associate() noexcept {
        const std::lock_guard lock(mutex_);
        if (state_ == state::unused) state_ = state::open;
        if (state_ != state::open && state_ != state::open_and_joining) return false;
        if (count_ == max_associations) return false;
        ++count_;
        return true;
    }

    /// Ends one piece of work. Lifetime: others may destroy the scope in this call if it is being
    /// joined.
    void disassociate() noexcept {
        join_node* waiting = nullptr;
        {
            const std::lock_guard lock(mutex_);
            if (--count_ != 0) return;
            if (state_ != state::open_and_joining && state_ != state::closed_and_joining) return;
            state_ = state::joined;
            waiting = std::exchange(joins_, nullptr);
        }
        while (waiting != nullptr) {
            join_node& node = *std::exchange(waiting, waiting->next);
            node.joined(node);
        }
    }

    /// True if no work is left. Otherwise `node` is kept and waits.
    [[nodiscard]] bool join_now(join_node& node) noexcept {
        const std::lock_guard lock(mutex_);
        if (count_ == 0) {
            state_ = state::joined;
            return true;
        }
        state_ = state_ == state::open || state_ == state::open_and_joining
                     ? state::open_and_joining
                     : state::closed_and_joining;
        node.next = std::exchange(joins_, &node);
        return false;
    }

private:
    enum class state {
        unused,
        open,
        closed,
        open_and_joining,
        closed_and_joining,
        unused_and_closed,
        joined
    };

    std::mutex mutex_;
    std::size_t count_ = 0;
    state state_ = state::unused;
    join_node* joins_ = nullptr;
};

/// One of a scope's counts.
template <class Scope>
class counted_association {
public:
    counted_association() = default;
    counted_association(counted_association&& other) noexcept
        : scope_(std::exchange(other.scope_, nullptr)) {}
    counted_association& operator=(counted_association other) noexcept {
        std::swap(scope_, other.scope_);
        return *this;
    }
    ~counted_association() {
        if (scope_ != nullptr) scope_->disassociate();
    }

    explicit operator bool() const noexcept { return scope_ != nullptr; }
    counted_association try_associate() const noexcept {
        return scope_ != nullptr && scope_->associate() ? counted_association(scope_)
                                                        : counted_association();
    }

    /// Takes over a count from associate().
    explicit counted_association(scope_base* scope) noexcept : scope_(scope) {}

private:
    scope_base* scope_ = nullptr;
};

EDDY_EX_MISTAKE(
    join_without_scheduler,
    "join: the environment has no start scheduler (get_start_scheduler) to complete on");

/// Completes when the scope has no work left: inside start() if that is so already, else on the
/// environment's start scheduler, because the last work may end anywhere.
template <class Receiver>
class join_operation : join_node {
    struct arrival {
        using receiver_concept = receiver_tag;
        join_operation* self;

        void set_value() noexcept { ex::set_value(static_cast<Receiver&&>(self->receiver_)); }
        template <class Error>
        void set_error(Error&& error) noexcept {
            ex::set_error(static_cast<Receiver&&>(self->receiver_), static_cast<Error&&>(error));
        }
        void set_stopped() noexcept { ex::set_stopped(static_cast<Receiver&&>(self->receiver_)); }
        decltype(auto) get_env() const noexcept { return ex::get_env(self->receiver_); }
    };
    using hop = decltype(schedule(get_start_scheduler(get_env(std::declval<Receiver&>()))));

public:
    using operation_state_concept = operation_state_tag;

    join_operation(scope_base* scope, Receiver&& receiver) noexcept(connects_nothrow<hop, arrival>)
        : join_node(
              [](join_node& node) noexcept { static_cast<join_operation&>(node).hop_.start(); }),
          scope_(scope),
          receiver_(static_cast<Receiver&&>(receiver)),
          hop_(connect_unchecked(schedule(get_start_scheduler(get_env(receiver_))),
                                 arrival{this})) {}

    void start() & noexcept {
        if (scope_->join_now(*this)) set_value(static_cast<Receiver&&>(receiver_));
    }

private:
    scope_base* scope_;
    Receiver receiver_;
    operation_of<hop, arrival> hop_;
};

struct join_sender {
    using sender_concept = sender_tag;

    template <class Self, class Env>
    static consteval auto get_completion_signatures() {
        if constexpr (has_query<Env, get_start_scheduler_t>) {
            return signatures_or_mistake<
                decltype(schedule(get_start_scheduler(std::declval<Env>()))), Env>{};
        } else {
            return join_without_scheduler{};
        }
    }
    template <receiver Receiver>
    auto connect(Receiver receiver) const
        noexcept(std::is_nothrow_constructible_v<join_operation<Receiver>, scope_base*, Receiver>) {
        return join_operation<Receiver>(scope, static_cast<Receiver&&>(receiver));
    }

    scope_base* scope;
};

}  // namespace detail
}  // namespace eddy::ex
