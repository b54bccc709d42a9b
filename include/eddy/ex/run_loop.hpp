// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/connect.hpp>
#include <eddy/ex/detail/completes_in_one_place.hpp>
#include <eddy/ex/get_completion_scheduler.hpp>
#include <eddy/ex/get_forward_progress_guarantee.hpp>
#include <eddy/ex/get_stop_token.hpp>

#include <pthread.h>

#include <exception>
#include <mutex>
#include <utility>

namespace eddy::ex {

/// A queue of work that the thread in run() executes in order. Thread: any, but run() on one thread
/// at a time. Lifetime: destroying it with work left, or while it runs and finish() was not called,
/// terminates the program.
///
///     starting  --run-->  running  --finish-->  finishing  --run returns-->  finished
///     starting  --finish-->  finishing
class run_loop : detail::immovable {
    struct task : detail::immovable {
        explicit task(void (*function)(task&) noexcept) noexcept : execute(function) {}
        void (*const execute)(task&) noexcept;
        task* next = nullptr;
    };

    template <class Receiver>
    class operation : task {
    public:
        using operation_state_concept = operation_state_tag;
        operation(run_loop* loop, Receiver&& receiver) noexcept
            : task(&complete), loop_(loop), receiver_(static_cast<Receiver&&>(receiver)) {}

        void start() & noexcept { loop_->push(*this); }

    private:
        static void complete(task& base) noexcept {
            Receiver& receiver = static_cast<operation&>(base).receiver_;
            if constexpr (!unstoppable_token<stop_token_of_t<env_of_t<Receiver>>>) {
                if (get_stop_token(get_env(receiver)).stop_requested()) {
                    set_stopped(static_cast<Receiver&&>(receiver));
                    return;
                }
            }
            set_value(static_cast<Receiver&&>(receiver));
        }

        run_loop* loop_;
        Receiver receiver_;
    };

public:
    class scheduler;

    run_loop() = default;
    ~run_loop() {
        if (first_ != nullptr || state_ == state::running) std::terminate();
        pthread_cond_destroy(&not_empty_);
    }

    scheduler get_scheduler() noexcept;

    /// Executes work until finish() was called and no work is left.
    void run() noexcept {
        begin();
        while (task* const next = pop()) next->execute(*next);
    }

    /// Ends run(). Lifetime: does not touch the loop any more when run() returns because of this
    /// call.
    void finish() noexcept {
        const std::lock_guard lock(mutex_);
        state_ = state::finishing;
        // Under the lock: after unlocking, run() may return and the loop may be destroyed.
        pthread_cond_broadcast(&not_empty_);
    }

private:
    enum class state : unsigned char { starting, running, finishing, finished };

    void begin() noexcept {
        const std::lock_guard lock(mutex_);
        if (state_ == state::starting) state_ = state::running;
    }

    void push(task& added) noexcept {
        const std::lock_guard lock(mutex_);
        added.next = nullptr;
        *last_ = &added;
        last_ = &added.next;
        pthread_cond_signal(&not_empty_);
    }

    task* pop() noexcept {
        const std::lock_guard lock(mutex_);
        while (first_ == nullptr && state_ == state::running) {
            pthread_cond_wait(&not_empty_, mutex_.native_handle());
        }
        task* const taken = first_;
        if (taken != nullptr) {
            first_ = taken->next;
            if (first_ == nullptr) last_ = &first_;
        } else {
            state_ = state::finished;
        }
        return taken;
    }

    std::mutex mutex_;
    /// Not std::condition_variable: <condition_variable> alone would cost a sixth of the time for
    /// including this vocabulary.
    pthread_cond_t not_empty_ = PTHREAD_COND_INITIALIZER;
    task* first_ = nullptr;
    task** last_ = &first_;
    state state_ = state::starting;
};

class run_loop::scheduler {
    struct attributes {
        run_loop* loop;
        template <detail::one_of<set_value_t, set_stopped_t> Tag>
        scheduler query(get_completion_scheduler_t<Tag>, auto&&...) const noexcept {
            return scheduler(loop);
        }
        static constexpr bool query(eddy::detail::completes_in_one_place_t) noexcept {
            return true;
        }
    };

    struct schedule_sender {
        using sender_concept = sender_tag;

        template <class Self, class Env>
        static consteval auto get_completion_signatures() {
            if constexpr (unstoppable_token<stop_token_of_t<Env>>) {
                return completion_signatures<set_value_t()>{};
            } else {
                return completion_signatures<set_value_t(), set_stopped_t()>{};
            }
        }
        template <receiver Receiver>
        auto connect(Receiver receiver) const noexcept {
            return operation<Receiver>(loop, static_cast<Receiver&&>(receiver));
        }
        attributes get_env() const noexcept { return {loop}; }

        run_loop* loop;
    };

public:
    using scheduler_concept = scheduler_tag;

    schedule_sender schedule() const noexcept { return {loop_}; }
    static constexpr auto query(get_forward_progress_guarantee_t) noexcept {
        return forward_progress_guarantee::parallel;
    }
    template <detail::one_of<set_value_t, set_stopped_t> Tag>
    scheduler query(get_completion_scheduler_t<Tag>, auto&&...) const noexcept {
        return *this;
    }
    bool operator==(const scheduler&) const = default;

private:
    friend class run_loop;
    explicit scheduler(run_loop* loop) noexcept : loop_(loop) {}

    run_loop* loop_;
};

inline run_loop::scheduler run_loop::get_scheduler() noexcept { return scheduler(this); }

}  // namespace eddy::ex

#endif
