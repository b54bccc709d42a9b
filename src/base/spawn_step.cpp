// SPDX-License-Identifier: Apache-2.0

// Describes the steps of a spawn for messages.
#include <eddy/base/spawn_step.hpp>

namespace eddy {

const char* to_string(spawn_step step) noexcept {
    switch (step) {
        case spawn_step::none:
            return "nothing";
        case spawn_step::options:
            return "checking the options";
        case spawn_step::prepare:
            return "preparing";
        case spawn_step::clone:
            return "making the process";
        case spawn_step::session:
            return "making a session";
        case spawn_step::process_group:
            return "setting the process group";
        case spawn_step::descriptors:
            return "placing descriptors";
        case spawn_step::limits:
            return "setting resource limits";
        case spawn_step::groups:
            return "setting the supplementary groups";
        case spawn_step::group:
            return "setting the group";
        case spawn_step::user:
            return "setting the user";
        case spawn_step::directory:
            return "changing the directory";
        case spawn_step::execute:
            return "executing the program";
    }
    return "unknown";
}

}  // namespace eddy
