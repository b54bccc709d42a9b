// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/io/address.hpp>

#include <cstdint>
#include <system_error>

namespace eddy::detail {

/// The name in the file system that binding a unix socket made. The destructor removes the name if
/// it still names that file and this is still that process: neither a forked child nor a server
/// that its successor has replaced removes it.
class bound_path {
public:
    bound_path() noexcept = default;
    /// Binds `fd`. If `replace` is true, an existing socket of that name is removed first. Any
    /// other file stays, and the error is `address_in_use`. An abstract name makes no file. After
    /// an error no name is left.
    EDDY_API static std::error_code bind(int fd, const address& where, bool replace,
                                         bound_path& out) noexcept;

    bound_path(bound_path&& other) noexcept { take(other); }
    bound_path& operator=(bound_path&& other) noexcept {
        if (this != &other) {
            remove();
            take(other);
        }
        return *this;
    }
    ~bound_path() { remove(); }

    EDDY_API void remove() noexcept;
    /// Leaves the name in place.
    void keep() noexcept { where_ = address(); }

private:
    void take(bound_path& other) noexcept {
        where_ = other.where_;
        device_ = other.device_;
        inode_ = other.inode_;
        process_ = other.process_;
        other.keep();
    }

    address where_;
    std::uint64_t device_ = 0;
    std::uint64_t inode_ = 0;
    std::uint64_t process_ = 0;
};

}  // namespace eddy::detail
