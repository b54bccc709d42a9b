// SPDX-License-Identifier: Apache-2.0

// Implements signal masks, dispositions and signalfds.
#include "kernel/signal.hpp"

#include "kernel/io.hpp"
#include "kernel/once.hpp"
#include "kernel/own_fd.hpp"
#include "kernel/thread_status.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace eddy::kernel {

namespace {

/// State of `original`: none --first block_signals()--> writing --mask stored--> kept
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
    return once(call::sigmask,
                [&] { return result_of_error(::pthread_sigmask(how, &signals, &before)); })
        .error();
}

bool disposition(int signum, struct sigaction& action) noexcept {
    return once(call::sigaction, [&] { return ::sigaction(signum, nullptr, &action); }).ok();
}

/// The next entry of the directory, or null at the end.
const dirent* next_of(DIR& directory) noexcept {
    const dirent* found = nullptr;
    once(call::read, [&] {
        found = ::readdir(&directory);
        return 0;
    });
    return found;
}

/// True if the thread blocks the signal or has ended. `name` receives the name of a live thread.
bool blocks(const char* thread, int signum, char (&name)[16]) noexcept {
    char path[32];
    std::snprintf(path, sizeof path, "self/task/%.20s", thread);
    const thread_status status(path);
    const char* const blocked = status.field("SigBlk");
    const auto mask = blocked != nullptr ? std::strtoull(blocked, nullptr, 16) : ~0ULL;
    const char* const named = status.field("Name");
    std::snprintf(name, sizeof name, "%.*s",
                  named != nullptr ? static_cast<int>(std::strcspn(named, "\n")) : 0,
                  named != nullptr ? named : "");
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
    sigemptyset(&mask);
    once(call::sigmask,
         [&] { return result_of_error(::pthread_sigmask(SIG_SETMASK, nullptr, &mask)); });
    return mask;
}

sigset_t original_mask() noexcept {
    // acquire: pairs with keep_original(), whose mask is read next.
    const bool kept = original_state.load(std::memory_order_acquire) == keeping::kept;
    return kept ? original : signal_mask();
}

bool is_ignored(int signum) noexcept {
    struct sigaction action{};
    return disposition(signum, action) && (action.sa_flags & SA_SIGINFO) == 0 &&
           action.sa_handler == SIG_IGN;
}

bool hides_children() noexcept {
    struct sigaction action{};
    return disposition(SIGCHLD, action) && (action.sa_flags & (SA_NOCLDSTOP | SA_NOCLDWAIT)) != 0;
}

bool is_blocked_everywhere(int signum) noexcept {
    const sigset_t mask = signal_mask();
    return sigismember(&mask, signum) == 1 && thread_not_blocking(signum).id == 0;
}

thread_identity thread_not_blocking(int signum) noexcept {
    thread_identity found;
    unique_fd directory(open(AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY, 0, 0).fd());
    DIR* threads = nullptr;
    const io_result opened = once(call::open, [&] {
        threads = ::fdopendir(directory.get());
        return threads != nullptr ? 0 : -1;
    });
    if (!opened) {
        return found;
    }
    static_cast<void>(directory.release());  // closedir() closes it
    while (const dirent* const thread = next_of(*threads)) {
        if (thread->d_name[0] != '.' && !blocks(thread->d_name, signum, found.name)) {
            found.id = std::atoi(thread->d_name);
            break;
        }
    }
    surely(call::close, [&] { return ::closedir(threads); });
    return found;
}

void put_back(const signalfd_siginfo& record) noexcept {
    siginfo_t info{};
    info.si_signo = static_cast<int>(record.ssi_signo);
    info.si_code = record.ssi_code;
    info.si_pid = static_cast<pid_t>(record.ssi_pid);
    info.si_uid = record.ssi_uid;
    info.si_status = record.ssi_status;
    // The kernel lets a thread forge a kernel's signal only with its own thread number as the
    // target. The signal goes to the whole process nevertheless.
    const io_result thread = once(call::getid, [] { return ::gettid(); });
    once(call::sigqueue,
         [&] { return ::syscall(SYS_rt_sigqueueinfo, thread.raw(), info.si_signo, &info); });
}

std::error_code set_default_disposition(int signum) noexcept {
    struct sigaction action{};
    action.sa_handler = SIG_DFL;
    return once(call::sigaction, [&] { return ::sigaction(signum, &action, nullptr); }).error();
}

std::error_code make_signalfd(const sigset_t& signals, unique_fd& out) noexcept {
    return keep_own(
        once(call::signalfd, [&] { return ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK); }),
        out);
}

}  // namespace eddy::kernel
