// SPDX-License-Identifier: Apache-2.0
#include "io/io_fixture.hpp"

#include <eddy/async/task.hpp>
#include <eddy/io/io.hpp>

#include <string>

namespace eddy::test::coroutine_test {
namespace {

class IoCoroutineTest : public IoTest {};

/// Answers each line in capitals until the peer has no more.
task<int> serve(tcp::acceptor& acceptor) {
    tcp::socket peer = co_await acceptor.accept();
    std::string buffer;
    int lines = 0;
    try {
        for (;;) {
            const std::size_t n = co_await read_until(peer, buffer, "\n", 100);
            std::string answer = buffer.substr(0, n);
            for (char& c : answer) {
                c = static_cast<char>(std::toupper(c));
            }
            buffer.erase(0, n);
            co_await peer.write(bytes(answer));
            ++lines;
        }
    } catch (const std::system_error& e) {
        EXPECT_EQ(e.code(), make_error_code(errc::end_of_stream));
    }
    co_await peer.close();
    co_return lines;
}

task<std::string> ask(loop& home, address where) {
    tcp::socket server = co_await tcp::connect(home, where);
    co_await server.write(bytes("one\ntwo\nthree\n"));
    co_await server.shutdown(shutdown_side::send);
    std::string answers(100, '\0');
    answers.resize(co_await server.read(bytes(answers)));
    co_return answers;
}

TEST_P(IoCoroutineTest, AServerAndAClientTalkInLines) {
    tcp::acceptor acceptor(loop(), address::loopback_v4(0));
    address where;
    ASSERT_FALSE(acceptor.local_address(where));
    const auto [lines, answers] = run_both(serve(acceptor), ask(loop(), where));
    EXPECT_EQ(lines, 3);
    EXPECT_EQ(answers, "ONE\nTWO\nTHREE\n");
}

task<std::string> copy_through_a_file(loop& home, std::string path) {
    file made = co_await file::open(home, path, O_RDWR | O_CREAT);
    co_await made.write(bytes("content"));
    auto [reader, writer] = make_pipe(home);
    char buffer[16];
    const std::size_t n = co_await made.read_at(0, bytes(buffer));
    co_await writer.write(bytes(buffer).first(n));
    co_await writer.close();
    std::string all;
    while (const std::size_t got = co_await reader.read_some(bytes(buffer))) {
        all.append(buffer, got);
    }
    co_return all;
}

TEST_P(IoCoroutineTest, FilesAndPipesAreAwaited) {
    scratch_directory directory;
    EXPECT_EQ(run(copy_through_a_file(loop(), directory.path("f"))), "content");
}

task<void> pass_the_error_on(loop& home) { co_await tcp::connect(home, address()); }

TEST_P(IoCoroutineTest, ErrorsAreThrown) {
    EXPECT_EQ(error_of(pass_the_error_on(loop())), std::errc::address_family_not_supported);
}

EDDY_ON_EVERY_ENGINE(IoCoroutineTest);

}  // namespace
}  // namespace eddy::test::coroutine_test
