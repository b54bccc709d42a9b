// SPDX-License-Identifier: Apache-2.0
// What attaching an fd refuses, and what it leaves behind.
#include "support/engine_fixture.hpp"
#include "support/in_child.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace eddy::test::attach_test {
namespace {

class Attachment : public EngineTest {};
EDDY_ON_EVERY_ENGINE(Attachment);

TEST_P(Attachment, OfADuplicateOfStandardInputLeavesThatBlocking) {
    const int ended = in_child([&] {
        const fd_pair pipe = make_pipe();
        ::dup2(pipe.first.get(), 0);
        EXPECT_FALSE(is_nonblocking(0));
        eddy::loop l({.engine = GetParam()});
        descriptor d(l, unique_fd(::fcntl(0, F_DUPFD_CLOEXEC, 3)));
        std::string buffer(4, '\0');
        recorder r;
        r.start(l, read(d, bytes(buffer)));
        l.poll();
        d.close();
        l.run(run_mode::empty, {.until = clock::now() + patience});
        EXPECT_TRUE(r.ended());
        EXPECT_FALSE(is_nonblocking(0));
        return 0;
    });
    EXPECT_EQ(ended, 0);
}

TEST_P(Attachment, OfAClosedFdIsAnErrorAlsoIfTheKindIsGiven) {
    static_cast<void>(loop());
    const int number = make_pipe().first.get();
    ASSERT_FALSE(is_open(number));
    for (const descriptor_kind kind : {descriptor_kind::unknown, descriptor_kind::pipe}) {
        unique_fd fd(number);
        descriptor d;
        EXPECT_EQ(descriptor::attach(loop(), fd, d, {.kind = kind}),
                  std::errc::bad_file_descriptor);
        EXPECT_FALSE(d);
        EXPECT_EQ(fd.release(), number);
    }
}

TEST_P(Attachment, OfAnAttachedFdIsAnErrorAlsoIfTheKindIsGiven) {
    fd_pair pipe = make_pipe();
    const descriptor_options options{.kind = descriptor_kind::pipe};
    const descriptor d = attach(std::move(pipe.first), options);
    unique_fd again(d.native_handle());
    descriptor second;
    EXPECT_EQ(descriptor::attach(loop(), again, second, options), std::errc::file_exists);
    EXPECT_FALSE(second);
    EXPECT_EQ(again.release(), d.native_handle());
}

}  // namespace
}  // namespace eddy::test::attach_test
