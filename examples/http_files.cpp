// SPDX-License-Identifier: Apache-2.0

// Serves the files of a directory over HTTP:  http_files PORT DIRECTORY
// Supports GET, HEAD, kept connections and pipelining. The kernel ensures that no path leads out.
#include "support/arguments.hpp"
#include "support/http_connection.hpp"
#include "support/http_refusal.hpp"
#include "support/run.hpp"
#include "support/send_content.hpp"
#include "support/server.hpp"

#include <eddy/async/async.hpp>
#include <eddy/io/file.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

namespace {

using namespace std::chrono_literals;
using example::connection;
using example::send_head;

constexpr auto patience = connection::patience;

eddy::task<> answer(connection& c) {
    if (c.requests.status() != 200) {
        co_return co_await send_head(c, c.requests.status(), 0);
    }
    // Without O_NONBLOCK, opening a FIFO would wait for a writer.
    const std::string path = c.requests.path();
    const auto file = co_await eddy::as_result(c.root.open_beneath(path, O_RDONLY | O_NONBLOCK));
    struct stat status{};
    const std::error_code error = file ? file->status(status) : file.error();
    if (error || !S_ISREG(status.st_mode)) {
        co_return co_await send_head(c, example::http_refusal(path, error), 0);
    }
    co_await send_head(c, 200, status.st_size);
    if (!c.requests.head_only()) {
        co_await example::send_content(c.peer, *file, path, status.st_size, patience);
    }
}

/// Serves one connection. Any error ends it: a peer that resets it, for example, or is too slow.
eddy::task<> serve(eddy::tcp::socket peer, const eddy::file& root) try {
    connection c{std::move(peer), root};
    do {
        if (!co_await eddy::timeout(c.requests.next(c.peer), patience)) {
            co_return;
        }
        c.answering = false;
        try {
            co_await answer(c);
        } catch (const std::bad_alloc&) {
            if (c.answering) throw;
        }
        if (!c.answering) {  // there was no memory for the answer
            const auto head = c.requests.answer_without_memory();
            co_await eddy::timeout(c.peer.write(eddy::bytes(head)), patience);
        }
    } while (c.requests.keep_alive());
    // The peer might not see the answer if we closed before we have read all that it has sent.
    co_await c.peer.shutdown(eddy::shutdown_side::send);
    co_await eddy::timeout(example::skip_rest(c.peer), 1s);
} catch (const std::exception&) {}

eddy::task<> serve_directory(eddy::loop& loop, unsigned short port, const char* path) {
    const auto root = co_await eddy::file::open(loop, path, O_RDONLY | O_DIRECTORY);
    const auto session = [&](eddy::tcp::socket peer) { return serve(std::move(peer), root); };
    co_await eddy::serve_each(example::listen(loop, port), session);
}

}  // namespace

int main(int argc, char** argv) try {
    unsigned short port = 0;
    if (argc != 3 || !example::read_number(argv[1], port)) {
        example::exit_with_usage(argv, "PORT DIRECTORY   (PORT: 1 to 65535, or 0 for any)");
    }
    eddy::loop loop;
    example::run_until_input_ends(loop, serve_directory(loop, port, argv[2]));
} catch (const std::exception& e) {
    std::fprintf(stderr, "http_files: %s\n", e.what());
    return 1;
}
