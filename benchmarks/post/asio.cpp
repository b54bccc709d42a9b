// SPDX-License-Identifier: Apache-2.0
// Posting on asio: asio::post, told that one thread runs the loop.

#include <asio.hpp>

#include "post/harness.hpp"

namespace {

template <class Handler>
class asio_poster {
public:
    struct item {};

    explicit asio_poster(Handler& handler) : handler_(handler) {}

    void prepare(item&) noexcept {}
    void post(item&) {
        asio::post(context_, [this] { handler_.ran(); });
    }
    void run() { context_.run(); }
    void stop() { context_.stop(); }

private:
    Handler& handler_;
    asio::io_context context_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_ =
        asio::make_work_guard(context_);
};

}  // namespace

int main(int argc, char** argv) { return bench::post_main<asio_poster>(argc, argv); }
