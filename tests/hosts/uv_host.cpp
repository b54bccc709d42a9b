// SPDX-License-Identifier: Apache-2.0
#include "hosts/foreign_host.hpp"

#include <utility>

#include <uv.h>

namespace eddy::test {
namespace {

/// What libuv calls back for, until it has been closed.
template <class Handle>
struct uv_item {
    Handle handle{};
    std::function<void()> function;

    static uv_item& of(Handle* handle) { return *static_cast<uv_item*>(handle->data); }
    static uv_handle_t* base(Handle& handle) { return reinterpret_cast<uv_handle_t*>(&handle); }
    static void close(Handle* handle) {
        uv_close(base(*handle),
                 [](uv_handle_t* closed) { delete static_cast<uv_item*>(closed->data); });
    }
};
using uv_fd = uv_item<uv_poll_t>;
using uv_time = uv_item<uv_timer_t>;

class uv_host final : public foreign_host {
public:
    uv_host() { uv_loop_init(&loop_); }
    ~uv_host() override {
        uv_walk(
            &loop_,
            [](uv_handle_t* handle, void*) {
                if (uv_is_closing(handle) != 0) {
                    return;
                }
                if (handle->type == UV_POLL) {
                    uv_fd::close(reinterpret_cast<uv_poll_t*>(handle));
                } else {
                    uv_time::close(reinterpret_cast<uv_timer_t*>(handle));
                }
            },
            nullptr);
        uv_run(&loop_, UV_RUN_DEFAULT);
        uv_loop_close(&loop_);
    }

    void watch(int fd, std::function<void()> on_readable) override {
        auto* const item = new uv_fd{.function = std::move(on_readable)};
        uv_poll_init(&loop_, &item->handle, fd);
        item->handle.data = item;
        uv_poll_start(&item->handle, UV_READABLE,
                      [](uv_poll_t* handle, int, int) { uv_fd::of(handle).function(); });
    }
    void after(std::chrono::milliseconds time, std::function<void()> on_time) override {
        auto* const item = new uv_time{.function = std::move(on_time)};
        uv_timer_init(&loop_, &item->handle);
        item->handle.data = item;
        uv_timer_start(
            &item->handle,
            [](uv_timer_t* handle) {
                uv_time::of(handle).function();
                uv_time::close(handle);
            },
            static_cast<std::uint64_t>(time.count()), 0);
    }
    void run() override { uv_run(&loop_, UV_RUN_DEFAULT); }
    void stop() override { uv_stop(&loop_); }

private:
    uv_loop_t loop_{};
};

}  // namespace

std::unique_ptr<foreign_host> make_uv_host() { return std::make_unique<uv_host>(); }

}  // namespace eddy::test
