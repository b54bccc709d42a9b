#include "kernel/call.hpp"

#include <array>
#include <atomic>
#include <cstddef>

namespace eddy::kernel {

constinit thread_local std::uint64_t detail::calls = 0;

#ifdef EDDY_FAULTS
namespace {

struct fault {
    std::atomic<int> error{0};
    std::atomic<unsigned> skip{0};
    std::atomic<unsigned> times{0};
};
std::array<fault, static_cast<std::size_t>(call::count_)> faults;
std::atomic<bool> any_fault{false};

/// Takes one from a counter that may be read by several threads; false at 0.
bool take_one(std::atomic<unsigned>& counter) noexcept {
    unsigned value = counter.load(std::memory_order_relaxed);
    while (value != 0 &&
           !counter.compare_exchange_weak(value, value - 1, std::memory_order_relaxed)) {}
    return value != 0;
}

}  // namespace

void fail(call which, int error, unsigned skip, unsigned times) noexcept {
    fault& f = faults[static_cast<std::size_t>(which)];
    f.error.store(error, std::memory_order_relaxed);
    f.skip.store(skip, std::memory_order_relaxed);
    f.times.store(times, std::memory_order_relaxed);
    any_fault.store(true, std::memory_order_relaxed);
}

void fail_nothing() noexcept {
    for (fault& f : faults) {
        f.times.store(0, std::memory_order_relaxed);
        f.skip.store(0, std::memory_order_relaxed);
    }
    any_fault.store(false, std::memory_order_relaxed);
}

int injected(call which) noexcept {
    if (!any_fault.load(std::memory_order_relaxed)) {
        return 0;
    }
    fault& f = faults[static_cast<std::size_t>(which)];
    if (take_one(f.skip)) {
        return 0;
    }
    return take_one(f.times) ? f.error.load(std::memory_order_relaxed) : 0;
}
#else
void fail(call, int, unsigned, unsigned) noexcept {}
void fail_nothing() noexcept {}
#endif

}  // namespace eddy::kernel
