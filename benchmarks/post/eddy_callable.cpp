// SPDX-License-Identifier: Apache-2.0
// Posting on eddy: callables, which are allocated for each post.

#include "post/eddy_runner.hpp"
#include "post/harness.hpp"

namespace {

template <class Handler>
class callable_poster : public bench::eddy_runner<Handler> {
public:
    using bench::eddy_runner<Handler>::eddy_runner;
    struct item {};

    void prepare(item&) {}
    void post(item&) {
        this->loop_->post([this] { this->handler_.ran(); });
    }
};

}  // namespace

int main(int argc, char** argv) { return bench::post_main<callable_poster>(argc, argv); }
