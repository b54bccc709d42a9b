// SPDX-License-Identifier: Apache-2.0

// Binds unix sockets, and removes the names that this made in the file system.
#include <eddy/io/detail/connect/bound_path.hpp>

#include "kernel/file.hpp"
#include "kernel/fork_mark.hpp"
#include "kernel/socket.hpp"

#include <array>

namespace eddy::detail {

namespace {

/// Room for a path and a NUL: a path may fill its address to the last byte, without a NUL.
using path_text = std::array<char, sizeof(sockaddr_un::sun_path) + 1>;

path_text terminated(std::string_view path) noexcept {
    path_text text{};
    path.copy(text.data(), text.size() - 1);
    return text;
}

void remove_socket(const char* path) noexcept {
    struct stat found{};
    if (!kernel::status_of(path, found) && S_ISSOCK(found.st_mode)) {
        // bind() reports a path that is still in use.
        static_cast<void>(kernel::unlink(path));
    }
}

}  // namespace

std::error_code bound_path::bind(int fd, const address& where, bool replace,
                                 bound_path& out) noexcept {
    const bool is_file = where.is_unix() && !where.is_abstract() && !where.path().empty();
    const path_text path = terminated(where.path());
    if (is_file && replace) {
        remove_socket(path.data());
    }
    if (auto error = kernel::bind(fd, where.native(), where.native_length())) {
        return error;
    }
    if (!is_file) {
        return {};
    }
    struct stat made{};
    if (auto error = kernel::status_of(path.data(), made)) {
        // Nobody could tell later whether the name is ours, so it would stay forever.
        (void)kernel::unlink(path.data());
        return error;
    }
    out.remove();
    out.where_ = where;
    out.device_ = made.st_dev;
    out.inode_ = made.st_ino;
    out.process_ = kernel::process_mark();
    return {};
}

void bound_path::remove() noexcept {
    if (!where_) {
        return;
    }
    const path_text path = terminated(where_.path());
    struct stat found{};
    if (process_ == kernel::process_mark() && !kernel::status_of(path.data(), found) &&
        found.st_dev == device_ && found.st_ino == inode_) {
        // No caller is left to whom a failure could be reported.
        static_cast<void>(kernel::unlink(path.data()));
    }
    keep();
}

}  // namespace eddy::detail
