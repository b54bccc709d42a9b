// SPDX-License-Identifier: Apache-2.0

// Turns eddy's errors into messages, error conditions and std::error_code values.
#include <eddy/base/error.hpp>

#include <string>

namespace eddy {

namespace {

class category final : public std::error_category {
public:
    const char* name() const noexcept override { return "eddy"; }

    std::string message(int code) const override {
        switch (static_cast<errc>(code)) {
            case errc::timed_out:
                return "the deadline of the operation has passed";
            case errc::engine_not_built:
                return "this engine is not in this build of eddy (io_uring needs liburing when "
                       "eddy is built)";
            case errc::engine_denied:
                return "the kernel denies this engine (for io_uring see "
                       "/proc/sys/kernel/io_uring_disabled and the seccomp filter of the "
                       "container); use engine_kind::best to fall back to epoll";
            case errc::end_of_stream:
                return "the stream has ended too early";
            case errc::channel_closed:
                return "the channel is closed";
            case errc::signal_not_blocked:
                return "the signal is not blocked in this thread: call block_signals() before "
                       "threads start";
            case errc::signal_not_waitable:
                return "this signal cannot be waited for";
            case errc::signal_ignored:
                return "the signal is ignored: give it its default disposition first";
            case errc::signal_has_owner:
                return "another signal_source of this process has the signal";
            case errc::signal_not_attached:
                return "the signal_source does not have this signal";
            case errc::process_has_owner:
                return "another loop watches this process";
            case errc::process_not_child:
                return "the process is not a child: its stops and continuations cannot be told";
            case errc::children_hidden:
                return "SIGCHLD has the flag SA_NOCLDSTOP or SA_NOCLDWAIT, which hides what "
                       "happens to children";
            case errc::forked:
                return "made by the parent of this process, before it forked: make a new one";
            case errc::signal_needs_loop:
                return "signals cannot be waited for on a pollset: use the signal_source of a loop";
            case errc::strategy_denied:
                return "the kernel denies what this strategy needs (it is too old, or a seccomp "
                       "filter of the container forbids it); use poll_strategy::automatic, or "
                       "poll, which needs no epoll";
        }
        return "unknown error " + std::to_string(code);
    }

    std::error_condition default_error_condition(int code) const noexcept override {
        switch (static_cast<errc>(code)) {
            case errc::timed_out:
                return std::errc::timed_out;
            case errc::engine_not_built:
                return std::errc::function_not_supported;
            case errc::engine_denied:
                return std::errc::operation_not_permitted;
            case errc::end_of_stream:
                break;
            case errc::channel_closed:
                return std::errc::broken_pipe;
            case errc::signal_not_blocked:
            case errc::signal_ignored:
                return std::errc::operation_not_permitted;
            case errc::signal_has_owner:
                return std::errc::device_or_resource_busy;
            case errc::signal_not_waitable:
            case errc::signal_not_attached:
                return std::errc::invalid_argument;
            case errc::process_has_owner:
                return std::errc::device_or_resource_busy;
            case errc::process_not_child:
                return std::errc::not_supported;
            case errc::children_hidden:
            case errc::forked:
            case errc::signal_needs_loop:
            case errc::strategy_denied:
                return std::errc::operation_not_permitted;
        }
        return {code, *this};
    }
};

}  // namespace

const std::error_category& error_category() noexcept {
    static const category instance;
    return instance;
}

std::error_code io_result::error() const noexcept {
    if (ok()) {
        return {};
    }
    if (raw_ > -first_own_error) {
        return {static_cast<int>(-raw_), std::system_category()};
    }
    return make_error_code(static_cast<errc>(-raw_ - first_own_error));
}

}  // namespace eddy
