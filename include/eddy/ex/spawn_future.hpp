// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/connect.hpp>
#include <eddy/ex/detail/keepable.hpp>
#include <eddy/ex/detail/spawn.hpp>
#include <eddy/ex/detail/stop_when.hpp>
#include <eddy/ex/detail/stored_result.hpp>
#include <eddy/ex/scope_token.hpp>
#include <eddy/ex/write_env.hpp>

#include <atomic>
#include <optional>
#include <type_traits>
#include <utility>

namespace eddy::ex {

namespace detail {

/// The waiting consumer of a future's result.
struct future_consumer : immovable {
    explicit future_consumer(void (*function)(future_consumer&) noexcept) noexcept
        : ready(function) {}
    void (*const ready)(future_consumer&) noexcept;
};

/// The state shared by the work and its future. Each of the two holds one count.
///
///     none  --the future waits-->  waiting  --the work ends-->  ended   (and the future goes on)
///     none  --the work ends-->  ended
///     none, waiting  --the future is stopped-->  stopped  --the work ends-->  ended
template <class Signatures>
class future_state : immovable {
public:
    explicit future_state(void (*function)(future_state&) noexcept) noexcept : destroy_(function) {}

    void hold() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        // acq_rel: the thread that destroys sees everything that the others did before.
        if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy_(*this);
    }

    /// Stores the completion of the work.
    template <class Tag, class... Args>
    void complete(Tag tag, Args&&... args) noexcept {
        results_.store(tag, static_cast<Args&&>(args)...);
        // acq_rel: the future sees the result; this call sees the future.
        future_consumer* const before = slot_.exchange(ended(), std::memory_order_acq_rel);
        if (before != nullptr && before != stopped()) before->ready(*before);
        release();
    }
    auto env() const noexcept { return ex::env<>{}; }

    enum class answer { wait, ended, stopped };
    answer wait(future_consumer& consumer) noexcept {
        future_consumer* expected = nullptr;
        if (slot_.compare_exchange_strong(expected, &consumer, std::memory_order_acq_rel)) {
            return answer::wait;
        }
        return expected == ended() ? answer::ended : answer::stopped;
    }

    /// True if `consumer` was waiting. The caller must then complete it.
    bool stop(future_consumer& consumer) noexcept {
        source_.request_stop();
        future_consumer* seen = slot_.load(std::memory_order_acquire);
        do {
            if (seen == ended() || seen == stopped()) return false;
        } while (!slot_.compare_exchange_weak(seen, stopped(), std::memory_order_acq_rel));
        return seen == &consumer;
    }

    /// Asks the work to stop, and gives up the future's count.
    void abandon() noexcept {
        source_.request_stop();
        release();
    }

    template <class Receiver>
    void deliver(Receiver& receiver) noexcept {
        results_.deliver(receiver);
    }

protected:
    inplace_stop_token get_token() noexcept { return source_.get_token(); }

private:
    /// Marks for `slot_`: addresses that no consumer has.
    future_consumer* ended() noexcept { return reinterpret_cast<future_consumer*>(&slot_); }
    future_consumer* stopped() noexcept { return reinterpret_cast<future_consumer*>(&holders_); }

    void (*const destroy_)(future_state&) noexcept;
    std::atomic<future_consumer*> slot_{nullptr};
    std::atomic<std::size_t> holders_{2};
    inplace_stop_source source_;
    result_store<join_signatures_t<Signatures, completion_signatures<set_stopped_t()>>> results_;
};

template <class Sender, class Env>
using future_work = write_env_sender<stop_when_sender<Sender>, Env>;

template <class Sender, class Env>
using future_state_for = future_state<signatures_or_mistake<future_work<Sender, Env>, ex::env<>>>;

template <class Allocator, class Token, class Sender, class Env>
class spawned_future : public future_state_for<Sender, Env> {
    using base = future_state_for<Sender, Env>;

public:
    spawned_future(const Allocator& allocator, Sender&& sender, const Token& token, Env&& env)
        : base([](base& state) noexcept { static_cast<spawned_future&>(state).destroy(); }),
          allocator_(allocator),
          operation_(connect_unchecked(
              future_work<Sender, Env>{{},
                                       {{}, static_cast<Sender&&>(sender), this->get_token()},
                                       static_cast<Env&&>(env)},
              state_receiver<base>{this})),
          association_(token.try_associate()) {}

