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

/// What one of the fds 0, 1 and 2 of a new process is.
class stdio {
public:
    enum class kind : std::uint8_t {
        inherit,  ///< the parent's
        null,     ///< /dev/null
        pipe,     ///< the other end is the process handle's
        given,    ///< an fd of the parent's, which keeps it
        output,   ///< the same as the standard output; for the standard error
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

/// The parent's `source` is the child's `target`, which is not below 3.
struct inherited_fd {
    int source = -1;
    int target = -1;
};

struct resource_limit {
    int resource = 0;  ///< RLIMIT_*
    rlim_t soft = RLIM_INFINITY;
    rlim_t hard = RLIM_INFINITY;
};

/// What to execute, and in which surroundings. In the new process no signal is handled, and all fds
/// but those named here are closed.
struct process_options {
    /// A path, relative to `directory`, or a name without a slash, which is looked for in the PATH
    /// of this process.
    std::string program;
    /// Without the name of the program itself.
    std::vector<std::string> arguments{};
    /// What the program sees as its own name, if not `program`.
    std::optional<std::string> name{};
    /// Each as `NAME=value`. Without it: that of this process when it is spawned.
    std::optional<std::vector<std::string>> environment{};
    /// False: a name without a slash is a path too.
    bool search_path = true;
    /// Empty: that of this process.
    std::string directory{};

    stdio in{};
    stdio out{};
    stdio err{};
    std::vector<inherited_fd> fds{};
    /// Fds of this process that are not CLOEXEC are left open in the new one.
    bool keep_other_fds = false;

    /// The new process leads a session, and a process group, of its own.
    bool new_session = false;
    /// 0: a new group. Not together with a session.
    std::optional<pid_t> process_group{};
    std::optional<uid_t> user{};
    std::optional<gid_t> group{};
    /// The supplementary groups.
    std::optional<std::vector<gid_t>> groups{};
    std::vector<resource_limit> limits{};
    /// The signals that are blocked in it. Without it: those that were blocked here before
    /// block_signals() was first called, see original_mask().
    std::optional<signal_set> blocked_signals{};
    /// Signals that this process ignores are ignored there too, as nohup wants it.
    bool keep_ignored_signals = false;

    /// The end of the last handle kills it. Otherwise it lives on, and is reaped all the same.
    bool kill_on_destroy = false;
    /// The end of the last handle kills the process, and all processes of the group that it was
    /// given, also if it has ended before (Linux before 6.9 then spares them). The group must be
    /// its own: `process_group` is 0, or `new_session` is set; else the error is
    /// `invalid_argument`.
    bool kill_group_on_destroy = false;
    /// For lists of what is going on. Must live as long as the process handle.
    const char* label = "process";
};

}  // namespace eddy
