#pragma once

#include <eddy/async/detail/task_frame.hpp>
#include <eddy/base/config.hpp>
#include <eddy/base/member.hpp>
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
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

class task_promise_base;

/// What is told when a task ends, by return or exception, or because it was stopped. Called when it
/// is suspended for good; destroys it or has it destroyed.
class task_observer {
public:
    virtual void task_ended(bool stopped) noexcept = 0;

protected:
    ~task_observer() = default;
};

/// What a task may ask, and tells those it awaits.
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

/// One thing that a task waits for. Whoever completes it calls arrived(), once; the task goes on,
/// on its own loop:
///
///     starting  --begin() returns--> suspended --arrived()--> (resumed)
///     starting  --arrived()--> done          begin() is told; nobody resumes anything
///
/// So a completion inside start() resumes nobody, and a loop of them does not grow the stack. On
/// the home loop all steps are of one thread; a completion elsewhere is posted there. Only a task
/// without a loop needs the two sides to agree on who resumes.
class task_wait {
public:
    task_wait(task_promise_base& promise, std::coroutine_handle<> waiting) noexcept
        : promise_(promise), waiting_(waiting) {}

    /// Thread: any. Afterwards the task may be gone.
    void arrived(bool stopped) noexcept;
    /// After the wait was started. False: it has been completed; go on, or end if stopped().
    [[nodiscard]] bool suspend() noexcept;
    bool stopped() const noexcept { return stopped_; }
    task_promise_base& promise() const noexcept { return promise_; }
    void resume() noexcept;

private:
    enum class phase : std::uint8_t { starting, suspended, done };

    void arrived_elsewhere() noexcept;

    task_promise_base& promise_;
    std::coroutine_handle<> waiting_;
    std::atomic<phase> phase_{phase::starting};
    bool stopped_ = false;
};

class task_promise_base : public task_frame {
public:
    using task_frame::task_frame;
    task_promise_base(const task_promise_base&) = delete;
    task_promise_base& operator=(const task_promise_base&) = delete;
    ~task_promise_base() {
        if (hop_.posted()) {
            home_->disarm(hop_);
        }
    }

    static std::suspend_always initial_suspend() noexcept { return {}; }
    struct ending {
        static bool await_ready() noexcept { return false; }
        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
            ended.promise().observer_->task_ended(false);
        }
        static void await_resume() noexcept {}
    };
    static ending final_suspend() noexcept { return {}; }

    /// What it awaits was stopped: it never goes on, and is destroyed by its owner.
    void end_stopped() noexcept { observer_->task_ended(true); }

    void adopt(loop* home, ex::inplace_stop_token stop, task_observer& observer) noexcept {
        home_ = home;
        stop_ = stop;
        observer_ = &observer;
    }
    loop* home() const noexcept { return home_; }
    ex::inplace_stop_token stop_token() const noexcept { return stop_; }
    using task_frame::get_allocator;
    task_env get_env() const noexcept { return task_env(*this); }

    /// Before it is started: `on_run` is called on the home loop, or `on_drop` if that ends first.
    void post_start(entry::callback on_run, entry::callback on_drop) noexcept {
        hop_.set_callbacks(on_run, on_drop);
        home_->post(hop_);
    }
    /// Of the task that was posted so.
    static task_observer& observer_of(entry& start) noexcept {
        return *owner_of<&task_promise_base::hop_>(start).observer_;
    }
    /// Goes on with `wait` on the home loop.
    EDDY_COLD void hop(task_wait& wait) noexcept {
        hopping_ = &wait;
        constexpr auto land = &entry_thunk<&task_promise_base::hop_, &task_promise_base::landed>;
        hop_.set_callbacks(land, land);
        home_->hand_over(hop_);
    }

private:
    void landed() noexcept { hopping_->resume(); }

    loop* home_ = nullptr;
    ex::inplace_stop_token stop_;
    task_observer* observer_ = nullptr;
    entry hop_;
    task_wait* hopping_ = nullptr;
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
        promise_.hop(*this);
        // acq_rel: the task sees the result; this sees the suspended task.
    } else if (phase_.exchange(phase::done, std::memory_order_acq_rel) == phase::suspended) {
        resume();
    }
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

/// Where a task's or an awaited sender's result is kept. Void: nothing to keep.
template <class T>
class outcome {
    struct nothing {};
    using stored = std::conditional_t<std::is_void_v<T>, nothing, T>;

public:
    outcome() noexcept {}
    outcome(const outcome&) = delete;
    outcome& operator=(const outcome&) = delete;
    ~outcome() { clear(); }

    template <class... Values>
    void set_value(Values&&... values) noexcept {
        if constexpr (std::is_nothrow_constructible_v<stored, Values...>) {
            store_value(static_cast<Values&&>(values)...);
        } else {
            try {
                store_value(static_cast<Values&&>(values)...);
            } catch (...) {
                set_error(std::current_exception());
            }
        }
    }
    /// Also in place of a value.
    void set_error(std::exception_ptr error) noexcept {
        clear();
        std::construct_at(&error_, std::move(error));
        holds_ = content::error;
    }
    /// Null: there is none.
    std::exception_ptr error() const noexcept {
        return holds_ == content::error ? error_ : nullptr;
    }
    /// Precondition: there is one.
    stored& value() noexcept { return value_; }
    /// Precondition: there is a value or an error.
    T take() {
        if (holds_ == content::error) {
            throw_error();
        }
        if constexpr (!std::is_void_v<T>) {
            return std::move(value_);
        }
    }

private:
    enum class content : std::uint8_t { nothing, value, error };

    [[noreturn]] EDDY_COLD void throw_error() { std::rethrow_exception(std::move(error_)); }
    template <class... Values>
    void store_value(Values&&... values) {
        std::construct_at(std::addressof(value_), static_cast<Values&&>(values)...);
        holds_ = content::value;
    }
    void clear() noexcept {
        if (holds_ == content::value) {
            std::destroy_at(std::addressof(value_));
        } else if (holds_ == content::error) {
            std::destroy_at(&error_);
        }
        holds_ = content::nothing;
    }

    union {
        stored value_;
        std::exception_ptr error_;
    };
    content holds_ = content::nothing;
};

EDDY_EX_END

}  // namespace eddy::detail
