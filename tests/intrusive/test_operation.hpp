// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/intrusive/operation.hpp>

namespace eddy::test {

/// An operation that is told apart by a number.
class test_operation : public operation {
public:
    explicit test_operation(int n = 0, priority_level priority = default_priority) noexcept
        : operation(node_kind::entry), number(n) {
        priority_ = priority;
    }

    int number;
};

inline int number_of(const operation& op) noexcept {
    return static_cast<const test_operation&>(op).number;
}

}  // namespace eddy::test
