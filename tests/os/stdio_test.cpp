// SPDX-License-Identifier: Apache-2.0
#include "os/process_fixture.hpp"

#include <fcntl.h>

namespace eddy::test::stdio_test {
namespace {

class StdioTest : public ProcessTest {};
EDDY_ON_EVERY_ENGINE(StdioTest);

TEST_P(StdioTest, PipesCarryAllThree) {
    process_options options = shell("cat; echo err >&2");
    options.in = options.out = options.err = stdio::pipe();
    process_handle process = spawn(options);
    recorder writing;
    start(writing, write(process.stdio_pipe(0), bytes("to the child")));
    ASSERT_TRUE(ends(writing));
    process.stdio_pipe(0).close();
    EXPECT_EQ(read_to_end(process.stdio_pipe(1)), "to the child");
    EXPECT_EQ(read_to_end(process.stdio_pipe(2)), "err\n");
    EXPECT_TRUE(end_of(process).success());
}

TEST_P(StdioTest, TheProgramsEndOfAPipeBlocks) {
    process_options options = shell("read line; echo $line");
    options.in = stdio::pipe();
    options.out = stdio::pipe();
    process_handle process = spawn(options);
    loop().run_for(20ms);  // time to see EAGAIN, if there were one
    recorder writing;
    start(writing, write(process.stdio_pipe(0), bytes("late\n")));
    ASSERT_TRUE(ends(writing));
    EXPECT_EQ(read_to_end(process.stdio_pipe(1)), "late\n");
    end_of(process);
}

TEST_P(StdioTest, NullIsEmptyAndSwallows) {
    process_options options = shell("echo gone; echo gone >&2; cat; exit 3");
    options.in = options.out = options.err = stdio::null();
    EXPECT_EQ(run(options).code, 3);
}

TEST_P(StdioTest, ErrorsCanGoWhereTheOutputGoes) {
    process_options options = shell("echo a; echo b >&2; echo c");
    options.err = stdio::like_output();
    EXPECT_EQ(output_of(options), "a\nb\nc\n");
}

TEST_P(StdioTest, AGivenFdIsUsedAndKept) {
    const scratch_directory directory;
    const unique_fd in = directory.file("in", "from a file");
    const unique_fd out = directory.file("out");
    ASSERT_EQ(::lseek(in.get(), 0, SEEK_SET), 0);
    process_options options{.program = "cat"};
    options.in = stdio::given(in.get());
    options.out = stdio::given(out.get());
    EXPECT_TRUE(run(options).success());
    EXPECT_EQ(content_of(out.get()), "from a file");
    EXPECT_TRUE(is_cloexec(out.get()));
}

TEST_P(StdioTest, OutputAndErrorCanBeExchanged) {
    process_options options = shell("echo out; echo err >&2");
    auto [out_reader, out_writer] = make_pipe();
    auto [err_reader, err_writer] = make_pipe();
    // In the parent these are at 1 and 2, so that each would be overwritten by the other.
    const int ended = in_child([&] {
        ::dup2(out_writer.get(), 1);
        ::dup2(err_writer.get(), 2);
        loop_options how{.engine = GetParam()};
        eddy::loop own(how);
        options.out = stdio::given(2);
        options.err = stdio::given(1);
        process_handle process(own, options);
        exit_recorder wait(process);
        while (!wait.ended()) {
            own.run_some();
        }
        return wait.status().code;
    });
    EXPECT_EQ(ended, 0);
    out_writer.reset();
    err_writer.reset();
    EXPECT_EQ(test::read_to_end(out_reader.get()), "err\n");
    EXPECT_EQ(test::read_to_end(err_reader.get()), "out\n");
}

TEST_P(StdioTest, ExtraFdsArePlacedWhereTheyAreWanted) {
    const scratch_directory directory;
    const unique_fd a = directory.file("a");
    const unique_fd b = directory.file("b");
    process_options options = shell("echo a >&5; echo b >&9");
    options.fds = {{b.get(), 9}, {a.get(), 5}};
    EXPECT_TRUE(run(options).success());
    EXPECT_EQ(content_of(a.get()), "a\n");
    EXPECT_EQ(content_of(b.get()), "b\n");
}

TEST_P(StdioTest, ExtraFdsMayExchangeTheirNumbersOrKeepThem) {
    const scratch_directory directory;
    const unique_fd a = directory.file("a");
    const unique_fd b = directory.file("b");
    const unique_fd c = directory.file("c");
    const auto number = [](const unique_fd& fd) { return std::to_string(fd.get()); };
    // dash knows only single digits.
    process_options options{.program = "bash"};
    options.arguments = {"-c", "echo to_a >&" + number(a) + "; echo to_b >&" + number(b) +
                                   "; echo to_c >&" + number(c)};
    options.fds = {{a.get(), b.get()}, {b.get(), a.get()}, {c.get(), c.get()}};
    EXPECT_TRUE(run(options).success());
    EXPECT_EQ(content_of(a.get()), "to_b\n");
    EXPECT_EQ(content_of(b.get()), "to_a\n");
    EXPECT_EQ(content_of(c.get()), "to_c\n");
    EXPECT_TRUE(is_cloexec(c.get()));
}

TEST_P(StdioTest, AnFdThatIsNotOpenIsAnError) {
    process_options options{.program = "true", .fds = {{900, 5}}};
    EXPECT_EQ(failure_of(options),
              std::pair(std::error_code(EBADF, std::system_category()), spawn_step::descriptors));
}

TEST_P(StdioTest, NoOtherFdReachesTheProgram) {
    const unique_fd careless(::open("/dev/null", O_RDONLY));
    const unique_fd far(::fcntl(careless.get(), F_DUPFD, 500));
    process_options options = shell(
        "fd=0; while [ $fd -lt 600 ]; do [ -e /proc/$$/fd/$fd ] && printf '%s ' $fd; "
        "fd=$((fd+1)); done");
    options.fds = {{careless.get(), 7}};
    EXPECT_EQ(output_of(options), "0 1 2 7 ");
    options.keep_other_fds = true;
    EXPECT_NE(output_of(options).find(" 500 "), std::string::npos);
}

}  // namespace
}  // namespace eddy::test::stdio_test
