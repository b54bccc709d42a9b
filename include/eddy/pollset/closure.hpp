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

/// What is to be called once. Its user owns it and may destroy it, or hand it in again, from inside
/// the call: as the last thing it does, since another thread may call it from then on. Until it is
/// called it waits in one place: another wait refuses it with an error, and to give it to an
/// orphan() or shutdown() is a mistake that ends the program.
///
/// Where: on a worker of a pollset that holds the handle, before that worker's `work` returns. The
/// end (of a shutdown or an orphan) of a handle that no pollset holds is told inside the call that
/// brings it; an event waits until one holds it. With an executor: wherever that runs it.
/// Never under a lock of eddy's. What it throws leaves through `work`; inside another call it must
/// not throw.
class closure {
public:
    using function = void (*)(closure& self, std::error_code error);

    explicit closure(function call) noexcept : run_(call) {}
    closure(const closure&) = delete;
    closure& operator=(const closure&) = delete;

    /// For executors: calls it with what it was handed over with.
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
    poll_handle* handle_ = nullptr;   ///< that must stay until the executor has run it
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

/// Runs closures somewhere else than in `work`: an application's own queue.
/// Thread: execute() is called by any thread. It keeps `c` for later. Run there and then, it would
/// be called by whatever made it due: that is for closures that were written for it. A
/// pollset_watch is not, it has a lock at that time.
/// Each one must be run: the end of a handle is told when all that were handed over have returned.
class closure_executor {
public:
    virtual void execute(closure& c) = 0;

protected:
    ~closure_executor() = default;
};

}  // namespace eddy
