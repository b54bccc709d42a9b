// SPDX-License-Identifier: Apache-2.0

// Runs a command once per item:  jobs AT_ONCE SECONDS COMMAND [ARGUMENT...] ::: ITEM...
//     jobs 2 10 sh -c ::: 'make test' 'make docs'
// A job that takes longer than SECONDS is asked to end, and soon killed. ^C or SIGTERM ends the
// running jobs and starts no others; the second one kills them. --help lists the exit codes.
#include "support/arguments.hpp"
#include "support/child.hpp"
#include "support/two_signals.hpp"

#include <eddy/async/async.hpp>
#include <eddy/ex/execution.hpp>
#include <eddy/io/process.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::chrono_literals;
using strings = std::span<char*>;

struct batch {
    eddy::loop& loop;
    strings command;
    eddy::semaphore at_once;
    std::chrono::seconds limit;
    example::two_signals told;  ///< to end the jobs, then to kill them
    bool failed = false;
};

/// Throws unless the job ends well and in time.
eddy::task<> run(batch& all, char* item) {
    std::vector<std::string> arguments(all.command.begin() + 1, all.command.end());
    arguments.emplace_back(item);
    eddy::process child(
        all.loop,
        {.program = all.command[0], .arguments = std::move(arguments), .in = eddy::stdio::null()});
    auto in_time = eddy::as_result(eddy::timeout(child.wait(), all.limit));
    const auto ended = co_await eddy::ex::stopped_as_optional(std::move(in_time));
    if (ended && *ended && (*ended)->success()) {
        co_return;
    }
    if (ended && *ended) {
        throw std::runtime_error(example::describe(**ended));
    }
    co_await eddy::ex::unstoppable(eddy::when_any(example::end(child, 2s), all.told.second()));
    child.kill(SIGKILL);
    co_await eddy::ex::unstoppable(child.wait());
    if (ended) {
        throw std::runtime_error("took longer than " + std::to_string(all.limit.count()) + " s");
    }
    co_await eddy::ex::just_stopped();
}

/// A job that fails does not stop the others.
eddy::task<> run_in_turn(batch& all, char* item) try {
    const auto permit = co_await all.at_once.hold();
    co_await run(all, item);
} catch (const std::exception& e) {
    std::fprintf(stderr, "%s %s: %s\n", all.command[0], item, e.what());
    all.failed = true;
}

eddy::task<> run_each(batch& all, strings items) {
    co_await eddy::with_nursery([&](eddy::nursery& jobs) -> eddy::task<> {
        for (char* const item : items) jobs.start(run_in_turn(all, item));
        co_await eddy::ex::unstoppable(eddy::when_any(jobs.join(), all.told.stop(jobs)));
    });
}

}  // namespace

int main(int argc, char** argv) try {
    const strings words(argv, argv + argc);
    const auto separator = std::find(words.begin(), words.end(), std::string_view(":::"));
    std::size_t at_once = 0;
    unsigned seconds = 0;
    if (separator - words.begin() < 4 || separator == words.end() ||
        !example::read_number(argv[1], at_once) || at_once == 0 ||
        !example::read_number(argv[2], seconds) || seconds == 0) {
        example::exit_with_usage(argv,
                                 "AT_ONCE SECONDS COMMAND [ARGUMENT...] ::: ITEM...\n"
                                 "exit: 0 well, 1 some failed, 2 usage, 3 error, 128 + N signal N");
    }
    eddy::loop loop;
    batch all{loop, strings(words.begin() + 3, separator), eddy::semaphore(at_once),
              std::chrono::seconds(seconds), example::two_signals(loop)};
    loop.run(run_each(all, strings(separator + 1, words.end())));
    return all.told.first() != 0 ? 128 + all.told.first() : int(all.failed);
} catch (const std::exception& e) {
    std::fprintf(stderr, "jobs: %s\n", e.what());
    return 3;
}
