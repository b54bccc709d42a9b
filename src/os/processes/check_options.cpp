// SPDX-License-Identifier: Apache-2.0

// Refuses process options that make no sense.
#include "os/processes/check_options.hpp"

#include <algorithm>

namespace eddy {

namespace {

bool is_text(const std::string& text) noexcept { return text.find('\0') == std::string::npos; }

bool is_variable(const std::string& text) noexcept {
    const std::size_t end = text.find('=');
    return is_text(text) && end != std::string::npos && end != 0;
}

bool strings_are_good(const process_options& options) noexcept {
    return !options.program.empty() && is_text(options.program) && is_text(options.directory) &&
           (!options.name || is_text(*options.name)) &&
           std::all_of(options.arguments.begin(), options.arguments.end(), is_text) &&
           (!options.environment ||
            std::all_of(options.environment->begin(), options.environment->end(), is_variable));
}

bool is_good(stdio one) noexcept { return one.what() != stdio::kind::given || one.fd() >= 0; }

bool fds_are_good(const process_options& options) noexcept {
    const auto& fds = options.fds;
    for (auto one = fds.begin(); one != fds.end(); ++one) {
        const auto same_target = [&](const inherited_fd& other) {
            return other.target == one->target;
        };
        if (one->source < 0 || one->target < 3 || std::any_of(fds.begin(), one, same_target)) {
            return false;
        }
    }
    return is_good(options.in) && is_good(options.out) && is_good(options.err) &&
           options.in.what() != stdio::kind::output && options.out.what() != stdio::kind::output;
}

}  // namespace

std::error_code check(const process_options& options) noexcept {
    const bool has_own_group = options.new_session || options.process_group == pid_t{0};
    const bool groups_are_good =
        (!options.process_group || (*options.process_group >= 0 && !options.new_session)) &&
        (!options.kill_group_on_destroy || has_own_group);
    return strings_are_good(options) && fds_are_good(options) && groups_are_good
               ? std::error_code()
               : std::make_error_code(std::errc::invalid_argument);
}

}  // namespace eddy
