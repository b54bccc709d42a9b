// SPDX-License-Identifier: Apache-2.0
#include "faults/documented_errors.hpp"

#include <cerrno>

namespace eddy::test {

namespace {

using kernel::call;

constexpr const char* made_again = "an interrupted call is made again";
constexpr const char* nobody_is_told = "what closes it has nobody to tell";
constexpr const char* acceptor_survives = "an acceptor survives what passes (docs/adr/0025)";
constexpr const char* has_another_way = "the library has another way";
constexpr const char* wait_goes_on = "a wait that fails for a moment is tried again";
constexpr const char* leaves_by_itself = "an fd that is closed leaves an epoll set by itself";
constexpr const char* behind_bytes =
    "what was read before is the result; a timerfd is read only to make it quiet";
constexpr const char* another_comes =
    "a connection that cannot be attached is closed, and the next one accepted";
constexpr const char* stays_there =
    "a pollset that cannot have a smaller station stays in the one that it has";
constexpr const char* name_stays =
    "the name of a socket whose file cannot be looked at stays: it may be another's by then";
constexpr const char* as_far_as_told =
    "what /proc and the position of a file tell is only looked at where it can be";
constexpr const char* stays_free = "a thread that cannot be bound to its core runs on any";
constexpr const char* asked_twice = "a process that is gone has also left its status behind";
constexpr const char* armed_all_the_same = "a timer is armed also if the clock was set";
constexpr const char* only_advice = "the answer only makes something faster";

constexpr documented_error interrupted{EINTR, made_again, true};

// What the manual knows no error of, a filter (seccomp) may still deny: EPERM.

constexpr documented_error of_read[] = {{EIO, behind_bytes}, interrupted};
constexpr documented_error of_write[] = {{EIO}, {ENOSPC}, {EDQUOT}, interrupted};
constexpr documented_error of_recv[] = {{ENOMEM}, {ECONNREFUSED}, {ECONNRESET}, interrupted};
constexpr documented_error of_send[] = {{ENOBUFS},  {ENOMEM}, {ECONNRESET},
                                        {EPIPE},    {EIO},  // of the file that sendfile reads
                                        interrupted};
// The network errors wait on the new connection: accept() passes them on, and means no other one.
// EOPNOTSUPP may as well be one of the listener, which is a result (docs/adr/0025).
constexpr documented_error of_accept[] = {{ECONNABORTED, acceptor_survives},
                                          {EMFILE, acceptor_survives},
                                          {ENFILE, acceptor_survives},
                                          {ENOBUFS, acceptor_survives},
                                          {ENOMEM, acceptor_survives},
                                          {EPERM, acceptor_survives},
                                          {EPROTO, acceptor_survives},
                                          {ENETDOWN, acceptor_survives, true},
                                          {ENETUNREACH, acceptor_survives, true},
                                          {EHOSTDOWN, acceptor_survives, true},
                                          {EHOSTUNREACH, acceptor_survives, true},
                                          {ENONET, acceptor_survives, true},
                                          {ENOPROTOOPT, acceptor_survives, true},
                                          {EOPNOTSUPP, nullptr, true},
                                          interrupted};
// EINTR is left out: it says that the connection is on its way.
constexpr documented_error of_connect[] = {{ECONNREFUSED}, {ETIMEDOUT},     {ENETUNREACH},
                                           {EHOSTUNREACH}, {EADDRNOTAVAIL}, {EADDRINUSE},
                                           {EACCES},       {EPERM}};
constexpr documented_error of_open[] = {{EMFILE, as_far_as_told},
                                        {ENFILE, as_far_as_told},
                                        {ENOMEM, as_far_as_told},
                                        {EACCES, as_far_as_told},
                                        {ENOSPC, as_far_as_told},
                                        {EDQUOT, as_far_as_told},
                                        interrupted};
constexpr documented_error of_close[] = {
    {EIO, nobody_is_told},
    {ENOSPC, nobody_is_told},
    {EDQUOT, nobody_is_told},
    {EINTR, "the fd is closed when close() is interrupted", true}};
constexpr documented_error of_fsync[] = {{EIO}, {ENOSPC}, {EDQUOT}, interrupted};
constexpr documented_error of_socket[] = {{EMFILE}, {ENFILE}, {ENOBUFS}, {ENOMEM}, {EACCES}};
constexpr documented_error of_pipe[] = {{EMFILE}, {ENFILE}};
constexpr documented_error of_bind[] = {{EADDRINUSE}, {EADDRNOTAVAIL}, {EACCES}, {ENOMEM}};
constexpr documented_error of_listen[] = {{EADDRINUSE}};
constexpr documented_error of_shutdown[] = {{EPERM}};
constexpr documented_error of_names[] = {{ENOBUFS}};
constexpr documented_error of_setsockopt[] = {{ENOBUFS, only_advice}, {ENOPROTOOPT, only_advice}};
constexpr documented_error of_getsockopt[] = {{ENOBUFS, only_advice}, {ENOPROTOOPT, only_advice}};
constexpr documented_error of_fstat[] = {{ENOMEM, another_comes}, {EOVERFLOW, another_comes}};
constexpr documented_error of_stat[] = {{ENOMEM, name_stays, false, EADDRINUSE},
                                        {EACCES, name_stays, false, EADDRINUSE}};
constexpr documented_error of_truncate[] = {{EIO}, {EPERM}, interrupted};
constexpr documented_error of_seek[] = {{EOVERFLOW, as_far_as_told}};
constexpr documented_error of_unlink[] = {{EIO, name_stays, false, EADDRINUSE},
                                          {EACCES, name_stays, false, EADDRINUSE}};
constexpr documented_error of_readlink[] = {{EIO, only_advice}, {ENOMEM, only_advice}};
constexpr documented_error of_isatty[] = {{ENOTTY, only_advice}};
constexpr documented_error of_fcntl[] = {{EPERM, only_advice}};
constexpr documented_error of_dupfd[] = {{EMFILE, acceptor_survives},
                                         {EINVAL, acceptor_survives, false, EMFILE}};
constexpr documented_error of_poll[] = {{ENOMEM, wait_goes_on, false, EBADF},  // a watch: invalid
                                        interrupted};
constexpr documented_error of_eventfd[] = {
    {EMFILE, stays_there}, {ENFILE, stays_there}, {ENODEV, stays_there}, {ENOMEM, stays_there}};
constexpr documented_error of_eventfd_call[] = {interrupted};
constexpr documented_error of_timerfd[] = {{EMFILE}, {ENFILE}, {ENODEV}, {ENOMEM}};
// It says that the clock was set just now.
constexpr documented_error of_timerfd_settime[] = {{ECANCELED, armed_all_the_same}};
constexpr documented_error of_signalfd[] = {{EMFILE}, {ENFILE}, {ENODEV}, {ENOMEM}};
constexpr documented_error of_epoll_create[] = {
    {EMFILE, stays_there}, {ENFILE, stays_there}, {ENOMEM, stays_there}};
constexpr documented_error of_epoll_ctl[] = {{ENOMEM, leaves_by_itself},
                                             {ENOSPC, leaves_by_itself}};
constexpr documented_error of_epoll_wait[] = {{ENOMEM, wait_goes_on}, interrupted};
constexpr documented_error of_uring_setup[] = {{EMFILE},
                                               {ENFILE},
                                               {ENOMEM},
                                               {EPERM, nullptr, false, 0, errc::engine_denied},
                                               {ENOSYS, nullptr, false, 0, errc::engine_denied}};
constexpr documented_error of_uring_enter[] = {
    {EAGAIN, wait_goes_on}, {EBUSY, wait_goes_on}, {ENOMEM, wait_goes_on}, interrupted};
constexpr documented_error of_uring_register[] = {
    {ENOMEM, only_advice}, {EPERM, only_advice, false, 0, errc::engine_denied}};
constexpr documented_error of_uring_buffers[] = {{ENOMEM, has_another_way},
                                                 {EINVAL, has_another_way}};
constexpr documented_error of_futex_wait[] = {{EINTR, "who sleeps looks again", true}};
constexpr documented_error of_clone[] = {{EAGAIN}, {ENOMEM}};
constexpr documented_error of_pidfd_open[] = {{EMFILE}, {ENFILE}, {ENODEV}, {ENOMEM}};
constexpr documented_error of_signal[] = {{EPERM, asked_twice}};
constexpr documented_error of_kill[] = {{EPERM, nobody_is_told}};
constexpr documented_error of_pidfd_info[] = {{ENOTTY, nullptr, false, ECHILD}};
constexpr documented_error of_waitid[] = {interrupted};
constexpr documented_error of_sigmask[] = {
    {EPERM, nobody_is_told, false, 0, errc::signal_not_blocked}};
constexpr documented_error of_sigaction[] = {{EPERM, only_advice}};
constexpr documented_error of_sigqueue[] = {{EAGAIN, nobody_is_told}, {EPERM, nobody_is_told}};
constexpr documented_error of_prctl[] = {{EPERM, only_advice}};
constexpr documented_error of_thread[] = {{EAGAIN}};
constexpr documented_error of_affinity[] = {{EINVAL, stays_free}, {EPERM, stays_free}};

constexpr fault_kind kinds[] = {
    {call::read, "read", {"Files"}, of_read, true},
    {call::write, "write", {"Files"}, of_write, true},
    {call::recv, "recv", {"EchoCallbacks"}, of_recv, true},
    {call::send, "send", {"EchoCallbacks"}, of_send, true},
    {call::accept, "accept", {"EchoTasks"}, of_accept},
    {call::connect, "connect", {"EchoTasks"}, of_connect},
    {call::open, "open", {"Files"}, of_open},
    {call::close, "close", {"Files"}, of_close},
    {call::fsync, "fsync", {"Files"}, of_fsync},
    {call::socket, "socket", {"EchoTasks"}, of_socket},
    {call::pipe, "pipe", {"Spawn"}, of_pipe},
    {call::bind, "bind", {"EchoTasks"}, of_bind},
    {call::listen, "listen", {"EchoTasks"}, of_listen},
    {call::shutdown, "shutdown", {"EchoTasks"}, of_shutdown},
    {call::getsockname, "getsockname", {"EchoTasks"}, of_names},
    {call::getpeername, "getpeername", {"LocalPaths"}, of_names},
    {call::setsockopt, "setsockopt", {"EchoTasks"}, of_setsockopt},
    {call::getsockopt, "getsockopt", {"EchoCallbacks"}, of_getsockopt},
    {call::fstat, "fstat", {"Files"}, of_fstat},
    {call::stat, "stat", {"StaleSocket"}, of_stat},
    {call::truncate, "truncate", {"Files"}, of_truncate},
    {call::seek, "seek", {"Files"}, of_seek},
    {call::unlink, "unlink", {"StaleSocket"}, of_unlink},
    {call::readlink, "readlink", {"Pollset"}, of_readlink},
    {call::isatty, "isatty", {"Making"}, of_isatty},
    {call::fcntl, "fcntl", {"SendFile"}, of_fcntl},
    {call::dupfd, "dupfd", {"StandardFds"}, of_dupfd},
    {call::poll, "poll", {"Processes"}, of_poll},
    {call::eventfd, "eventfd", {"Making"}, of_eventfd},
    {call::eventfd_read, "eventfd_read", {"Embedding", "io_uring"}, of_eventfd_call},
    {call::eventfd_write, "eventfd_write", {"Embedding"}, of_eventfd_call},
    {call::timerfd, "timerfd", {"Embedding"}, of_timerfd},
    {call::timerfd_settime, "timerfd_settime", {"Timers"}, of_timerfd_settime},
    {call::signalfd, "signalfd", {"Signals"}, of_signalfd},
    {call::epoll_create, "epoll_create", {"Making", "epoll"}, of_epoll_create},
    {call::epoll_ctl, "epoll_ctl", {"Making", "epoll"}, of_epoll_ctl},
    {call::epoll_wait, "epoll_wait", {"EchoCallbacks", "epoll"}, of_epoll_wait},
    {call::uring_setup, "uring_setup", {"Making", "io_uring"}, of_uring_setup},
    {call::uring_enter, "uring_enter", {"EchoCallbacks", "io_uring"}, of_uring_enter},
    {call::uring_register, "uring_register", {"Making", "io_uring"}, of_uring_register},
    {call::uring_buffers, "uring_buffers", {"Making", "io_uring"}, of_uring_buffers},
    {call::futex_wait, "futex_wait", {"PollsetSleepers"}, of_futex_wait},
    {call::clone, "clone", {"Spawn"}, of_clone},
    {call::pidfd_open, "pidfd_open", {"Processes"}, of_pidfd_open},
    {call::pidfd_send_signal, "pidfd_send_signal", {"Processes"}, of_signal},
    {call::pidfd_info, "pidfd_info", {"ReapedByOthers"}, of_pidfd_info},
    {call::kill, "kill", {"ProcessGroups"}, of_kill},
    {call::waitid, "waitid", {"SpawnOfNothing"}, of_waitid},
    {call::sigmask, "sigmask", {"Signals"}, of_sigmask},
    {call::sigaction, "sigaction", {"Signals"}, of_sigaction},
    {call::sigqueue, "sigqueue", {"Children"}, of_sigqueue},
    {call::prctl, "prctl", {"Making"}, of_prctl},
    {call::affinity, "affinity", {"LoopGroup"}, of_affinity},
    {call::thread, "thread", {"LoopGroup"}, of_thread},
};

constexpr const char* only_a_mistake = "fails only for arguments that are wrong";
constexpr const char* stands_for_a_kernel = "stands for what a kernel lacks, and is no call";

constexpr kind_that_cannot_fail others[] = {
    {call::uring_exit, "gives back what there is"},
    {call::futex_wake, only_a_mistake},
    {call::memory,
     "is made once in a process, before any scenario: ProcessMark in tests/kernel fails it"},
    {call::sigpending, only_a_mistake},
    {call::sigtimedwait, "EAGAIN is a state, and without a wait nothing interrupts it"},
    {call::getrusage, only_a_mistake},
    {call::sleep, "is only interrupted, and who pauses looks again"},
    {call::yield, "always succeeds"},
    {call::thread_join, only_a_mistake},
    {call::getid, "always succeeds"},
    {call::uring_receive_limit, stands_for_a_kernel},
    {call::rwf_nosignal, stands_for_a_kernel},
    {call::epoll_pwait2, stands_for_a_kernel},
    {call::pidfd_signal_group, stands_for_a_kernel},
};

}  // namespace

std::span<const fault_kind> fault_kinds() noexcept { return kinds; }
std::span<const kind_that_cannot_fail> kinds_that_cannot_fail() noexcept { return others; }

}  // namespace eddy::test
