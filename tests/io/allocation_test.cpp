// SPDX-License-Identifier: Apache-2.0
#include "io/io_fixture.hpp"
#include "loop/allocations.hpp"

#include <eddy/io/file.hpp>
#include <eddy/io/incoming.hpp>
#include <eddy/io/local/socket.hpp>
#include <eddy/io/loop_scheduler.hpp>
#include <eddy/io/read_until.hpp>
#include <eddy/io/tcp/acceptor.hpp>
#include <eddy/io/tcp/connect_any.hpp>

#include <array>
#include <string>
#include <tuple>

namespace eddy::test::allocation_test {
namespace {

class IoAllocation : public IoTest {
protected:
    /// How often memory was taken in a hundred rounds, after some that fill pools.
    template <class Round>
    static std::uint64_t in_a_hundred(Round round) {
        for (int i = 0; i != 20; ++i) {
            round();
        }
        const std::uint64_t before = allocations();
        for (int i = 0; i != 100; ++i) {
            round();
        }
        return allocations() - before;
    }

    std::array<std::byte, 64> buffer_{};
};
EDDY_ON_EVERY_ENGINE(IoAllocation);

TEST_P(IoAllocation, ReadsAndWritesTakeNone) {
    const auto [in, out] = local::make_pair(loop());
    EXPECT_EQ(in_a_hundred([&, &from = in, &to = out] {
                  loop().run(ex::when_all(from.read_some(buffer_), to.write_some(bytes("hello"))));
                  loop().run(ex::when_all(from.read(std::span(buffer_).first(5)),
                                          to.write(bytes("hello"))));
              }),
              0U);
}

TEST_P(IoAllocation, LentBuffersTakeNone) {
    const auto [in, out] = local::make_pair(loop());
    EXPECT_EQ(in_a_hundred([&, &from = in, &to = out] {
                  const auto values =
                      loop().run(ex::when_all(from.receive(), to.write(bytes("hello"))));
                  EXPECT_EQ(std::get<0>(values.value()).size(), 5U);
              }),
              0U);
}

TEST_P(IoAllocation, BytesThatAreReceivedAheadTakeNone) {
    const auto [in, out] = local::make_pair(loop());
    incoming<lease> data(in);
    EXPECT_EQ(in_a_hundred([&, &to = out] {
                  const auto values =
                      loop().run(ex::when_all(data.next(), to.write(bytes("hello"))));
                  EXPECT_EQ(std::get<0>(values.value()).size(), 5U);
              }),
              0U);
}

TEST_P(IoAllocation, LinesTakeNoneWhileTheBufferHasRoom) {
    const auto [in, out] = local::make_pair(loop());
    std::string line;
    line.reserve(8192);
    EXPECT_EQ(in_a_hundred([&, &from = in, &to = out] {
                  const auto values = loop().run(
                      ex::when_all(read_until(from, line, "\n", 4096), to.write(bytes("hello\n"))));
                  line.erase(0, std::get<0>(values.value()));
              }),
              0U);
}

TEST_P(IoAllocation, ConnectionsTakeNone) {
    const tcp::acceptor acceptor(loop(), address::loopback_v4(0));
    address at;
    ASSERT_FALSE(acceptor.local_address(at));
    EXPECT_EQ(in_a_hundred([&] {
                  auto values =
                      loop().run(ex::when_all(acceptor.accept(), tcp::connect(loop(), at)));
                  // No port is kept.
                  EXPECT_FALSE(std::get<1>(values.value()).set_option(option::reset_on_close));
                  values.reset();
                  loop().poll();
              }),
              0U);
}

TEST_P(IoAllocation, TimersTakeNone) {
    EXPECT_EQ(in_a_hundred([&] { loop().run(loop().get_scheduler().schedule_after(1us)); }), 0U);
    EXPECT_EQ(in_a_hundred([&] { loop().run(loop().get_scheduler().schedule()); }), 0U);
}

TEST_P(IoAllocation, ARaceOfAddressesTakesTwo) {
    const tcp::acceptor acceptor(loop(), address::loopback_v4(0));
    address at;
    ASSERT_FALSE(acceptor.local_address(at));
    // Fewer are counted where a sanitizer has an operator new[] of its own.
    EXPECT_LE(in_a_hundred([&] {
                  auto values = loop().run(
                      ex::when_all(acceptor.accept(), tcp::connect_any(loop(), std::span(&at, 1))));
                  EXPECT_FALSE(std::get<1>(values.value()).set_option(option::reset_on_close));
                  values.reset();
                  loop().poll();
              }),
              200U);
}

TEST_P(IoAllocation, OpeningAFileTakesWhatItsPathNeeds) {
    const auto open = [&](const char* path) {
        const auto opened = loop().run(file::open(loop(), path, O_RDONLY));
        EXPECT_TRUE(opened.has_value());
    };
    EXPECT_EQ(in_a_hundred([&] {
                  open("/dev/null");
                  loop().poll();
              }),
              0U);
    EXPECT_EQ(in_a_hundred([&] {
                  open("/dev/../dev/../dev/../dev/../dev/null");
                  loop().poll();
              }),
              100U);
}

}  // namespace
}  // namespace eddy::test::allocation_test
