// SPDX-License-Identifier: Apache-2.0

// Implements the properties of the calling thread.
#include "kernel/thread.hpp"

#include "kernel/once.hpp"

#include <atomic>
#include <cerrno>

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

namespace eddy::kernel {

std::uint64_t thread_number() noexcept {
    static std::atomic<std::uint64_t> threads{0};
    // relaxed: only the number matters.
    static thread_local const std::uint64_t number =
        threads.fetch_add(1, std::memory_order_relaxed) + 1;
    return number;
}

std::uint64_t timer_slack_ns() noexcept {
    const io_result slack =
        once(call::prctl, [] { return ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0); });
    return slack.count();
}

void set_timer_slack_ns(std::uint64_t slack_ns) noexcept {
    once(call::prctl, [&] { return ::prctl(PR_SET_TIMERSLACK, slack_ns, 0, 0, 0); });
}

unsigned current_core() noexcept {
    const int core = ::sched_getcpu();  // no call: the kernel keeps it in the thread's memory
    return core < 0 ? 0 : static_cast<unsigned>(core);
}

unsigned core_count() noexcept {
    const io_result count = once(call::affinity, [] { return ::get_nprocs(); });
    return static_cast<unsigned>(count.count());
}

std::error_code pin_to_core(unsigned core) noexcept {
    if (core >= CPU_SETSIZE) {
        return {EINVAL, std::system_category()};
    }
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    return once(call::affinity,
                [&] {
                    return result_of_error(
                        ::pthread_setaffinity_np(::pthread_self(), sizeof cores, &cores));
                })
        .error();
}

std::uint64_t preemptions() noexcept {
    rusage use{};
    once(call::getrusage, [&] { return ::getrusage(RUSAGE_THREAD, &use); });
    return static_cast<std::uint64_t>(use.ru_nivcsw);
}

}  // namespace eddy::kernel
