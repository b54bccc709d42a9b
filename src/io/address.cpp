// SPDX-License-Identifier: Apache-2.0

// Parses, prints and compares addresses.
#include <eddy/io/address.hpp>

#include "kernel/socket.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>

#include <arpa/inet.h>
#include <net/if.h>

namespace eddy {

namespace {

constexpr std::size_t path_offset = offsetof(sockaddr_un, sun_path);
constexpr std::size_t path_max = sizeof(sockaddr_un::sun_path);
constexpr std::string_view unix_prefix = "unix:";

std::error_code invalid() noexcept { return std::make_error_code(std::errc::invalid_argument); }

template <class Number>
bool parse_number(std::string_view text, Number& out) noexcept {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size();
}

/// Appends the NUL that C functions need. False if the text contains a NUL or does not fit.
template <std::size_t Size>
bool terminated(std::string_view text, std::array<char, Size>& out) noexcept {
    if (text.size() >= Size || text.find('\0') != std::string_view::npos) {
        return false;
    }
    std::copy(text.begin(), text.end(), out.begin());
    out[text.size()] = '\0';
    return true;
}

std::error_code parse_scope(std::string_view text, std::uint32_t& scope) noexcept {
    if (parse_number(text, scope)) {
        return {};
    }
    std::array<char, IF_NAMESIZE> name;
    if (text.empty() || !terminated(text, name)) {
        return invalid();
    }
    return kernel::interface_index(name.data(), scope);
}

std::error_code parse_v6(std::string_view host, std::uint16_t port, address& out) noexcept {
    std::uint32_t scope = 0;
    if (const auto percent = host.find('%'); percent != std::string_view::npos) {
        if (auto error = parse_scope(host.substr(percent + 1), scope)) {
            return error;
        }
        host = host.substr(0, percent);
    }
    std::array<char, INET6_ADDRSTRLEN> text;
    in6_addr where{};
    if (!terminated(host, text) || ::inet_pton(AF_INET6, text.data(), &where) != 1) {
        return invalid();
    }
    out = address::v6(where, port, scope);
    return {};
}

std::error_code parse_v4(std::string_view host, std::uint16_t port, address& out) noexcept {
    std::array<char, INET_ADDRSTRLEN> text;
    in_addr where{};
    if (!terminated(host, text) || ::inet_pton(AF_INET, text.data(), &where) != 1) {
        return invalid();
    }
    out = address::v4(ntohl(where.s_addr), port);
    return {};
}

std::error_code parse_unix(std::string_view name, address& out) noexcept {
    if (name.empty()) {
        sockaddr_un nameless{};
        nameless.sun_family = AF_UNIX;
        out = address::from_native(reinterpret_cast<const sockaddr*>(&nameless), path_offset);
        return {};
    }
    return name.front() == '@' ? address::unix_abstract(name.substr(1), out)
                               : address::unix_path(name, out);
}

/// Returns the prefix of the printed name, from which parse() tells what kind of name it is.
const char* unix_mark(const address& where) noexcept {
    if (where.is_abstract()) {
        return "@";
    }
    return where.path().starts_with('@') ? "./" : "";
}

}  // namespace

std::error_code address::unix_path(std::string_view path, address& out) noexcept {
    if (path.empty() || path.find('\0') != std::string_view::npos) {
        return invalid();
    }
    if (path.size() >= path_max) {  // with its NUL
        return std::make_error_code(std::errc::filename_too_long);
    }
    out = address();
    out.storage_.local = {};
    out.storage_.local.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), out.storage_.local.sun_path);
    out.length_ = static_cast<socklen_t>(path_offset + path.size() + 1);
    return {};
}

std::error_code address::unix_abstract(std::string_view name, address& out) noexcept {
    if (name.empty()) {
        return invalid();
    }
    if (name.size() >= path_max) {  // behind a NUL
        return std::make_error_code(std::errc::filename_too_long);
    }
    out = address();
    out.storage_.local = {};
    out.storage_.local.sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), out.storage_.local.sun_path + 1);
    out.length_ = static_cast<socklen_t>(path_offset + 1 + name.size());
    return {};
}

std::error_code address::parse(std::string_view text, address& out) noexcept {
    if (text.substr(0, unix_prefix.size()) == unix_prefix) {
        return parse_unix(text.substr(unix_prefix.size()), out);
    }
    const auto colon = text.rfind(':');
    std::uint16_t port = 0;
    if (colon == std::string_view::npos || !parse_number(text.substr(colon + 1), port)) {
        return invalid();
    }
    const std::string_view host = text.substr(0, colon);
    if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
        return parse_v6(host.substr(1, host.size() - 2), port, out);
    }
    return parse_v4(host, port, out);
}

address address::from(std::string_view text) {
    address made;
    if (auto error = parse(text, made)) {
        throw std::system_error(error, "'" + std::string(text) + "' is not an address");
    }
    return made;
}

address address::from_native(const sockaddr* native, socklen_t length) noexcept {
    address made;
    if (native == nullptr || length < sizeof(sa_family_t)) {
        return made;
    }
    const bool fits = native->sa_family == AF_INET    ? length == sizeof(sockaddr_in)
                      : native->sa_family == AF_INET6 ? length == sizeof(sockaddr_in6)
                      : native->sa_family == AF_UNIX  ? length <= sizeof(sockaddr_un) + 1
                                                      : false;
    if (fits) {
        // The kernel counts a NUL behind a path that fills all of sun_path.
        made.length_ = std::min<socklen_t>(length, sizeof(sockaddr_un));
        std::memcpy(&made.storage_, native, made.length_);
    }
    return made;
}

std::string_view address::path() const noexcept {
    if (!is_unix() || length_ <= path_offset) {
        return {};
    }
    const char* const text = storage_.local.sun_path;
    const std::size_t size = std::min(length_ - path_offset, path_max);
    return is_abstract() ? std::string_view(text + 1, size - 1)
                         : std::string_view(text, ::strnlen(text, size));
}

bool address::is_abstract() const noexcept {
    return is_unix() && length_ > path_offset && storage_.local.sun_path[0] == '\0';
}

std::string address::to_string() const {
    std::array<char, INET6_ADDRSTRLEN> host{};
    switch (family()) {
        case AF_INET:
            ::inet_ntop(AF_INET, &storage_.v4.sin_addr, host.data(), host.size());
            return std::string(host.data()) + ":" + std::to_string(port());
        case AF_INET6: {
            ::inet_ntop(AF_INET6, &storage_.v6.sin6_addr, host.data(), host.size());
            std::string text("[");
            text += host.data();
            if (storage_.v6.sin6_scope_id != 0) {
                text += '%';
                text += std::to_string(storage_.v6.sin6_scope_id);
            }
            text += "]:";
            text += std::to_string(port());
            return text;
        }
        case AF_UNIX:
            return std::string(unix_prefix) + unix_mark(*this) + std::string(path());
        default:
            return "none";
    }
}

bool address::operator==(const address& other) const noexcept {
    if (family() != other.family()) {
        return false;
    }
    switch (family()) {
        case AF_INET:
            return storage_.v4.sin_addr.s_addr == other.storage_.v4.sin_addr.s_addr &&
                   port() == other.port();
        case AF_INET6:
            return std::memcmp(&storage_.v6.sin6_addr, &other.storage_.v6.sin6_addr,
                               sizeof(in6_addr)) == 0 &&
                   port() == other.port() &&
                   storage_.v6.sin6_scope_id == other.storage_.v6.sin6_scope_id;
        case AF_UNIX:
            return is_abstract() == other.is_abstract() && path() == other.path();
        default:
            return true;
    }
}

}  // namespace eddy
