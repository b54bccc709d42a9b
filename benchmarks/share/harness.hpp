// SPDX-License-Identifier: Apache-2.0
#pragma once

// Two streams that always have something to read share a loop. What each moved is kept for every
// window of the whole: the share of the first, in percent.

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common/die.hpp"
#include "common/program.hpp"
#include "common/unique_fd.hpp"

namespace bench {

/// Reads come in pieces of different sizes: it is bytes that are to be shared, not calls.
inline constexpr std::size_t piece[2] = {300, 1000};
inline constexpr std::size_t piece_max = 1000;

/// A socket that never runs dry: whoever has read from it fills it up again.
class endless_stream {
public:
    endless_stream() {
        int fds[2];
        must(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds),
             "socketpair");
        reader_ = unique_fd(fds[0]);
        writer_ = unique_fd(fds[1]);
        refill();
    }

    int reader() const noexcept { return reader_.get(); }
    void refill() noexcept {
        static constexpr char chunk[4 * piece_max] = {};
        while (::write(writer_.get(), chunk, sizeof chunk) > 0) {}
    }

private:
    unique_fd reader_;
    unique_fd writer_;
};

class share_record {
public:
    static constexpr std::size_t windows = 60;

    explicit share_record(std::size_t bytes) : window_(std::max<std::size_t>(bytes / windows, 1)) {}

    void moved(std::size_t stream, std::size_t bytes) {
        now_[stream] += bytes;
        all_[stream] += bytes;
        if (now_[0] + now_[1] < window_) return;
        shares_.push_back(percent(now_));
        now_[0] = now_[1] = 0;
    }
    bool complete() const noexcept { return shares_.size() >= windows; }
    void print() const {
        for (const double share : shares_) print_metric("window", share);
        print_metric("share_percent", percent(all_));
    }

private:
    static double percent(const std::size_t (&bytes)[2]) {
        return 100. * static_cast<double>(bytes[0]) / static_cast<double>(bytes[0] + bytes[1]);
    }

    std::size_t window_;
    std::size_t now_[2] = {0, 0};
    std::size_t all_[2] = {0, 0};
    std::vector<double> shares_;
};

}  // namespace bench
