// Posting on eddy: intrusive entries.

#include "common/eddy_loop.hpp"
#include "post/harness.hpp"

namespace {

template <class Handler>
class eddy_poster {
public:
    struct item : eddy::entry {
        Handler* handler = nullptr;
    };

    explicit eddy_poster(Handler& handler) : handler_(handler) {}

    void prepare(item& i) {
        i.handler = &handler_;
        i.set_callbacks([](eddy::entry& e) noexcept { static_cast<item&>(e).handler->ran(); });
    }
    void post(item& i) { loop_->post(i); }
    void run() { loop_->run(); }
    void stop() { loop_->stop(); }

private:
    Handler& handler_;
    bench::eddy_loop loop_;
};

}  // namespace

int main(int argc, char** argv) { return bench::post_main<eddy_poster>(argc, argv); }
