// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/children/child_table.hpp"
#include "os/processes/process_state.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>

namespace eddy::detail {

/// The processes that the loops of this process watch, so that no two loops take the same one; and
/// the children whose loop has ended before them. Allocates nothing for either.
/// Thread: any.
class process_registry {
public:
    static process_registry& instance() noexcept;

    /// Precondition: its pidfd is open, and stays so until remove().
    void add(process_state& process) noexcept;
    void remove(process_state& process) noexcept;
    /// Null: nobody watches it. One that was reaped, so that its pid may be another's, is
    /// forgotten.
    std::shared_ptr<process_state> find(pid_t pid) noexcept;

    /// Held by whoever looks for a process and adds it if nobody has it.
    std::mutex& adopting() noexcept { return adopting_; }

    /// Between the two, a child may exist that is not added yet: nobody takes one of which nothing
    /// is known.
    void begin_spawn() noexcept;
    void end_spawn() noexcept;
    /// Takes the end of a child that no loop watches. The ends of others that it comes upon are
    /// kept for their loops. False: there is none.
    bool reap_unwatched(pid_t& pid, kernel::process_end& out) noexcept;
    /// What was kept for it.
    bool take_kept_end(process_state& process, kernel::process_end& out) noexcept;

    child_table& children() noexcept { return children_; }

    void add_orphan(std::shared_ptr<process_state> process) noexcept;
    /// Reaps some of the orphans that have ended.
    void reap_orphans() noexcept;
    /// Somebody else watches it from now on.
    void drop_orphan(pid_t pid) noexcept;

private:
    static constexpr std::size_t bucket_count = 256;

    process_state*& bucket_of(pid_t pid) noexcept {
        return known_[static_cast<std::size_t>(pid) % bucket_count];
    }
    void unlink(process_state& process) noexcept;
    process_state* known(pid_t pid) noexcept;

    std::mutex adopting_;
    std::mutex lock_;
    std::array<process_state*, bucket_count> known_{};
    std::shared_ptr<process_state> orphans_;
    unsigned spawning_ = 0;
    bool put_off_ = false;  ///< somebody wanted a child while a spawn was going on
    child_table children_;
    std::uint64_t process_mark_ = 0;
};

}  // namespace eddy::detail
