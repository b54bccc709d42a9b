// SPDX-License-Identifier: Apache-2.0
#include "io/io_fixture.hpp"

#include <eddy/io/file.hpp>
#include <eddy/io/local/socket.hpp>
#include <eddy/io/send_file.hpp>

namespace eddy::test::send_file_test {
namespace {

class SendFileTest : public IoTest {
protected:
    file holding(std::string_view content) { return file(loop(), directory_.file("f", content)); }

    scratch_directory directory_;
};

TEST_P(SendFileTest, SendsAPartOfTheFile) {
    file from = holding("0123456789");
    auto [a, b] = local::make_pair(loop());
    EXPECT_EQ(run(send_file(a, from, 2, 5)), 5U);
    char buffer[16];
    EXPECT_EQ(run(b.read_some(bytes(buffer))), 5U);
    EXPECT_EQ(std::string(buffer, 5), "23456");
    EXPECT_EQ(run(send_file(a, from, 8, 100)), 2U);
    EXPECT_EQ(run(send_file(a, from, 100, 10)), 0U);
    EXPECT_EQ(run(send_file(a, from, 0, 0)), 0U);
}

TEST_P(SendFileTest, SendsMoreThanTheSocketHolds) {
    std::string content(2'000'000, '\0');
    for (std::size_t i = 0; i != content.size(); ++i) {
        content[i] = static_cast<char>(i * 3 + i / 1021);
    }
    file from = holding(content);
    auto [a, b] = local::make_pair(loop());
    std::string received(content.size(), '\0');
    const auto [got, sent] =
        run_both(b.read(bytes(received)), send_file(a, from, 0, content.size()));
    EXPECT_EQ(got, content.size());
    EXPECT_EQ(sent, content.size());
    EXPECT_TRUE(received == content);
}

TEST_P(SendFileTest, APeerThatGoesAwayIsAnError) {
    file from = holding(std::string(2'000'000, 'x'));
    auto [a, b] = local::make_pair(loop());
    started sending(loop(), send_file(a, from, 0, 2'000'000));
    char buffer[100];
    run(b.read(bytes(buffer)));
    run(b.close());
    ASSERT_TRUE(ends(sending));
    EXPECT_TRUE(sending.error() == std::errc::broken_pipe ||
                sending.error() == std::errc::connection_reset)
        << sending.error().message();
}

TEST_P(SendFileTest, EmptyHandlesAreBad) {
    auto [a, b] = local::make_pair(loop());
    EXPECT_EQ(error_of(send_file(a, file(), 0, 10)), bad_fd);
    EXPECT_EQ(error_of(send_file(local::stream(), holding("x"), 0, 1)), bad_fd);
}

EDDY_ON_EVERY_ENGINE(SendFileTest);

}  // namespace
}  // namespace eddy::test::send_file_test
