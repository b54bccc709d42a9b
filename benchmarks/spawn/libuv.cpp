// SPDX-License-Identifier: Apache-2.0
// Children on libuv's uv_spawn.

#include <uv.h>

#include "spawn/harness.hpp"

namespace {

template <class Handler>
class uv_spawner {
public:
    explicit uv_spawner(Handler& handler) : handler_(handler) {
        if (uv_loop_init(&loop_) != 0) bench::die("libuv");
        for (int fd = 0; fd < 3; ++fd) {
            stdio_[fd].flags = UV_INHERIT_FD;
            stdio_[fd].data.fd = fd;
        }
        options_.file = bench::program;
        options_.args = argv_;
        options_.stdio = stdio_;
        options_.stdio_count = 3;
        options_.exit_cb = on_exit;
    }

    void spawn() {
        process_.data = this;
        const int error = uv_spawn(&loop_, &process_, &options_);
        if (error != 0) bench::die("uv_spawn", -error);
    }
    void run() { uv_run(&loop_, UV_RUN_DEFAULT); }
    void stop() { uv_stop(&loop_); }

private:
    /// The handle can be used again when it is closed.
    static void on_exit(uv_process_t* p, std::int64_t status, int signal) {
        static_cast<uv_spawner*>(p->data)->well_ = status == 0 && signal == 0;
        uv_close(reinterpret_cast<uv_handle_t*>(p), on_closed);
    }
    static void on_closed(uv_handle_t* h) {
        auto& self = *static_cast<uv_spawner*>(h->data);
        self.handler_.ended(self.well_);
    }

    Handler& handler_;
    char* argv_[2] = {const_cast<char*>(bench::program), nullptr};
    uv_stdio_container_t stdio_[3]{};
    uv_process_options_t options_{};
    uv_loop_t loop_;
    uv_process_t process_;
    bool well_ = false;
};

}  // namespace

int main(int argc, char** argv) { return bench::spawn_main<uv_spawner>(argc, argv); }
