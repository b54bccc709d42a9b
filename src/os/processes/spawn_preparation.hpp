// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/process.hpp"

#include <eddy/loop/descriptor.hpp>
#include <eddy/os/process_options.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <system_error>
#include <vector>

namespace eddy {

/// Does everything for a spawn that can fail or takes memory, before there is a process.
/// Lifetime: must not outlive the options, whose strings the plan points to.
class spawn_preparation {
public:
    /// Throws std::bad_alloc.
    std::error_code prepare(loop& home, const process_options& options, spawn_step& failed);

    kernel::spawn_plan& plan() noexcept { return plan_; }
    /// The parent's ends of the pipes.
    std::array<descriptor, 3>& pipes() noexcept { return pipes_; }

private:
    std::error_code place_stdio(loop& home, const process_options& options);
    std::error_code source_of(loop& home, stdio what, std::size_t fd, int& source);
    std::error_code make_pipe(loop& home, std::size_t fd, int& source);
    void place_fds(const process_options& options);
    void take_strings(const process_options& options);
    void take_paths(const process_options& options);
    void take_rights(const process_options& options);

    kernel::spawn_plan plan_;
    std::vector<char*> arguments_;
    std::vector<char*> environment_;
    std::vector<std::string> found_paths_;
    std::vector<const char*> paths_;
    std::vector<kernel::fd_placement> fds_;
    std::vector<kernel::limit_setting> limits_;
    std::array<unique_fd, 3> opened_;
    std::array<descriptor, 3> pipes_;
    std::vector<std::byte> stack_;
};

}  // namespace eddy
