#include "kernel/fork_mark.hpp"

#include <atomic>
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

std::uint64_t fresh_mark() noexcept { return static_cast<std::uint64_t>(::getpid()); }

}  // namespace

std::uint64_t process_mark() noexcept {
    static mark* const page = wiped_page();
    if (page == nullptr) {
        return fresh_mark();
    }
    std::uint64_t value = page->load(std::memory_order_relaxed);
    if (value == 0) {
        value = fresh_mark();
        page->store(value, std::memory_order_relaxed);
    }
    return value;
}

}  // namespace eddy::kernel
