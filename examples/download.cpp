// SPDX-License-Identifier: Apache-2.0

// Fetches files over plain HTTP into this directory, several at once:  download AT_ONCE URL...
// A URL is http://ADDRESS:PORT/PATH with a numeric address: names are not looked up.
#include "support/answer_length.hpp"
#include "support/arguments.hpp"
#include "support/printable.hpp"
#include "support/unfinished.hpp"

#include <eddy/eddy.hpp>

#include <algorithm>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>

namespace {

using namespace std::chrono_literals;

struct downloads {
    eddy::loop& loop;
    eddy::semaphore at_once;
    int failed = 0;
};

eddy::task<> fetch(eddy::loop& loop, std::string_view url) {
    const std::string host(url.substr(7, url.find('/', 7) - 7));
    const std::string path(url.substr(7 + host.size()));
    auto server = co_await eddy::timeout(eddy::tcp::connect(loop, eddy::address::from(host)), 10s);
    const std::string request = "GET " + path + " HTTP/1.0\r\nHost: " + host + "\r\n\r\n";
    co_await server.write(eddy::bytes(request));
    std::string buffer;
    const auto size = co_await eddy::timeout(read_until(server, buffer, "\r\n\r\n", 16384), 10s);
    const std::size_t length = example::answer_length(buffer.substr(0, size));
    buffer.erase(0, size);
    const std::string name = path.substr(path.rfind('/') + 1);
    std::string part_name = name + ".part";
    const auto file = co_await eddy::file::open(loop, part_name, O_WRONLY | O_CREAT | O_EXCL);
    example::unfinished part(std::move(part_name));
    buffer.resize(std::min(buffer.size(), length));
    for (auto left = length - co_await file.write(eddy::bytes(buffer)); left != 0;) {
        buffer.resize(std::min<std::size_t>(left, 65536));
        buffer.resize(co_await eddy::timeout(server.read_some(eddy::bytes(buffer)), 10s));
        if (buffer.empty()) throw std::runtime_error("the answer was cut off");
        left -= co_await file.write(eddy::bytes(buffer));
    }
    part.finish(name);
}

/// A download that fails does not stop the others.
eddy::task<> fetch_in_turn(downloads& all, std::string_view url) try {
    if (!url.starts_with("http://") || url.find('/', 7) == url.npos) {
        throw std::invalid_argument("is not of the form http://127.0.0.1:80/path");
    }
    const eddy::permit turn = co_await all.at_once.hold();
    co_await fetch(all.loop, url);
} catch (const std::exception& e) {
    const auto* const error = dynamic_cast<const std::system_error*>(&e);
    const bool is_there = error != nullptr && error->code() == std::errc::file_exists;
    std::fprintf(stderr, "%s: %s%s\n", url.data(), example::printable(e.what()).c_str(),
                 is_there ? "; another download writes it: if none does, remove it" : "");
    ++all.failed;
}

eddy::task<> fetch_all(downloads& all, std::span<char*> urls) {
    const auto n = urls.size() / 2;
    if (n == 0) co_return co_await fetch_in_turn(all, urls[0]);
    co_await eddy::ex::when_all(fetch_all(all, urls.first(n)), fetch_all(all, urls.subspan(n)));
}

}  // namespace

int main(int argc, char** argv) try {
    std::size_t at_once = 0;
    if (argc < 3 || !example::read_number(argv[1], at_once) || at_once == 0) {
        example::exit_with_usage(argv, "AT_ONCE URL...");
    }
    eddy::loop loop;
    const eddy::stop_on_signals stopper(loop);  // so that no partial file is left
    downloads all{loop, eddy::semaphore(at_once)};
    const auto done = loop.run(fetch_all(all, std::span(argv + 2, argv + argc)));
    return !done ? 128 + stopper.info().signum : all.failed == 0 ? 0 : 1;
} catch (const std::exception& e) {
    std::fprintf(stderr, "download: %s\n", e.what());
    return 1;
}
