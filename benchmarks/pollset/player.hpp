// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "common/clock.hpp"
#include "common/die.hpp"
#include "common/unique_fd.hpp"

namespace bench {

/// How often players have finished; whoever waits for that sleeps.
class score {
public:
    void finished(unsigned times = 1) {
        count_.fetch_add(times);
        count_.notify_one();
    }
    unsigned count() const { return count_.load(std::memory_order_relaxed); }
    void await(unsigned wanted) const {
        for (unsigned now = count_; now < wanted; now = count_) count_.wait(now);
    }

private:
    std::atomic<unsigned> count_{0};
};

/// An eventfd whose signals are answered by one to a partner, so many times; without a partner each
/// of them counts as a finish. Thread: one at a time, in heard(); any, in send() and answer().
class player {
public:
    struct habits {
        bool timed = false;     // keeps how long each signal took to be heard
        unsigned pause_us = 0;  // what it sleeps on hearing one
        unsigned samples_max = 0;
    };

    player(score& s, habits h)
        : score_(s), habits_(h), fd_(must(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")) {
        samples_us_.reserve(h.samples_max);
    }

    int fd() const noexcept { return fd_.get(); }
    const std::vector<double>& samples_us() const noexcept { return samples_us_; }

    void play(player& partner, unsigned answers) {
        partner_ = &partner;
        left_ = answers;
    }

    void send() {
        if (habits_.timed) sent_ns_.store(now_ns(), std::memory_order_relaxed);
        const std::uint64_t one = 1;
        if (::write(fd_.get(), &one, sizeof one) != sizeof one) die("write");
    }

    /// The fd is readable. True: answer() is to be called, when the next signal may come.
    bool heard() {
        std::uint64_t signals = 0;
        if (::read(fd_.get(), &signals, sizeof signals) != sizeof signals) return false;
        if (habits_.timed && samples_us_.size() < habits_.samples_max) {
            const std::int64_t took = now_ns() - sent_ns_.load(std::memory_order_relaxed);
            samples_us_.push_back(static_cast<double>(took) / 1'000);
        }
        if (habits_.pause_us != 0) ::usleep(habits_.pause_us);
        if (left_ > 0) {
            --left_;
            return true;
        }
        score_.finished(static_cast<unsigned>(signals));
        return false;
    }

    void answer() { partner_->send(); }

private:
    score& score_;
    habits habits_;
    unique_fd fd_;
    player* partner_ = nullptr;
    unsigned left_ = 0;
    std::atomic<std::int64_t> sent_ns_{0};
    std::vector<double> samples_us_;
};

}  // namespace bench
