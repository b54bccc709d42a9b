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

/// An object of a loop that has to know when SIGCHLD came, whichever loop has read it. Thread: the
/// loop's, except for calls by child_table.
class child_listener {
public:
    enum class kind : std::uint8_t {
        children,  ///< looks at children, and reads SIGCHLD itself
        signal,    ///< owns SIGCHLD as a signal
    };
    using callback = void (*)(void* who) noexcept;

    /// `on_signal(who)` is called on the loop's thread.
    child_listener(loop& home, kind what, callback on_signal, void* who) noexcept;
    ~child_listener();
    child_listener(const child_listener&) = delete;
    child_listener& operator=(const child_listener&) = delete;

    /// True if the process has forked since this was made: it is not in the child's table.
    bool in_forked_child() const noexcept;
    /// Joins the table of a forked process. Precondition: loop::after_fork_in_child() was called.
    void join_after_fork() noexcept;
    /// True if the loop refers to this, and has to forget it before it is destroyed.
    bool in_use() const noexcept { return notice_.posted(); }

private:
    static void on_notice(entry& e) noexcept;
    /// Posts the notice unless it is posted. Thread: any, under the table's lock.
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

/// Shares SIGCHLD among the loops of this process. It is one signal for all children and all loops,
/// and reading it takes it from everybody else. So a loop that has read it tells all others, and
/// each looks at its own children. tests/model/child_table.pml is the model.
///
/// Thread: any.
class child_table {
public:
    void add(child_listener& one) noexcept;
    void remove(child_listener& one) noexcept;

    /// A listener that looks at children has read the signal. Tells all others, and keeps the
    /// record for the owner of the signal, as the kernel would keep it.
    void read(const signalfd_siginfo& record, const child_listener& by) noexcept;
    /// The owner of the signal has read it. Tells all others.
    void read_as_signal(const child_listener& by) noexcept;
    /// Takes the record that is kept. False if there is none.
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