    void run() noexcept {
        if (association_) {
            operation_.start();
        } else {
            this->complete(set_stopped_t{});
        }
    }

private:
    void destroy() noexcept {
        const auto association = std::move(association_);
        const Allocator allocator(std::move(allocator_));
        detail::free_object(allocator, this);
    }

    [[no_unique_address]] Allocator allocator_;
    operation_of<future_work<Sender, Env>, state_receiver<base>> operation_;
    decltype(std::declval<const Token&>().try_associate()) association_;
};

/// The future's count of the state.
template <class State>
class future_handle {
public:
    explicit future_handle(State* state) noexcept : state_(state) {}
    future_handle(future_handle&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    future_handle& operator=(future_handle other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~future_handle() {
        if (state_ != nullptr) state_->abandon();
    }
    State* operator->() const noexcept { return state_; }
    State* get() const noexcept { return state_; }

private:
    State* state_;
};

template <class State, class Receiver>
class future_operation : future_consumer {
    struct on_stop {
        future_operation* self;
        void operator()() noexcept {
            // Holds the state, because the work may end inside stop() and destroy the future.
            State& state = *self->state_.get();
            state.hold();
            if (state.stop(*self)) self->give_up();
            state.release();
        }
    };

public:
    using operation_state_concept = operation_state_tag;

    future_operation(future_handle<State>&& state, Receiver&& receiver) noexcept
        : future_consumer([](future_consumer& base) noexcept {
              static_cast<future_operation&>(base).deliver();
          }),
          state_(std::move(state)),
          receiver_(static_cast<Receiver&&>(receiver)) {}

    void start() & noexcept {
        callback_.emplace(get_stop_token(get_env(receiver_)), on_stop{this});
        switch (state_->wait(*this)) {
            case State::answer::wait:
                break;
            case State::answer::ended:
                deliver();
                break;
            case State::answer::stopped:
                give_up();
                break;
        }
    }

private:
    void deliver() noexcept {
        callback_.reset();
        // Keeps the result until the receiver has returned, and no longer, because the scope waits.
        const auto last = std::move(state_);
        last->deliver(receiver_);
    }
    void give_up() noexcept {
        callback_.reset();
        const auto last = std::move(state_);
        set_stopped(static_cast<Receiver&&>(receiver_));
    }

    future_handle<State> state_;
    Receiver receiver_;
    std::optional<stop_callback_for_t<stop_token_of_t<env_of_t<Receiver>>, on_stop>> callback_;
};

template <class Signatures>
struct future_sender {
    using sender_concept = sender_tag;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return join_signatures_t<stored_signatures_t<Signatures>,
                                 completion_signatures<set_stopped_t()>>{};
    }
    template <receiver Receiver>
    auto connect(Receiver receiver) && noexcept {
        return future_operation<future_state<Signatures>, Receiver>(
            std::move(state), static_cast<Receiver&&>(receiver));
    }

    future_handle<future_state<Signatures>> state;
};

}  // namespace detail

/// Starts a sender as work of a scope, and returns a sender of the result. Dropping or stopping
/// that sender asks the work to stop. After that only the scope waits for the work.
struct spawn_future_t {
    template <sender Sender, scope_token Token, class Env = env<>>
    auto operator()(Sender&& sender, Token token, Env environment = {}) const {
        using wrapped_sender =
            std::remove_cvref_t<decltype(token.wrap(static_cast<Sender&&>(sender)))>;
        wrapped_sender wrapped(token.wrap(static_cast<Sender&&>(sender)));
        const auto allocator = detail::spawn_allocator(environment, get_env(wrapped));
        auto inner = detail::spawn_env(static_cast<Env&&>(environment), get_env(wrapped));
        using inner_env = decltype(inner);
        using signatures =
            detail::signatures_or_mistake<detail::future_work<wrapped_sender, inner_env>, env<>>;
        if constexpr (!detail::is_signatures<signatures>) {
            detail::explain_sender<detail::future_work<wrapped_sender, inner_env>, env<>>();
        } else if constexpr (!detail::keepable<signatures, set_value_t, set_error_t>) {
            detail::not_keepable::explain<wrapped_sender>();
        } else {
            using state = detail::spawned_future<std::remove_const_t<decltype(allocator)>, Token,
                                                 wrapped_sender, inner_env>;
            state* const work = detail::allocate_object<state>(
                allocator, allocator, std::move(wrapped), token, std::move(inner));
            detail::future_sender<signatures> future{
                detail::future_handle<detail::future_state<signatures>>(work)};
            work->run();
            return future;
        }
    }
};
inline constexpr spawn_future_t spawn_future{};

}  // namespace eddy::ex

#endif
