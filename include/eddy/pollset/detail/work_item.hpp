// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/intrusive/operation.hpp>
#include <eddy/intrusive/ready_queue.hpp>
#include <eddy/pollset/closure.hpp>

#include <cstdint>

namespace eddy::detail {

/// An entry of a pollset's queue.
struct work_item : operation {
    enum class kind : std::uint8_t {
        membership,  ///< a handle that has closures due
        single,      ///< one closure, of a timer
    };

    explicit work_item(kind k, priority_level priority) noexcept
        : operation(node_kind::entry), what(k) {
        ready_queue::give_priority(*this, priority);
    }

    kind what;
};

struct single_item : work_item {
    single_item(closure& c, priority_level priority) noexcept
        : work_item(kind::single, priority), due(&c) {}

    closure* due;
};

}  // namespace eddy::detail
