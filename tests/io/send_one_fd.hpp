// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/io/detail/convert/message_calls.hpp>

#include <span>

#include <gtest/gtest.h>
#include <sys/socket.h>

namespace eddy::test {

/// One byte with a descriptor, without the loop.
inline void send_one_fd(int socket, int fd) {
    char byte = 'x';
    iovec vector{&byte, 1};
    detail::fd_control<1> control;
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = control.space;
    message.msg_controllen = control.size;
    detail::put_fds(message, std::span(&fd, 1));
    ASSERT_EQ(::sendmsg(socket, &message, 0), 1);
}

}  // namespace eddy::test
