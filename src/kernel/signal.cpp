#include "kernel/signal.hpp"

#include "kernel/call.hpp"

#include <atomic>
#include <cerrno>

#include <pthread.h>
#include <sys/signalfd.h>

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
    const int fd = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0) {
        return {errno, std::system_category()};
    }
    out.reset(fd);
    return {};
}

}  // namespace eddy::kernel
