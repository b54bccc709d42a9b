#include "kernel/thread.hpp"

#include "kernel/call.hpp"

#include <atomic>
#include <cerrno>

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace eddy::kernel {

std::uint64_t thread_number() noexcept {
    static std::atomic<std::uint64_t> threads{0};
    // relaxed: only the number matters.
    static thread_local const std::uint64_t number =
        threads.fetch_add(1, std::memory_order_relaxed) + 1;
    return number;
}

std::uint64_t timer_slack_ns() noexcept {
    count_call();
    const int slack = ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    return slack < 0 ? 0 : static_cast<std::uint64_t>(slack);
}

void set_timer_slack_ns(std::uint64_t slack_ns) noexcept {
    count_call();
    ::prctl(PR_SET_TIMERSLACK, slack_ns, 0, 0, 0);
}

unsigned current_core() noexcept {
    const int core = ::sched_getcpu();  // no call: the kernel keeps it in the thread's memory
    return core < 0 ? 0 : static_cast<unsigned>(core);
}

std::error_code pin_to_core(unsigned core) noexcept {
    if (core >= CPU_SETSIZE) {
        return {EINVAL, std::system_category()};
    }
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    count_call();
    return {::pthread_setaffinity_np(::pthread_self(), sizeof cores, &cores),
            std::system_category()};
}

std::uint64_t preemptions() noexcept {
    rusage use{};
    count_call();
    return ::getrusage(RUSAGE_THREAD, &use) == 0 ? static_cast<std::uint64_t>(use.ru_nivcsw) : 0;
}

}  // namespace eddy::kernel
