// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loop/work.hpp"
#include "support/engine_fixture.hpp"

namespace eddy::test {

/// A test on each engine, whose loop is there from the beginning: other threads may use it.
class LoopTest : public EngineTest {
protected:
    void SetUp() override {
        EngineTest::SetUp();
        if (!IsSkipped()) {
            static_cast<void>(loop());
        }
    }
};

}  // namespace eddy::test
