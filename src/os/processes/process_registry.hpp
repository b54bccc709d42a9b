// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/children/child_table.hpp"
#include "os/processes/process_state.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>

namespace eddy::detail {

/// Lists the processes that the loops of this process watch, so that no two loops take the same
/// one, and the orphans: children whose loop ended before them. Allocates nothing. Thread: any.
class process_registry {
public:
    static process_registry& instance() noexcept;

    /// Precondition: the pidfd of `process` is open, and stays open until remove().
    void add(process_state& process) noexcept;
    void remove(process_state& process) noexcept;
    /// Returns null if no loop watches the process. A process that was reaped is forgotten, because
    /// its pid may be another's.
    std::shared_ptr<process_state> find(pid_t pid) noexcept;

    /// The mutex to hold while a process is looked for and added if nobody has it.
    std::mutex& adopting() noexcept { return adopting_; }

    /// Between begin_spawn() and end_spawn() a child may exist that is not added yet. Nobody takes
    /// unknown children meanwhile.
    void begin_spawn() noexcept;
    void end_spawn() noexcept;
    /// Takes the end of a child that no loop watches; false if there is none. Ends of watched
    /// children that it finds are kept for their loops.
    bool reap_unwatched(pid_t& pid, kernel::process_end& out) noexcept;
    /// Takes the end that was kept for `process`. False if there is none.
    bool take_kept_end(process_state& process, kernel::process_end& out) noexcept;

    child_table& children() noexcept { return children_; }

    void add_orphan(std::shared_ptr<process_state> process) noexcept;
    /// Reaps some of the orphans that have ended.
    void reap_orphans() noexcept;
    /// Removes the orphan `pid`, which somebody else watches from now on.
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
    bool put_off_ = false;  ///< somebody wanted a child during a spawn
    child_table children_;
    std::uint64_t process_mark_ = 0;
};

}  // namespace eddy::detail
