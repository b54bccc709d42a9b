// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace eddy {

/// A socket address: IPv4 or IPv6 with a port, the path of a unix socket, or a name in the abstract
/// name space. A default-constructed address is empty.
///
/// The text forms are `127.0.0.1:80`, `[::1]:80`, `[fe80::1%eth0]:80` (or `%2`),
/// `unix:/run/app.sock`, `unix:@name` for an abstract name, and `unix:` for a unix socket without a
/// name. A path that begins with `@` is written `unix:./@...`.
class address {
public:
    constexpr address() noexcept : length_(0), storage_{} {}

    static address v4(std::uint32_t host_order, std::uint16_t port) noexcept {
        address made;
        made.storage_.v4.sin_family = AF_INET;
        made.storage_.v4.sin_addr.s_addr = htonl(host_order);
        made.storage_.v4.sin_port = htons(port);
        made.length_ = sizeof(sockaddr_in);
        return made;
    }
    static address v6(const in6_addr& where, std::uint16_t port, std::uint32_t scope = 0) noexcept {
        address made;
        made.storage_.v6.sin6_family = AF_INET6;
        made.storage_.v6.sin6_addr = where;
        made.storage_.v6.sin6_port = htons(port);
        made.storage_.v6.sin6_scope_id = scope;
        made.length_ = sizeof(sockaddr_in6);
        return made;
    }
    static address loopback_v4(std::uint16_t port) noexcept { return v4(INADDR_LOOPBACK, port); }
    static address any_v4(std::uint16_t port) noexcept { return v4(INADDR_ANY, port); }
    static address loopback_v6(std::uint16_t port) noexcept { return v6(in6addr_loopback, port); }
    static address any_v6(std::uint16_t port) noexcept { return v6(in6addr_any, port); }

    /// Makes the address of a path. `filename_too_long` if the path does not fit (it is never cut);
    /// `invalid_argument` if it is empty or contains a NUL.
    EDDY_API static std::error_code unix_path(std::string_view path, address& out) noexcept;
    /// Makes the address of an abstract name, given without its leading NUL; any bytes are allowed.
    EDDY_API static std::error_code unix_abstract(std::string_view name, address& out) noexcept;

    /// Parses a text form. Errors: `invalid_argument`, `filename_too_long`, or `no_such_device` for
    /// an interface that does not exist.
    EDDY_API static std::error_code parse(std::string_view text, address& out) noexcept;
    /// Parses a text form. Throws std::system_error with the text in its message.
    EDDY_API static address from(std::string_view text);
    /// Copies an address from the kernel. The result is empty if the family is unknown, or if the
    /// length does not fit the family.
    EDDY_API static address from_native(const sockaddr* native, socklen_t length) noexcept;

    EDDY_API std::string to_string() const;

    explicit operator bool() const noexcept { return length_ != 0; }
    int family() const noexcept { return length_ == 0 ? AF_UNSPEC : storage_.any.sa_family; }
    bool is_unix() const noexcept { return family() == AF_UNIX; }
    /// Returns 0 if the address has no port.
    std::uint16_t port() const noexcept {
        switch (family()) {
            case AF_INET:
                return ntohs(storage_.v4.sin_port);
            case AF_INET6:
                return ntohs(storage_.v6.sin6_port);
            default:
                return 0;
        }
    }
    /// Returns the path or abstract name of a unix socket; empty for other addresses.
    EDDY_API std::string_view path() const noexcept;
    EDDY_API bool is_abstract() const noexcept;

    const sockaddr* native() const noexcept { return &storage_.any; }
    socklen_t native_length() const noexcept { return length_; }

    EDDY_API bool operator==(const address& other) const noexcept;

private:
    union storage {
        sockaddr any;
        sockaddr_in v4;
        sockaddr_in6 v6;
        sockaddr_un local;
    };

    socklen_t length_;
    storage storage_;
};

}  // namespace eddy
