// SPDX-License-Identifier: Apache-2.0
// Watching pipes on eddy's bare operations: a pending read on each of them.

#include <array>
#include <deque>

#include "churn/harness.hpp"
#include "common/eddy_loop.hpp"

namespace {

template <class Handler>
class eddy_watchers {
public:
    eddy_watchers(Handler& handler, const std::vector<int>& fds) : handler_(handler) {
        for (unsigned i = 0; i < fds.size(); ++i) watchers_.emplace_back(*this, i, fds[i]);
    }
    ~eddy_watchers() {
        for (watcher& w : watchers_) w.remove();
        loop_->run(eddy::run_mode::empty);
    }

    void add(unsigned i) { watchers_[i].add(); }
    void remove(unsigned i) { watchers_[i].remove(); }
    void run() { loop_->run(); }
    void stop() { loop_->stop(); }
    void turn() { loop_->poll(); }

private:
    class watcher {
    public:
        watcher(eddy_watchers& owner, unsigned number, int fd)
            : owner_(owner), number_(number), fd_(fd) {}

        void add() {
            eddy::unique_fd fd(fd_);
            const auto error = eddy::descriptor::attach(owner_.loop_.get(), fd, pipe_,
                                                        {.kind = eddy::descriptor_kind::pipe});
            if (error) bench::die("attach", error.value());
            // The other one's end may still be on its way to it.
            current_ = 1 - current_;
            start(current_);
        }

        void remove() {
            eddy::unique_fd fd;
            if (pipe_.release(fd)) return;  // not attached
            std::ignore = fd.release();     // the pipes have their own owner
        }

    private:
        struct reading : eddy::io_operation {
            watcher* owner = nullptr;
            unsigned number = 0;
        };

        void start(unsigned which) {
            reading& r = reads_[which];
            r.owner = this;
            r.number = which;
            r.set_callback([](eddy::io_operation& op) noexcept {
                auto& done = static_cast<reading&>(op);
                done.owner->on_read(done.number, done.result());
            });
            owner_.loop_->start(r, eddy::read(pipe_, bytes_));
        }

        void on_read(unsigned which, eddy::io_result result) noexcept {
            if (!result) return;  // removed
            for (std::size_t n = 0; n < result.count(); ++n) owner_.handler_.received(number_);
            start(which);
        }

        eddy_watchers& owner_;
        unsigned number_;
        int fd_;
        eddy::descriptor pipe_;
        unsigned current_ = 0;
        std::array<reading, 2> reads_;
        std::array<std::byte, 16> bytes_;
    };

    Handler& handler_;
    bench::eddy_loop loop_;
    std::deque<watcher> watchers_;
};

}  // namespace

int main(int argc, char** argv) { return bench::churn_main<eddy_watchers>(argc, argv); }
