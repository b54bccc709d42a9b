// SPDX-License-Identifier: Apache-2.0
// Echo on libuv in its best style: one read buffer for all (a callback uses it before the next
// read), uv_try_write first, and a write request only for what the peer did not take.

#include <uv.h>

#include <memory>
#include <vector>

#include "echo/listener.hpp"

namespace {

char buffer[bench::read_max];

struct pending_write {
    uv_write_t request;
    std::vector<char> bytes;
};

void on_alloc(uv_handle_t*, std::size_t, uv_buf_t* out) {
    *out = uv_buf_init(buffer, sizeof buffer);
}

void on_closed(uv_handle_t* handle) { delete reinterpret_cast<uv_tcp_t*>(handle); }

void close_connection(uv_stream_t* stream) {
    auto* handle = reinterpret_cast<uv_handle_t*>(stream);
    if (uv_is_closing(handle) == 0) uv_close(handle, on_closed);
}

void on_read(uv_stream_t* stream, ssize_t n, const uv_buf_t* data);

void on_written(uv_write_t* request, int status) {
    std::unique_ptr<pending_write> done(static_cast<pending_write*>(request->data));
    if (status == 0) {
        uv_read_start(request->handle, on_alloc, on_read);
    } else {
        close_connection(request->handle);
    }
}

void write_later(uv_stream_t* stream, const char* data, std::size_t size) {
    auto* write = new pending_write{{}, {data, data + size}};
    write->request.data = write;
    uv_buf_t rest = uv_buf_init(write->bytes.data(), static_cast<unsigned>(size));
    uv_read_stop(stream);
    if (uv_write(&write->request, stream, &rest, 1, on_written) != 0) {
        delete write;
        close_connection(stream);
    }
}

void on_read(uv_stream_t* stream, ssize_t n, const uv_buf_t* data) {
    if (n == 0) return;
    if (n < 0) return close_connection(stream);
    uv_buf_t all = uv_buf_init(data->base, static_cast<unsigned>(n));
    const int sent = uv_try_write(stream, &all, 1);
    if (sent == n) return;
    if (sent < 0 && sent != UV_EAGAIN) return close_connection(stream);
    const ssize_t done = sent < 0 ? 0 : sent;
    write_later(stream, data->base + done, static_cast<std::size_t>(n - done));
}

void on_connection(uv_stream_t* listener, int status) {
    if (status != 0) return;
    auto* connection = new uv_tcp_t;
    uv_tcp_init(listener->loop, connection);
    auto* stream = reinterpret_cast<uv_stream_t*>(connection);
    if (uv_accept(listener, stream) != 0) return close_connection(stream);
    uv_read_start(stream, on_alloc, on_read);
}

}  // namespace

int main(int argc, char** argv) {
    const int fd = bench::listen_on(bench::port_argument(argc, argv));
    uv_loop_t loop;
    uv_tcp_t listener;
    if (uv_loop_init(&loop) != 0 || uv_tcp_init(&loop, &listener) != 0 ||
        uv_tcp_open(&listener, fd) != 0 ||
        uv_listen(reinterpret_cast<uv_stream_t*>(&listener), 4096, on_connection) != 0) {
        bench::die("libuv");
    }
    uv_run(&loop, UV_RUN_DEFAULT);
}
