// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/eddy_loop.hpp"

namespace bench {

/// What the subjects that post to eddy have in common.
template <class Handler>
class eddy_runner {
public:
    explicit eddy_runner(Handler& handler) : handler_(handler) {}

    void run() { loop_->run(); }
    void stop() { loop_->stop(); }

protected:
    ~eddy_runner() = default;

    Handler& handler_;
    eddy_loop loop_;
};

}  // namespace bench
