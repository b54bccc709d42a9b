#include "kernel/signal.hpp"

#include "kernel/call.hpp"
#include "kernel/own_fd.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>

#include <dirent.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace eddy::kernel {

namespace {

/// none --the first to block--> writing --the mask is there--> kept
enum class keeping : int { none, writing, kept };

std::atomic<keeping> original_state{keeping::none};
sigset_t original;

void keep_original(const sigset_t& before) noexcept {
    keeping expected = keeping::none;
    if (original_state.compare_exchange_strong(expected, keeping::writing,
                                               std::memory_order_relaxed)) {
        original = before;
        // release: pairs with original_mask().
        original_state.store(keeping::kept, std::memory_order_release);
    }
}

std::error_code change_mask(int how, const sigset_t& signals, sigset_t& before) noexcept {
    count_call();
    return {::pthread_sigmask(how, &signals, &before), std::system_category()};
}

/// True also if the thread has ended meanwhile.
bool blocks(const char* thread, int signum) noexcept {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%.20s/status", thread);
    count_call();
    std::FILE* const status = std::fopen(path, "re");
    if (status == nullptr) {
        return true;
    }
    unsigned long long mask = ~0ULL;
    char line[256];
    while (std::fgets(line, sizeof line, status) != nullptr) {
        if (std::sscanf(line, "SigBlk: %llx", &mask) == 1) {
            break;
        }
    }
    std::fclose(status);
    return (mask >> static_cast<unsigned>(signum - 1) & 1) != 0;
}

}  // namespace

std::error_code block_signals(const sigset_t& signals) noexcept {
    sigset_t before;
    const auto error = change_mask(SIG_BLOCK, signals, before);
    if (!error) {
        keep_original(before);
    }
    return error;
}

std::error_code unblock_signals(const sigset_t& signals) noexcept {
    sigset_t before;
    return change_mask(SIG_UNBLOCK, signals, before);
}

sigset_t signal_mask() noexcept {
    sigset_t mask;
    count_call();
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    return mask;
}

sigset_t original_mask() noexcept {
    // acquire: pairs with keep_original(): sees the mask.
    const bool kept = original_state.load(std::memory_order_acquire) == keeping::kept;
    return kept ? original : signal_mask();
}

bool is_ignored(int signum) noexcept {
    struct sigaction action {};
    count_call();
    return ::sigaction(signum, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
           action.sa_handler == SIG_IGN;
}

bool hides_children() noexcept {
    struct sigaction action {};
    count_call();
    return ::sigaction(SIGCHLD, nullptr, &action) == 0 &&
           (action.sa_flags & (SA_NOCLDSTOP | SA_NOCLDWAIT)) != 0;
}

bool is_blocked_everywhere(int signum) noexcept {
    const sigset_t mask = signal_mask();
    if (sigismember(&mask, signum) != 1) {
        return false;
    }
    DIR* const threads = ::opendir("/proc/self/task");
    if (threads == nullptr) {
        return true;
    }
    bool blocked = true;
    while (const dirent* const thread = ::readdir(threads)) {
        if (thread->d_name[0] != '.') {
            blocked = blocked && blocks(thread->d_name, signum);
        }
    }
    ::closedir(threads);
    return blocked;
}

void put_back(const signalfd_siginfo& record) noexcept {
    siginfo_t info{};
    info.si_signo = static_cast<int>(record.ssi_signo);
    info.si_code = record.ssi_code;
    info.si_pid = static_cast<pid_t>(record.ssi_pid);
    info.si_uid = record.ssi_uid;
    info.si_status = record.ssi_status;
    count_call();
    // What only the kernel sends, a thread may send only by its own number; it goes to the process.
    ::syscall(SYS_rt_sigqueueinfo, ::gettid(), info.si_signo, &info);
}

std::error_code set_default_disposition(int signum) noexcept {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    count_call();
    return ::sigaction(signum, &action, nullptr) == 0
               ? std::error_code()
               : std::error_code(errno, std::system_category());
}

std::error_code make_signalfd(const sigset_t& signals, unique_fd& out) noexcept {
    count_call();
    if (const int error = injected(call::signalfd); error != 0) {
        return {error, std::system_category()};
    }
    return keep_own(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK), out);
}

}  // namespace eddy::kernel
