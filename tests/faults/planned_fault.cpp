// SPDX-License-Identifier: Apache-2.0
#include "faults/planned_fault.hpp"

#include <eddy/base/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace eddy::test {

namespace {

constexpr std::size_t short_size = 1;

const char* word_of(planned_fault::how often) noexcept {
    constexpr const char* words[] = {"once", "on", "short"};
    return words[static_cast<std::size_t>(often)];
}

bool is_errno(std::error_code error, int number) noexcept {
    return error == std::error_code(number, std::system_category());
}

/// What a connection, or something that waits, ends with because another one has ended.
bool follows(std::error_code error) noexcept {
    constexpr std::array all{ECANCELED, ECONNRESET, EPIPE, ENOTCONN, ECONNREFUSED, ETIMEDOUT};
    return error == errc::end_of_stream || error == errc::timed_out ||
           error == errc::channel_closed ||
           std::ranges::any_of(all, [&](int number) { return is_errno(error, number); });
}

}  // namespace

void planned_fault::begin() const noexcept {
    const unsigned times = often == how::once ? 1 : UINT32_MAX;
    if (often == how::shorter) {
        kernel::shorten(kind->which, short_size, nth - 1);
    } else {
        kernel::fail(kind->which, expected.error, nth - 1, times);
    }
}

std::string planned_fault::key() const {
    const char* const name = often == how::shorter ? "-" : ::strerrorname_np(expected.error);
    return std::string(kind->name) + ":" + name + ":" + word_of(often) + ":" + std::to_string(nth);
}

std::string planned_fault::words() const {
    const std::string call = std::string(kind->name) + " number " + std::to_string(nth);
    if (often == how::shorter) {
        return call + " is short";
    }
    return call + " fails with " + ::strerrorname_np(expected.error) +
           (often == how::once ? "" : ", and so do all after it");
}

bool planned_fault::is(std::error_code error) const noexcept {
    return is_errno(error, expected.error) ||
           (expected.told_as != 0 && is_errno(error, expected.told_as)) ||
           (expected.own != errc{} && error == expected.own);
}

bool planned_fault::explains(std::error_code error) const noexcept {
    return is(error) || follows(error);
}

const char* planned_fault::unseen() const noexcept {
    return often == how::shorter ? "the rest is moved by the next call" : expected.unseen;
}

}  // namespace eddy::test
