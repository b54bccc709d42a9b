// SPDX-License-Identifier: Apache-2.0

// Finds out cheaply whether this process is a child made by fork().
#include "kernel/fork_mark.hpp"

#include "kernel/once.hpp"

#include <atomic>
#include <ctime>
#include <new>

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace eddy::kernel {

namespace {

using mark = std::atomic<std::uint64_t>;

/// Allocates the page. Null where the kernel lacks MADV_WIPEONFORK (before 4.14).
mark* wiped_page() noexcept {
    const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* memory = nullptr;
    const io_result mapped = once(call::memory, [&] {
        memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return memory == MAP_FAILED ? -1 : 0;
    });
    if (!mapped) {
        return nullptr;
    }
    if (!once(call::memory, [&] { return ::madvise(memory, size, MADV_WIPEONFORK); })) {
        surely(call::memory, [&] { return ::munmap(memory, size); });
        return nullptr;
    }
    return new (memory) mark(0);
}

/// The fallback for wiped_page(). It misses children that were made without the C library.
mark& wiped_by_handler() noexcept {
    static constinit mark cell{0};
    ::pthread_atfork(nullptr, nullptr, [] { cell.store(0, std::memory_order_relaxed); });
    return cell;
}

mark& the_cell() noexcept {
    static mark& cell = []() -> mark& {
        mark* const page = wiped_page();
        return page != nullptr ? *page : wiped_by_handler();
    }();
    return cell;
}

/// Combines time and pid. The pid alone would not do: pids are reused, and the first process of
/// every pid namespace is 1.
std::uint64_t fresh_mark() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const auto ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
                    static_cast<std::uint64_t>(now.tv_nsec);
    const auto pid = once(call::getid, [] { return ::getpid(); }).raw();
    return (ns << 22U) | static_cast<std::uint64_t>(pid);  // 22: the bits of a pid
}

}  // namespace

std::uint64_t process_mark() noexcept {
    mark& cell = the_cell();
    std::uint64_t value = cell.load(std::memory_order_relaxed);
    if (value == 0) {
        const std::uint64_t fresh = fresh_mark();
        // relaxed: only the number travels. If several threads come first, one of them decides.
        if (cell.compare_exchange_strong(value, fresh, std::memory_order_relaxed)) {
            value = fresh;
        }
    }
    return value;
}

const std::atomic<std::uint64_t>& process_mark_cell() noexcept { return the_cell(); }

}  // namespace eddy::kernel
