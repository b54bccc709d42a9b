// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/os/signal_set.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>

namespace eddy {

/// The source of fd 0, 1 or 2 of a new process.
class stdio {
public:
    enum class kind : std::uint8_t {
        inherit,  ///< the fd of the parent
        null,     ///< /dev/null
        pipe,     ///< a pipe; the process handle has the other end
        given,    ///< an fd of the parent, which keeps it
        output,   ///< shares the standard output; only for the standard error
    };

    constexpr stdio() noexcept = default;
    static constexpr stdio inherit() noexcept { return {}; }
    static constexpr stdio null() noexcept { return stdio(kind::null, -1); }
    static constexpr stdio pipe() noexcept { return stdio(kind::pipe, -1); }
    static constexpr stdio given(int fd) noexcept { return stdio(kind::given, fd); }
    static constexpr stdio like_output() noexcept { return stdio(kind::output, -1); }

    constexpr kind what() const noexcept { return kind_; }
    constexpr int fd() const noexcept { return fd_; }

private:
    constexpr stdio(kind what, int fd) noexcept : kind_(what), fd_(fd) {}

    kind kind_ = kind::inherit;
    int fd_ = -1;
};

/// Gives the parent's fd `source` to the child as fd `target`, which is not below 3.
struct inherited_fd {
    int source = -1;
    int target = -1;
};

struct resource_limit {
    int resource = 0;  ///< RLIMIT_*
    rlim_t soft = RLIM_INFINITY;
    rlim_t hard = RLIM_INFINITY;
};

/// A program to execute, and its surroundings. The new process handles no signal, and all fds that
/// are not named here are closed in it.
struct process_options {
    /// A path (relative to `directory`), or a name without a slash, which is searched for in the
    /// PATH of this process.
    std::string program;
    /// Arguments, without the name of the program itself.
    std::vector<std::string> arguments{};
    /// The name that the program sees as its own, if not `program`.
    std::optional<std::string> name{};
    /// Variables, as `NAME=value`. If absent, those of this process at the time of the spawn.
    std::optional<std::vector<std::string>> environment{};
    /// If false, a name without a slash is a path too.
    bool search_path = true;
    /// Working directory; if empty, that of this process.
    std::string directory{};

    stdio in{};
    stdio out{};
    stdio err{};
    std::vector<inherited_fd> fds{};
    /// Leaves fds of this process that are not CLOEXEC open in the new one.
    bool keep_other_fds = false;

    /// Makes the new process the leader of a session and a process group of its own.
    bool new_session = false;
    /// The process group; 0 for a new one. Not together with `new_session`.
    std::optional<pid_t> process_group{};
    std::optional<uid_t> user{};
    std::optional<gid_t> group{};
    /// The supplementary groups.
    std::optional<std::vector<gid_t>> groups{};
    std::vector<resource_limit> limits{};
    /// The signals that are blocked in the new process. If absent, those that were blocked here
    /// before the first block_signals(); see original_mask().
    std::optional<signal_set> blocked_signals{};
    /// Lets the new process ignore the signals that this process ignores, as nohup wants it.
    bool keep_ignored_signals = false;

    /// Kills the process when its last handle ends. If false, it lives on, and is still reaped.
    bool kill_on_destroy = false;
    /// Kills the process and all processes of its group when its last handle ends, even if it has
    /// ended before (Linux before 6.9 then spares the group). The group must be its own:
    /// `process_group` is 0, or `new_session` is set; else the error is `invalid_argument`.
    bool kill_group_on_destroy = false;
    /// Shown in lists of live operations. Must live as long as the process handle.
    const char* label = "process";
};

}  // namespace eddy
