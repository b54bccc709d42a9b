#include "kernel/fork_mark.hpp"

#include <atomic>
#include <ctime>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

namespace eddy::kernel {

namespace {

using mark = std::atomic<std::uint64_t>;

/// Null where the kernel has no such pages (before 4.14): then every call asks for the pid.
mark* wiped_page() noexcept {
    static mark* const page = []() -> mark* {
        const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        void* const memory =
            ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            return nullptr;
        }
        if (::madvise(memory, size, MADV_WIPEONFORK) != 0) {
            ::munmap(memory, size);
            return nullptr;
        }
        return new (memory) mark(0);
    }();
    return page;
}

/// The pid alone would not do: it comes back, and the first process of every pid namespace is 1.
std::uint64_t fresh_mark() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const auto ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
                    static_cast<std::uint64_t>(now.tv_nsec);
    return (ns << 22U) | static_cast<std::uint64_t>(::getpid());  // 22: the bits of a pid
}

}  // namespace

std::uint64_t process_mark() noexcept {
    static mark* const page = wiped_page();
    if (page == nullptr) {
        return static_cast<std::uint64_t>(::getpid());
    }
    std::uint64_t value = page->load(std::memory_order_relaxed);
    if (value == 0) {
        const std::uint64_t fresh = fresh_mark();
        // relaxed: only the number travels. Of several threads that come first, one decides.
        if (page->compare_exchange_strong(value, fresh, std::memory_order_relaxed)) {
            value = fresh;
        }
    }
    return value;
}

}  // namespace eddy::kernel
