// SPDX-License-Identifier: Apache-2.0
// A user's program: built against an installed eddy, or with eddy inside its own project.

#include <eddy/async/event.hpp>
#include <eddy/async/nursery.hpp>
#include <eddy/async/spawn.hpp>
#include <eddy/async/task.hpp>
#include <eddy/base/version.hpp>
#include <eddy/ex/execution.hpp>
#include <eddy/io/pipe.hpp>
#include <eddy/io/run.hpp>
#include <eddy/loop/loop.hpp>

#include <array>
#include <cstdio>
#include <span>
#include <system_error>
#include <tuple>
#include <utility>

namespace {

struct job {
    void on_run() noexcept { runs += 1; }

    eddy::entry entry;
    int runs = 0;
};

// With the vocabulary that the library was configured with.
int twice(int number) {
    auto work = eddy::ex::just(number) | eddy::ex::then([](int n) { return 2 * n; });
    return std::get<0>(eddy::ex::sync_wait(std::move(work)).value());
}

eddy::task<> say(const eddy::stream& to, char what, eddy::event& said) {
    co_await to.write(std::as_bytes(std::span(&what, 1)));
    said.set();
}

// Tasks in a nursery and in the background of the loop, and a stop.
eddy::task<int> gather(eddy::loop& loop) {
    eddy::pipe_ends pipe = eddy::make_pipe(loop);
    std::array<char, 2> heard{};
    eddy::event in_background;
    eddy::event in_nursery;
    eddy::spawn(loop, say(pipe.writer, 'a', in_background));
    co_await eddy::with_nursery([&](eddy::nursery& children) -> eddy::task<> {
        children.start(say(pipe.writer, 'b', in_nursery));
        co_await pipe.reader.read(std::as_writable_bytes(std::span(heard)));
        co_await in_nursery.wait();
        children.start(eddy::ex::just());
        children.stop();
    });
    co_await in_background.wait();
    co_return heard[0] + heard[1];
}

}  // namespace

int main() try {
    if (eddy::version() != EDDY_VERSION) {
        std::puts("the library is not the one that the headers belong to");
        return 1;
    }
    eddy::loop loop;
    job work;
    loop.post<job, &job::entry, &job::on_run>(work);
    if (loop.run(eddy::run_mode::empty) != 1 || work.runs != 1) {
        std::puts("the entry did not run once");
        return 1;
    }
    if (twice(21) != 42) {
        std::puts("a sender did not send what it should");
        return 1;
    }
    const auto sum = loop.run(gather(loop));
    if (!sum || std::get<0>(*sum) != 'a' + 'b') {
        std::puts("tasks did not tell one another what they should");
        return 1;
    }
    std::printf("eddy %s\n", EDDY_VERSION);
    return 0;
} catch (const std::system_error& error) {
    std::printf("%s\n", error.what());
    return 1;
}
