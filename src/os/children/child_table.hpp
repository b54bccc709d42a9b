// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/loop/entry.hpp>
#include <eddy/loop/loop.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include <sys/signalfd.h>

namespace eddy::detail {

/// Somebody on a loop who has to know that SIGCHLD came, whichever loop has read it.
///
/// Thread: the loop's, but for what child_table does.
class child_listener {
public:
    enum class kind : std::uint8_t {
        children,  ///< looks at children, and reads SIGCHLD itself
        signal,    ///< is the one who has SIGCHLD as a signal
    };
    using callback = void (*)(void* who) noexcept;

    /// `on_signal(who)` is called on the loop's thread.
    child_listener(loop& home, kind what, callback on_signal, void* who) noexcept;
    ~child_listener();
    child_listener(const child_listener&) = delete;
    child_listener& operator=(const child_listener&) = delete;

    /// The process has forked since it was made: it is not in the table of this one.
    bool in_forked_child() const noexcept;
    /// Then it is, from now on. Precondition: the loop was made anew.
    void join_after_fork() noexcept;
    /// The loop knows it, and must be able to forget it before it is destroyed.
    bool in_use() const noexcept { return notice_.posted(); }

private:
    static void on_notice(entry& e) noexcept;
    /// Thread: any, under the table's lock.
    void tell() noexcept;

    loop& home_;
    callback on_signal_;
    void* who_;
    kind kind_;
    std::uint64_t process_mark_;
    entry notice_;
    std::atomic<bool> told_{false};  ///< `notice_` is posted, or about to be

    // Under the table's lock.
    child_listener* next_ = nullptr;

    friend class child_table;
};

/// What the loops of this process share about SIGCHLD. It is one signal for all children and all
/// loops, and who reads it takes it away from the others: so whoever has read it tells all. Each
/// then looks at its own children. tests/model/child_table.pml is the model.
///
/// Thread: any.
class child_table {
public:
    void add(child_listener& one) noexcept;
    void remove(child_listener& one) noexcept;

    /// Somebody who looks at children has read it: all others are told, and it is kept for whoever
    /// has the signal, as the kernel would keep it.
    void read(const signalfd_siginfo& record, const child_listener& by) noexcept;
    /// Whoever has the signal has read it.
    void read_as_signal(const child_listener& by) noexcept;
    /// The one that is kept.
    bool take_kept(signalfd_siginfo& out) noexcept;
    void tell_all() noexcept;

private:
    void tell_others(const child_listener* by) noexcept;

    std::mutex lock_;
    child_listener* first_ = nullptr;
    unsigned readers_ = 0;  ///< listeners of kind `children`
    std::optional<signalfd_siginfo> kept_;
};

}  // namespace eddy::detail
