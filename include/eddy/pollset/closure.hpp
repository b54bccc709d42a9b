// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <atomic>
#include <system_error>
#include <type_traits>
#include <utility>

namespace eddy {

namespace detail {
class closure_list;
class poll_core;
}  // namespace detail

class poll_handle;

/// A function that is to be called once. The user owns the closure, and may destroy it or hand it
/// in again from inside the call. That must be the last thing the call does, since another thread
/// may call the closure from then on. A closure waits in one place at a time: a second wait refuses
/// it with an error, and giving it to orphan() or shutdown() as well aborts the program.
///
/// A closure runs on a worker of a pollset that holds the handle, before that worker's `work`
/// returns. An event of a handle that no pollset holds waits until one does, but the end of the
/// handle (by shutdown() or orphan()) is reported inside the call that brings it. With an executor,
/// closures run wherever it runs them. They never run under a lock of eddy's. An exception of a
/// closure leaves through `work`; inside any other call the closure must not throw.
class closure {
public:
    using function = void (*)(closure& self, std::error_code error);

    explicit closure(function call) noexcept : run_(call) {}
    closure(const closure&) = delete;
    closure& operator=(const closure&) = delete;

    /// Calls the function with the error that the closure was handed over with. For executors.
    void run() {
        if (handle_ == nullptr) {
            call_now();
        } else {
            run_for_handle();
        }
    }

protected:
    ~closure() = default;

private:
    EDDY_API void run_for_handle();
    void call_now() {
        const std::error_code error = error_;
        taken_.store(false, std::memory_order_release);  // another thread may hand it in again
        run_(*this, error);
    }

    function run_;
    closure* next_ = nullptr;
    std::error_code error_;
    poll_handle* handle_ = nullptr;   ///< must stay until the executor has run this
    std::atomic<bool> taken_{false};  ///< waits for an event or an end, or is due

    friend class detail::closure_list;
    friend class detail::poll_core;
};

/// A closure that holds a callable: `callback read([&](std::error_code error) { ... });`
template <class Callable>
class callback final : public closure {
public:
    explicit callback(Callable call) noexcept(std::is_nothrow_move_constructible_v<Callable>)
        : closure([](closure& self, std::error_code error) {
              static_cast<callback&>(self).call_(error);
          }),
          call_(std::move(call)) {}

private:
    Callable call_;
};

/// Runs closures elsewhere than in `work`, for example in an application's own queue.
/// Thread: any thread calls execute(), which keeps `c` for later. To run `c` inside execute() means
/// to run it inside the call that made it due, which only closures that were written for it allow;
/// those of a pollset_watch do not, since it holds a lock then. Every closure must be run: a handle
/// ends only when all that were handed over have returned.
class closure_executor {
public:
    virtual void execute(closure& c) = 0;

protected:
    ~closure_executor() = default;
};

}  // namespace eddy
