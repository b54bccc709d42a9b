#include "os/process_registry.hpp"

#include "kernel/fork_mark.hpp"

#include <atomic>
#include <utility>

namespace eddy::detail {

namespace {

/// How many orphans are looked at in one go.
constexpr int orphans_at_once = 32;

std::atomic<process_registry*> current{nullptr};

}  // namespace

/// In the child after fork() there is a new one: the old one's lock may be held by a thread that
/// does not exist here, and what it lists are the parent's children.
process_registry& process_registry::instance() noexcept {
    const std::uint64_t mark = kernel::process_mark();
    process_registry* found = current.load(std::memory_order_acquire);  // pairs with the exchange
    if (found != nullptr && found->process_mark_ == mark) {
        return *found;
    }
    auto* const made = new process_registry;
    made->process_mark_ = mark;
    if (current.compare_exchange_strong(found, made, std::memory_order_acq_rel)) {
        return *made;
    }
    delete made;
    return *found;
}

void process_registry::add(process_state& process) noexcept {
    const std::lock_guard hold(lock_);
    process.known_ = true;
    process.known_pidfd_ = process.pidfd();
    process.next_known_ = std::exchange(bucket_of(process.pid()), &process);
}

void process_registry::remove(process_state& process) noexcept {
    const std::lock_guard hold(lock_);
    if (process.known_) {
        unlink(process);
    }
}

void process_registry::unlink(process_state& process) noexcept {
    process_state** link = &bucket_of(process.pid());
    while (*link != &process) {
        link = &(*link)->next_known_;
    }
    *link = process.next_known_;
    process.known_ = false;
}

/// Under the lock.
process_state* process_registry::known(pid_t pid) noexcept {
    process_state* one = bucket_of(pid);
    while (one != nullptr && one->pid() != pid) {
        one = one->next_known_;
    }
    if (one != nullptr &&
        kernel::signal_pidfd(one->known_pidfd_, 0) == std::errc::no_such_process) {
        unlink(*one);
        return nullptr;
    }
    return one;
}

std::shared_ptr<process_state> process_registry::find(pid_t pid) noexcept {
    const std::lock_guard hold(lock_);
    process_state* const found = known(pid);
    return found != nullptr ? found->weak_from_this().lock() : nullptr;
}

void process_registry::begin_spawn() noexcept {
    const std::lock_guard hold(lock_);
    ++spawning_;
}

void process_registry::end_spawn() noexcept {
    bool look_again = false;
    {
        const std::lock_guard hold(lock_);
        look_again = --spawning_ == 0 && std::exchange(put_off_, false);
    }
    if (look_again) {
        children_.tell_all();
    }
}

bool process_registry::reap_unwatched(pid_t& pid, kernel::process_end& out) noexcept {
    const std::lock_guard hold(lock_);
    while (!kernel::find_ended(pid)) {
        process_state* const watched = known(pid);
        if (watched == nullptr && spawning_ != 0) {
            put_off_ = true;
            return false;
        }
        kernel::process_end end;
        if (kernel::reap_pid(pid, end)) {
            continue;  // others were faster
        }
        if (watched == nullptr) {
            out = end;
            return true;
        }
        // Left alone it would hide the others. Its loop, whose reap() fails now, asks for it.
        watched->kept_end_ = end;
    }
    return false;
}

bool process_registry::take_kept_end(process_state& process, kernel::process_end& out) noexcept {
    const std::lock_guard hold(lock_);
    if (!process.kept_end_) {
        return false;
    }
    out = *process.kept_end_;
    return true;
}

void process_registry::add_orphan(std::shared_ptr<process_state> process) noexcept {
    const std::lock_guard hold(lock_);
    process->next_orphan_ = std::exchange(orphans_, process);
}

void process_registry::reap_orphans() noexcept {
    const std::lock_guard hold(lock_);
    std::shared_ptr<process_state>* link = &orphans_;
    for (int looked = 0; *link != nullptr && looked != orphans_at_once; ++looked) {
        kernel::process_end end;
        const auto error = kernel::reap((*link)->pidfd(), end);
        if (error == std::errc::operation_would_block) {
            link = &(*link)->next_orphan_;
        } else {
            *link = std::exchange((*link)->next_orphan_, nullptr);
        }
    }
    if (*link == nullptr || link == &orphans_) {
        return;
    }
    // Next time the others come first.
    std::shared_ptr<process_state> looked_at =
        std::exchange(orphans_, std::exchange(*link, nullptr));
    std::shared_ptr<process_state>* last = &orphans_;
    while (*last != nullptr) {
        last = &(*last)->next_orphan_;
    }
    *last = std::move(looked_at);
}

void process_registry::drop_orphan(pid_t pid) noexcept {
    const std::lock_guard hold(lock_);
    for (auto* link = &orphans_; *link != nullptr; link = &(*link)->next_orphan_) {
        if ((*link)->pid() == pid) {
            *link = std::exchange((*link)->next_orphan_, nullptr);
            return;
        }
    }
}

}  // namespace eddy::detail
