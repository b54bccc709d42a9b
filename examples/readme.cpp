/// The echo server of the README. A test compares the two.
#include "support/arguments.hpp"
#include "support/listen.hpp"

#include <eddy/eddy.hpp>

#include <array>
#include <cstdio>
#include <exception>
#include <span>
#include <utility>

namespace {

// clang-format off
struct session {
    eddy::loop& loop;
    eddy::descriptor socket;
    eddy::io_operation io{};
    std::array<std::byte, 4096> data{};

    void read() { loop.start<&session::io, &session::on_read>(*this, recv(socket, data)); }
    void on_read(eddy::io_result r) {
        if (r.count() == 0) return delete this;  // end of stream, or an error
        const auto answer = std::span(data).first(r.count());
        loop.start<&session::io, &session::on_sent>(*this, send_all(socket, answer));
    }
    void on_sent(eddy::io_result r) { r ? read() : delete this; }
};

struct server {
    eddy::loop& loop;
    eddy::descriptor listener;
    eddy::io_operation io{};

    void run() {
        loop.start<&server::io, &server::on_accept>(*this, accept_multishot(listener));
        loop.run();
    }
    void on_accept(eddy::io_result r) {
        eddy::unique_fd fd(r.fd());
        eddy::descriptor socket;
        if (!r || eddy::descriptor::attach(loop, fd, socket)) return;  // says what is wrong
        (new session{loop, std::move(socket)})->read();
    }
};
// clang-format on

}  // namespace

int main(int argc, char** argv) try {
    eddy::loop loop;
    eddy::unique_fd listener = example::listen_on(example::port_argument(argc, argv));
    std::printf("port %d\nengine %s\n", example::port_of(listener.get()),
                eddy::to_string(loop.engine()));
    std::fflush(stdout);
    server{loop, eddy::descriptor(loop, std::move(listener))}.run();
} catch (const std::exception& e) {
    std::fprintf(stderr, "readme: %s\n", e.what());
    return 1;
}
