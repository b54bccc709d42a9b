// SPDX-License-Identifier: Apache-2.0

// Prepares a spawn: checks options, opens fds, lays out strings and paths.
#include "os/processes/spawn_preparation.hpp"

#include "kernel/io.hpp"
#include "kernel/signal.hpp"
#include "kernel/socket.hpp"
#include "os/processes/check_options.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace eddy {

namespace {

/// The search path of a shell that has no PATH.
constexpr std::string_view default_path = "/bin:/usr/bin";

std::error_code open_null(unique_fd& out) noexcept {
    const io_result opened =
        kernel::open(AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC | O_NOCTTY, 0, 0);
    if (opened) {
        out.reset(opened.fd());
    }
    return opened.error();
}

/// exec takes pointers to non-const strings, and leaves the strings alone.
char* lent(const std::string& text) noexcept { return const_cast<char*>(text.c_str()); }

}  // namespace

std::error_code spawn_preparation::prepare(loop& home, const process_options& options,
                                           spawn_step& failed) {
    failed = spawn_step::options;
    if (auto error = check(options)) {
        return error;
    }
    failed = spawn_step::prepare;
    if (auto error = place_stdio(home, options)) {
        return error;
    }
    place_fds(options);
    take_strings(options);
    take_paths(options);
    take_rights(options);
    stack_.resize(kernel::child_stack_size);
    plan_.stack = stack_;
    return {};
}

std::error_code spawn_preparation::place_stdio(loop& home, const process_options& options) {
    const std::array<stdio, 3> wanted{options.in, options.out, options.err};
    std::array<int, 3> sources{-1, -1, -1};
    for (std::size_t fd = 0; fd != 3; ++fd) {
        if (wanted[fd].what() == stdio::kind::output) {
            // An inherited output is the parent's fd 1.
            sources[fd] = sources[1] >= 0 ? sources[1] : 1;
        } else if (auto error = source_of(home, wanted[fd], fd, sources[fd])) {
            return error;
        }
        if (sources[fd] >= 0) {
            fds_.push_back({sources[fd], static_cast<int>(fd)});
        }
    }
    return {};
}

/// Leaves `source` at -1 for an inherited fd, which stays as the parent has it.
std::error_code spawn_preparation::source_of(loop& home, stdio what, std::size_t fd, int& source) {
    switch (what.what()) {
        case stdio::kind::inherit:
        case stdio::kind::output:
            return {};
        case stdio::kind::given:
            source = what.fd();
            return {};
        case stdio::kind::pipe:
            return make_pipe(home, fd, source);
        case stdio::kind::null: {
            const auto error = open_null(opened_[fd]);
            source = opened_[fd].get();
            return error;
        }
    }
    return {};
}

std::error_code spawn_preparation::make_pipe(loop& home, std::size_t fd, int& source) {
    unique_fd reader;
    unique_fd writer;
    if (auto error = kernel::make_pipe(reader, writer)) {
        return error;
    }
    unique_fd& ours = fd == 0 ? writer : reader;
    opened_[fd] = std::move(fd == 0 ? reader : writer);
    source = opened_[fd].get();
    return descriptor::attach(home, ours, pipes_[fd], {.kind = descriptor_kind::pipe});
}

void spawn_preparation::place_fds(const process_options& options) {
    for (const inherited_fd& one : options.fds) {
        fds_.push_back({one.source, one.target});
    }
    std::sort(fds_.begin(), fds_.end(),
              [](const auto& a, const auto& b) { return a.target < b.target; });
    plan_.fds = fds_;
    plan_.keep_other_fds = options.keep_other_fds;
}

void spawn_preparation::take_strings(const process_options& options) {
    arguments_.push_back(lent(options.name ? *options.name : options.program));
    for (const std::string& argument : options.arguments) {
        arguments_.push_back(lent(argument));
    }
    arguments_.push_back(nullptr);
    plan_.arguments = arguments_.data();
    if (options.environment) {
        for (const std::string& variable : *options.environment) {
            environment_.push_back(lent(variable));
        }
        environment_.push_back(nullptr);
        plan_.environment = environment_.data();
    }
    plan_.directory = options.directory.empty() ? nullptr : options.directory.c_str();
}

void spawn_preparation::take_paths(const process_options& options) {
    if (!options.search_path || options.program.find('/') != std::string::npos) {
        paths_.push_back(options.program.c_str());
    } else {
        const char* const variable = std::getenv("PATH");
        std::string_view rest = variable != nullptr ? variable : default_path;
        for (bool more = true; more;) {
            const std::size_t end = rest.find(':');
            const std::string_view directory = rest.substr(0, end);
            // An empty entry is the current directory.
            found_paths_.push_back(std::string(directory.empty() ? "." : directory) + "/" +
                                   options.program);
            more = end != std::string_view::npos;
            rest.remove_prefix(more ? end + 1 : rest.size());
        }
        for (const std::string& path : found_paths_) {
            paths_.push_back(path.c_str());
        }
    }
    paths_.push_back(nullptr);
    plan_.paths = paths_.data();
}

void spawn_preparation::take_rights(const process_options& options) {
    for (const resource_limit& one : options.limits) {
        limits_.push_back({one.resource, {one.soft, one.hard}});
    }
    plan_.limits = limits_;
    plan_.session = options.new_session;
    plan_.process_group = options.process_group.value_or(-1);
    plan_.set_groups = options.groups.has_value();
    if (options.groups) {
        plan_.groups = *options.groups;
    }
    plan_.group = options.group ? std::int64_t{*options.group} : -1;
    plan_.user = options.user ? std::int64_t{*options.user} : -1;
    plan_.keep_ignored = options.keep_ignored_signals;
    const sigset_t mask =
        options.blocked_signals ? options.blocked_signals->native() : kernel::original_mask();
    // The kernel's set is the beginning of the C library's.
    std::memcpy(&plan_.mask, &mask, sizeof plan_.mask);
}

}  // namespace eddy
