// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/task/task_frame.hpp>
#include <eddy/async/detail/task/task_owner.hpp>
#include <eddy/base/config.hpp>
#include <eddy/base/detail/member.hpp>
#include <eddy/ex/get_allocator.hpp>
#include <eddy/ex/get_scheduler.hpp>
#include <eddy/ex/get_stop_token.hpp>
#include <eddy/ex/inplace_stop_token.hpp>
#include <eddy/io/loop_scheduler.hpp>
#include <eddy/loop/entry.hpp>
#include <eddy/loop/loop.hpp>

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <memory>

namespace eddy::detail {

EDDY_EX_BEGIN

class task_promise_base;

/// The environment of a task, which the senders that it awaits see.
class task_env {
public:
    explicit task_env(const task_promise_base& promise) noexcept : promise_(&promise) {}
    ex::inplace_stop_token query(ex::get_stop_token_t) const noexcept;
    loop_scheduler query(ex::get_scheduler_t) const noexcept;
    loop_scheduler query(ex::get_start_scheduler_t) const noexcept;
    std::pmr::polymorphic_allocator<std::byte> query(ex::get_allocator_t) const noexcept;

private:
    const task_promise_base* promise_;
};

/// One wait of a task. Its completion calls arrived() once, and the task continues on its own loop:
///
///     starting  --suspend()--> suspended --arrived()--> (resumed)
///     starting  --arrived()--> done          suspend() returns false; nothing is resumed
///
/// So a completion inside start() resumes nothing, and a loop of them does not grow the stack. On
/// the home loop all steps run on one thread; a completion elsewhere is posted there. Only for a
/// task without a loop must the two sides agree on which of them resumes it.
class task_wait {
public:
    task_wait(task_promise_base& promise, std::coroutine_handle<> waiting) noexcept
        : promise_(promise), waiting_(waiting) {}
    task_wait(const task_wait&) = delete;
    task_wait& operator=(const task_wait&) = delete;
    ~task_wait() {
        // acquire: pairs with hop(), which constructs the entry.
        if (hops_.load(std::memory_order_acquire)) {
            stay();
        }
    }

    /// Reports the completion. Afterwards the task may be gone. Thread: any.
    void arrived(bool stopped) noexcept;
    /// Called after the wait was started. Returns false if it has completed already: the task then
    /// continues, or ends if stopped().
    [[nodiscard]] bool suspend() noexcept;
    bool stopped() const noexcept { return stopped_; }
    task_promise_base& promise() const noexcept { return promise_; }
    void resume() noexcept;

private:
    enum class phase : std::uint8_t { starting, suspended, done };

    void arrived_elsewhere() noexcept;
    void hop() noexcept;
    void stay() noexcept;

    task_promise_base& promise_;
    std::coroutine_handle<> waiting_;
    std::atomic<phase> phase_{phase::starting};
    bool stopped_ = false;
    std::atomic<bool> hops_{false};  ///< completed elsewhere: hop_ is constructed
    union {
        entry hop_;
    };
};

/// The part of a task's promise that does not depend on the type of its result.
class task_promise_base : public task_frame {
public:
    using task_frame::task_frame;
    task_promise_base(const task_promise_base&) = delete;
    task_promise_base& operator=(const task_promise_base&) = delete;

    static std::suspend_always initial_suspend() noexcept { return {}; }
    struct ending {
        static bool await_ready() noexcept { return false; }
        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
            task_promise_base& promise = ended.promise();
            promise.owner_->task_ended(promise, false);
        }
        static void await_resume() noexcept {}
    };
    static ending final_suspend() noexcept { return {}; }

    /// Ends the task because what it awaits was stopped. It never continues; its owner destroys it.
    void end_stopped() noexcept { owner_->task_ended(*this, true); }

    /// Sets the owner. Must be called before the task is started.
    void adopt(task_owner& owner) noexcept { owner_ = &owner; }
    const task_owner& owner() const noexcept { return *owner_; }
    loop* home() const noexcept { return owner_->home(); }
    ex::inplace_stop_token stop_token() const noexcept { return owner_->stop_token(); }
    bool stops_with_home() const noexcept { return owner_->stops_with_home(); }
    using task_frame::get_allocator;
    task_env get_env() const noexcept { return task_env(*this); }

private:
    task_owner* owner_ = nullptr;
};

inline ex::inplace_stop_token task_env::query(ex::get_stop_token_t) const noexcept {
    return promise_->stop_token();
}
inline loop_scheduler task_env::query(ex::get_scheduler_t) const noexcept {
    return loop_scheduler(promise_->home());
}
inline loop_scheduler task_env::query(ex::get_start_scheduler_t) const noexcept {
    return loop_scheduler(promise_->home());
}
inline std::pmr::polymorphic_allocator<std::byte> task_env::query(
    ex::get_allocator_t) const noexcept {
    return promise_->get_allocator();
}

inline void task_wait::resume() noexcept {
    if (stopped_) {
        promise_.end_stopped();
    } else {
        waiting_.resume();
    }
}

inline void task_wait::arrived(bool stopped) noexcept {
    stopped_ = stopped;
    if (loop::current() != promise_.home() || promise_.home() == nullptr) {
        arrived_elsewhere();
    } else if (phase_.load(std::memory_order_relaxed) == phase::suspended) {
        resume();
    } else {
        phase_.store(phase::done, std::memory_order_relaxed);
    }
}

EDDY_COLD inline void task_wait::arrived_elsewhere() noexcept {
    if (promise_.home() != nullptr) {
        hop();
        // acq_rel: pairs with suspend(). The task sees the result; this sees the suspended task.
    } else if (phase_.exchange(phase::done, std::memory_order_acq_rel) == phase::suspended) {
        resume();
    }
}

EDDY_COLD inline void task_wait::hop() noexcept {
    constexpr auto land = &entry_thunk<&task_wait::hop_, &task_wait::resume>;
    std::construct_at(&hop_, land, land);
    hops_.store(true, std::memory_order_release);  // pairs with the destructor
    promise_.home()->hand_over(hop_);
}

EDDY_COLD inline void task_wait::stay() noexcept {
    if (hop_.posted()) {
        promise_.home()->disarm(hop_);
    }
    std::destroy_at(&hop_);
}

inline bool task_wait::suspend() noexcept {
    if (promise_.home() == nullptr) {
        return phase_.exchange(phase::suspended, std::memory_order_acq_rel) != phase::done;
    }
    if (phase_.load(std::memory_order_relaxed) == phase::done) {
        return false;
    }
    phase_.store(phase::suspended, std::memory_order_relaxed);
    return true;
}

EDDY_EX_END

}  // namespace eddy::detail
