// SPDX-License-Identifier: Apache-2.0
#include "loop/loop_fixture.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace eddy::test::inspect_test {
namespace {

class LoopInspect : public LoopTest {
protected:
    /// "what name fd" of each, sorted.
    std::vector<std::string> live() {
        std::vector<std::string> found;
        loop().for_each_live([&](const live_operation& one) {
            found.push_back(std::string(one.what) + " '" + one.name + "' " +
                            std::to_string(one.fd));
        });
        std::sort(found.begin(), found.end());
        return found;
    }
};
EDDY_ON_EVERY_ENGINE(LoopInspect);

TEST_P(LoopInspect, AnEmptyLoopIsKeptAliveByNothing) {
    EXPECT_TRUE(live().empty());
    EXPECT_TRUE(loop().empty());
}

TEST_P(LoopInspect, WhatKeepsItAliveIsNamed) {
    auto [reader, writer] = make_pipe();
    descriptor from = attach(std::move(reader), {.name = "the pipe"});
    std::string buffer(8, '\0');
    recorder reading;
    alarm ring(loop());
    ring.set_name("the alarm");
    job posted;
    job next;
    start(reading, read(from, bytes(buffer)));
    loop().post_after(1h, ring);
    loop().post(posted);
    loop().post_next(next);
    const std::string fd = std::to_string(from.native_handle());
    EXPECT_EQ(live(), (std::vector<std::string>{"entry '' -1", "entry '' -1",
                                                "read 'the pipe' " + fd, "timer 'the alarm' -1"}));
    loop().poll();
    loop().poll();
    EXPECT_EQ(live(), (std::vector<std::string>{"read 'the pipe' " + fd, "timer 'the alarm' -1"}));
    loop().cancel(reading.operation());
    loop().cancel(ring);
    EXPECT_EQ(live().size(), 2U);  // their completions are still to come
    ends(reading);
    loop().run_for(0ns);
    EXPECT_TRUE(live().empty());
}

TEST_P(LoopInspect, WhatIsInTheBackgroundIsNotListed) {
    auto [reader, writer] = make_pipe();
    descriptor from = attach(std::move(reader));
    std::string buffer(8, '\0');
    recorder reading;
    reading.operation().set_background(true);
    start(reading, read(from, bytes(buffer)));
    EXPECT_TRUE(live().empty());
    loop().cancel(reading.operation());
    ends(reading);
}

TEST_P(LoopInspect, CountersCountWhatTheyAreNamedAfter) {
    auto [reader, writer] = make_pipe();
    descriptor to = attach(std::move(writer));
    job work;
    alarm ring(loop());
    recorder writing;
    loop().post(work);
    loop().post_after(1ms, ring);
    start(writing, write(to, bytes("x")));
    EXPECT_EQ(loop().counters().turns, 0U);
    loop().run(run_mode::empty);
    const loop_counters& seen = loop().counters();
    EXPECT_EQ(seen.completions, 3U);
    EXPECT_EQ(seen.posts, 1U);
    EXPECT_EQ(seen.timers_fired, 1U);
    EXPECT_EQ(seen.inline_completions, 0U);
    EXPECT_EQ(seen.wakes, 0U);
    EXPECT_GE(seen.waits, 1U);
    EXPECT_GE(seen.turns, seen.waits);
}

TEST_P(LoopInspect, ALoopTellsItsNameAndEngine) {
    make_loop({.name = "worker"});
    EXPECT_STREQ(loop().name(), "worker");
    EXPECT_EQ(loop().engine(), GetParam());
}

TEST_P(LoopInspect, TheCurrentLoopIsTheOneThatRuns) {
    EXPECT_EQ(eddy::loop::current(), nullptr);
    eddy::loop* seen = nullptr;
    job work([&] { seen = eddy::loop::current(); });
    loop().post(work);
    loop().poll();
    EXPECT_EQ(seen, &loop());
    EXPECT_EQ(eddy::loop::current(), nullptr);
}

}  // namespace
}  // namespace eddy::test::inspect_test
