// SPDX-License-Identifier: Apache-2.0
// Posting on eddy: intrusive entries.

#include "post/eddy_runner.hpp"
#include "post/harness.hpp"

namespace {

template <class Handler>
class eddy_poster : public bench::eddy_runner<Handler> {
public:
    using bench::eddy_runner<Handler>::eddy_runner;
    struct item : eddy::entry {
        Handler* handler = nullptr;
    };
    static_assert(sizeof(item) == 48, "raw_queue_48 is there to be compared with it");

    void prepare(item& i) {
        i.handler = &this->handler_;
        i.set_callbacks([](eddy::entry& e) noexcept { static_cast<item&>(e).handler->ran(); });
    }
    void post(item& i) { this->loop_->post(i); }
};

}  // namespace

int main(int argc, char** argv) { return bench::post_main<eddy_poster>(argc, argv); }
