// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/call.hpp"

#include <eddy/base/error.hpp>

#include <span>

/// How each call of the kernel may fail, from the manual pages. Left out are mistakes of the
/// caller's, and errors that describe a state: EAGAIN (except where it says that there is too
/// little of something), EINPROGRESS, EISCONN, EALREADY, ECHILD, ENOTCONN. Linux puts a socket into
/// a state before it says so, and tells of its end: after an EAGAIN that was made up, no event
/// follows.
namespace eddy::test {

struct documented_error {
    int error;
    /// Why a scenario may succeed all the same. Null: it fails, and says why. A scenario may be
    /// stricter: see fault_subject::tells.
    const char* unseen = nullptr;
    /// Linux fails once in this way, or a few times, and not on and on.
    bool passes = false;
    /// The errno that is told instead; 0: `error` itself.
    int told_as = 0;
    /// The error of eddy's own that may be told instead.
    errc own = errc{};
};

/// Where a call of a kind is sure to be made.
struct reached {
    const char* scenario;  ///< as EDDY_SCENARIO is given it
    /// The only engine, or strategy, that makes it. Null: each that the scenario is tried on.
    const char* only = nullptr;
};

struct fault_kind {
    kernel::call which;
    const char* name;
    reached by;
    std::span<const documented_error> errors;
    /// A transfer that may move less than it is asked to.
    bool may_be_short = false;
};

/// All kinds but those of kinds_that_cannot_fail().
std::span<const fault_kind> fault_kinds() noexcept;

struct kind_that_cannot_fail {
    kernel::call which;
    const char* why;
};
std::span<const kind_that_cannot_fail> kinds_that_cannot_fail() noexcept;

}  // namespace eddy::test
