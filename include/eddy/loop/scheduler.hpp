// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>
#include <eddy/base/config.hpp>
#include <eddy/base/detail/member.hpp>
#include <eddy/loop/detail/brief_memory.hpp>
#include <eddy/loop/entry.hpp>
#include <eddy/loop/timer.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace eddy {

namespace detail {

/// Calls `Function` on `object`: a member, a function of a pointer or reference, or nothing for
/// nullptr.
template <auto Function, class Object>
void call_on(Object& object) noexcept {
    using type = decltype(Function);
    if constexpr (std::is_same_v<type, std::nullptr_t>) {
        static_cast<void>(object);
    } else if constexpr (std::is_member_function_pointer_v<type>) {
        (object.*Function)();
    } else if constexpr (std::is_invocable_v<type, Object&>) {
        Function(object);
    } else {
        Function(&object);
    }
}

template <auto Member, auto Function>
void entry_thunk(entry& node) noexcept {
    call_on<Function>(owner_of<Member>(node));
}

/// Reports the current exception and the callable that threw it, and ends the program.
[[noreturn]] EDDY_API EDDY_COLD void posted_callable_threw(const char* signature) noexcept;

/// Returns a text that contains the name of the type, even without RTTI.
template <class Callable>
constexpr const char* callable_name() noexcept {
    return __PRETTY_FUNCTION__;
}

}  // namespace detail

/// Runs posted work and timers: a loop, or a group of loops. Thread: any. Lifetime: the scheduler
/// must outlive every call, including those of other threads.
class EDDY_API scheduler {
public:
    /// Queues `e`: its on_run is called on the thread of a loop, never inside this call.
    virtual void post(entry& e) noexcept = 0;
    /// Makes the loop call on_cancel instead of on_run, if it has not taken `e` yet. A cancellation
    /// at that very moment may come too late.
    virtual void cancel(entry& e) noexcept = 0;
    /// Sets or moves `t`, due at `when`. No effect on a timer whose on_cancel is still to come.
    virtual void post_at(time_point when, timer& t) noexcept = 0;
    /// Cancels `t`, armed or not: on_cancel is always called, once, on the loop's thread. After
    /// that no on_run follows, and the timer may be destroyed.
    virtual void cancel(timer& t) noexcept = 0;
    /// Sets or moves `t`, which is due after `delay`.

    void post_after(duration delay, timer& t) noexcept {
        post_at(saturating_add(clock::now(), delay), t);
    }

    /// Posts the entry that is a member of `object`, and calls `OnRun` or `OnCancel` on `object`,
    /// without any indirection beyond the one that each entry has.
    ///
    ///     loop.post<job, &job::entry, &job::on_run, &job::on_cancel>(job);
    template <class T, auto Entry, auto OnRun, auto OnCancel = nullptr>
    void post(T& object) noexcept {
        entry& e = object.*Entry;
        e.set_callbacks(&detail::entry_thunk<Entry, OnRun>, &detail::entry_thunk<Entry, OnCancel>);
        post(e);
    }

    /// Posts a callable, for which it allocates memory. A callable that the end of the loop cancels
    /// is destroyed uncalled. Throws std::bad_alloc, and what copying the callable throws.
    ///
    /// The callable must not throw, since nobody can catch the exception. If it does, it is
    /// reported with the type of the callable (see set_report_handler()), and std::terminate() is
    /// called.
    template <class Callable>
        requires(std::is_invocable_v<Callable&> && !std::is_base_of_v<entry, Callable>)
    void post(Callable&& callable) {
        struct job {
            explicit job(Callable&& c) : function(std::forward<Callable>(c)) {}
            static void* operator new(std::size_t size) { return detail::brief_new(size); }
            static void operator delete(void* gone, std::size_t size) noexcept {
                detail::brief_delete(gone, size);
            }
            // A callable with a special alignment is allocated like any other object.
            static void* operator new(std::size_t size, std::align_val_t alignment) {
                return ::operator new(size, alignment);
            }
            static void operator delete(void* gone, std::align_val_t alignment) noexcept {
                ::operator delete(gone, alignment);
            }
            static void run(entry& e) noexcept {
                std::unique_ptr<job> self(&detail::owner_of<&job::node>(e));
                if constexpr (std::is_nothrow_invocable_v<std::decay_t<Callable>&>) {
                    self->function();
                } else {
                    try {
                        self->function();
                    } catch (...) {
                        detail::posted_callable_threw(
                            detail::callable_name<std::decay_t<Callable>>());
                    }
                }
            }
            static void drop(entry& e) noexcept { delete &detail::owner_of<&job::node>(e); }
            entry node{&run, &drop};
            std::decay_t<Callable> function;
        };
        post(std::make_unique<job>(std::forward<Callable>(callable)).release()->node);
    }

protected:
    ~scheduler() = default;
};

}  // namespace eddy
