// SPDX-License-Identifier: Apache-2.0

// Chooses the engine of a loop and makes it.
#include "loop/choose_engine.hpp"

#include "kernel/restrictions.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace eddy {

namespace {

engine_kind kind_in_environment(const char* asked) {
    for (const engine_kind kind :
         {engine_kind::epoll, engine_kind::io_uring, engine_kind::poll, engine_kind::best}) {
        if (std::string_view(asked) == to_string(kind)) {
            return kind;
        }
    }
    throw std::system_error(
        std::make_error_code(std::errc::invalid_argument),
        "EDDY_ENGINE is '" + std::string(asked) + "'; it can be epoll, io_uring, poll or best");
}

bool is_denial(std::error_code error) noexcept {
    const int number = error.category() == std::system_category() ? error.value() : 0;
    return number == EPERM || number == EACCES || number == ENOSYS || number == EINVAL;
}

/// Returns the reason why there is no io_uring. If its creation is denied, the whole engine is; for
/// any later call, the name of the call says more.
std::string reason_of(const call_failure& failure) {
    if (failure.error == errc::engine_not_built) {
        return "not in this build of eddy";
    }
    const bool at_setup = std::string_view(failure.call) == "io_uring_setup";
    const std::string what = at_setup ? "" : std::string(failure.call) + " ";
    if (is_denial(failure.error) && failure.error.value() != EINVAL) {
        if (at_setup && kernel::uring_is_disabled()) {
            return "disabled by /proc/sys/kernel/io_uring_disabled";
        }
        if (kernel::has_seccomp_filter()) {
            return what + "denied by seccomp";
        }
    }
    if (at_setup && (failure.error.value() == ENOSYS || failure.error.value() == EINVAL)) {
        return "needs Linux 5.11 or later";
    }
    return std::string(failure.call) + ": " + failure.error.message();
}

[[noreturn]] void cannot_make(engine_kind kind, const call_failure& failure) {
    const std::string what = std::string("cannot make the engine ") + to_string(kind);
    if (kind == engine_kind::io_uring && failure.call != nullptr && is_denial(failure.error)) {
        throw std::system_error(make_error_code(errc::engine_denied),
                                what + " (" + failure.call + ": " + failure.error.message() + ")");
    }
    raise(what, failure);
}

}  // namespace

std::unique_ptr<engine> choose_engine(engine_kind asked, ready_queue& ready) {
    std::string why = "asked for";
    if (asked == engine_kind::automatic) {
        const char* const named = ::secure_getenv("EDDY_ENGINE");
        const bool has_name = named != nullptr && *named != '\0';
        asked = has_name ? kind_in_environment(named) : engine_kind::epoll;
        why = has_name ? "asked for by EDDY_ENGINE" : "the default";
    }
    std::unique_ptr<engine> made;
    std::string words = std::string(to_string(asked)) + ": " + why;
    if (asked == engine_kind::best) {
        const call_failure failure = make_engine(engine_kind::io_uring, ready, made);
        asked = failure ? engine_kind::epoll : engine_kind::io_uring;
        words = failure ? "io_uring: " + reason_of(failure) + "; epoll"
                        : "io_uring: the best that works here";
    }
    if (made == nullptr) {
        if (auto failure = make_engine(asked, ready, made)) {
            cannot_make(asked, failure);
        }
    }
    made->set_choice(std::move(words));
    return made;
}

}  // namespace eddy
