// SPDX-License-Identifier: Apache-2.0

// Names the reactions.
#include <eddy/base/reaction.hpp>

namespace eddy {

const char* to_string(reaction r) noexcept {
    switch (r) {
        case reaction::rearm:
            return "rearm";
        case reaction::again:
            return "again";
        case reaction::disarm:
            return "disarm";
        case reaction::remove:
            return "remove";
        case reaction::destroyed:
            return "destroyed";
        case reaction::requeue:
            return "requeue";
        case reaction::leave:
            return "leave";
    }
    return "unknown";
}

}  // namespace eddy
