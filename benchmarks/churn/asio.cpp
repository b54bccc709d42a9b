// SPDX-License-Identifier: Apache-2.0
// Watching pipes on asio's stream_descriptor, without locks; a wait is armed again by its handler.

#include <asio.hpp>
#include <deque>

#include "churn/harness.hpp"

namespace {

template <class Handler>
class asio_watchers {
public:
    asio_watchers(Handler& handler, const std::vector<int>& fds) : handler_(handler), fds_(fds) {
        for (std::size_t i = 0; i < fds.size(); ++i) descriptors_.emplace_back(context_);
    }
    ~asio_watchers() {
        for (descriptor& d : descriptors_) d.release();  // the pipes have their own owner
    }

    void add(unsigned i) {
        descriptors_[i].assign(fds_[i]);
        wait(i);
    }
    void remove(unsigned i) { descriptors_[i].release(); }
    void run() { context_.run(); }
    void stop() { context_.stop(); }
    void turn() {
        context_.poll();
        context_.restart();
    }

private:
    using descriptor = asio::posix::basic_stream_descriptor<asio::io_context::executor_type>;

    void wait(unsigned i) {
        descriptors_[i].async_wait(descriptor::wait_read, [this, i](std::error_code error) {
            if (error) return;
            handler_.readable(i);
            wait(i);
        });
    }

    Handler& handler_;
    const std::vector<int>& fds_;
    asio::io_context context_{ASIO_CONCURRENCY_HINT_UNSAFE};
    std::deque<descriptor> descriptors_;
};

}  // namespace

int main(int argc, char** argv) { return bench::churn_main<asio_watchers>(argc, argv); }
