// SPDX-License-Identifier: Apache-2.0
// Two streams on one loop: watched, with and without a bandwidth_group, and read by coroutines.

#include "share/harness.hpp"

#include <eddy/async/task.hpp>
#include <eddy/ex/when_all.hpp>
#include <eddy/io/in_turn.hpp>
#include <eddy/io/run.hpp>
#include <eddy/io/stream.hpp>
#include <eddy/watch/watches.hpp>

#include "common/eddy_loop.hpp"

namespace {

struct reading_watch : eddy::fd_watch {
    reading_watch(eddy::loop& loop, std::size_t n, bench::endless_stream& s, bench::share_record& r)
        : fd_watch(loop, s.reader(), eddy::interest::readable, &on_ready),
          number(n),
          stream(s),
          record(r) {}

    static eddy::reaction on_ready(fd_watch& w) noexcept {
        auto& self = static_cast<reading_watch&>(w);
        char bytes[bench::piece_max];
        const ssize_t n = ::read(self.native_handle(), bytes, bench::piece[self.number]);
        if (n <= 0) bench::die("read");
        const auto count = static_cast<std::size_t>(n);
        self.moved(count);
        self.stream.refill();
        self.record.moved(self.number, count);
        if (self.record.complete()) self.home().stop();
        return eddy::reaction::again;
    }

    std::size_t number;
    bench::endless_stream& stream;
    bench::share_record& record;
};

void run_watches(std::size_t bytes, bool with_group) {
    bench::eddy_loop loop;
    eddy::bandwidth_group group(loop.get());
    bench::share_record record(bytes);
    bench::endless_stream streams[2];
    reading_watch watches[2] = {{loop.get(), 0, streams[0], record},
                                {loop.get(), 1, streams[1], record}};
    if (with_group) {
        group.add(watches[0], 3);
        group.add(watches[1], 1);
    }
    loop->run();
    record.print();
}

eddy::task<> read_on(eddy::loop& loop, std::size_t number, bench::endless_stream& stream,
                     eddy::bandwidth_share& share, bench::share_record& record) {
    const eddy::stream reader(loop, eddy::unique_fd(::dup(stream.reader())));
    std::byte bytes[bench::piece_max];
    const auto piece = std::span(bytes).first(bench::piece[number]);
    while (!record.complete()) {
        const std::size_t count = co_await eddy::in_turn(reader.read_some(piece), share);
        record.moved(number, count);
        stream.refill();
    }
}

void run_streams(std::size_t bytes) {
    bench::eddy_loop loop;
    eddy::bandwidth_group group(loop.get());
    eddy::bandwidth_share three(group, 3);
    eddy::bandwidth_share one(group, 1);
    bench::share_record record(bytes);
    bench::endless_stream streams[2];
    loop->run(eddy::ex::when_all(read_on(loop.get(), 0, streams[0], three, record),
                                 read_on(loop.get(), 1, streams[1], one, record)));
    record.print();
}

}  // namespace

int main(int argc, char** argv) {
    const bench::arguments a(argc, argv);
    const std::size_t bytes = std::size_t{a.number(0)} * 1024;
    if (a.question() == "watches") {
        run_watches(bytes, true);
    } else if (a.question() == "streams") {
        run_streams(bytes);
    } else if (a.question() == "no_group") {
        run_watches(bytes, false);
    } else {
        a.wrong();
    }
}
