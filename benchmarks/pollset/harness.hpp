// SPDX-License-Identifier: Apache-2.0
#pragma once

// The questions about descriptors that many threads serve, asked to each subject alike. A subject:
//
//   class subject {
//       explicit subject(unsigned sets);
//       void add(unsigned set, player& p);  on each event: p.heard(), then p.answer() if it says so
//       bool work(unsigned set);            waits once, and handles what came; false: stopped
//       void stop();                        all threads return, from now on
//       served costs() const;               of all sets since the beginning
//   };

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <thread>
#include <vector>

#include "common/program.hpp"
#include "common/stats.hpp"
#include "pollset/player.hpp"

namespace bench {

/// What serving cost in calls of the kernel.
struct served {
    double waits = 0;         // epoll_wait, poll
    double thread_wakes = 0;  // of sleepers, by futex
    double poller_wakes = 0;  // writes of an eventfd
};

inline std::int64_t cpu_ns() {
    timespec t{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

inline double switches_of(int who) {
    rusage u{};
    ::getrusage(who, &u);
    return static_cast<double>(u.ru_nvcsw + u.ru_nivcsw);
}

/// What the threads of a subject did between construction and print().
template <class Subject>
class bill {
public:
    explicit bill(const Subject& s) : subject_(s) {}

    /// The calling thread is not one that serves: what it did is not counted.
    void print(unsigned events) const {
        const served now = subject_.costs();
        const auto each = [&](const char* name, double amount) {
            print_metric(name, amount / events);
        };
        each("called_per_event", now.thread_wakes - before_.thread_wakes);
        each("waits_per_event", now.waits - before_.waits);
        each("eventfd_per_event", now.poller_wakes - before_.poller_wakes);
        each("switches_per_event", switches() - switches_);
        each("cpu_ns_per_event", static_cast<double>(cpu_ns() - cpu_));
        print_metric("events_per_ms", events * 1e6 / static_cast<double>(now_ns() - begin_));
    }

private:
    static double switches() { return switches_of(RUSAGE_SELF) - switches_of(RUSAGE_THREAD); }

    const Subject& subject_;
    served before_ = subject_.costs();
    double switches_ = switches();
    std::int64_t cpu_ = cpu_ns();
    std::int64_t begin_ = now_ns();
};

/// Players, and threads that serve them until it ends.
template <class Subject>
class field {
public:
    field(unsigned threads, unsigned sets) : sets_(sets), threads_max_(threads), subject_(sets) {}
    ~field() { subject_.stop(); }

    player& add(unsigned set, player::habits h) {
        players_.emplace_back(score_, h);
        subject_.add(set, players_.back());
        return players_.back();
    }

    /// `fds` players in pairs; the pairs take turns in the pollsets.
    void add_pairs(unsigned fds, player::habits h) {
        for (unsigned i = 0; i < fds; ++i) add(i / 2 % sets_, h);
    }

    void open() {
        for (unsigned i = 0; i < threads_max_; ++i) {
            threads_.emplace_back([this, i] {
                while (subject_.work(i % sets_)) {}
            });
        }
        rest();
    }

    /// Lets the first `pairs` play, each so many signals.
    void begin(unsigned pairs, unsigned signals) {
        for (unsigned i = 0; i < pairs; ++i) {
            player& first = players_[2 * i];
            player& second = players_[2 * i + 1];
            first.play(second, signals / 2);  // the last signal is not answered
            second.play(first, (signals - 1) / 2);
            first.send();
        }
    }

    /// Until all threads wait again, most probably.
    static void rest() { ::usleep(20'000); }

    player& operator[](unsigned i) { return players_[i]; }
    const bench::score& score() const { return score_; }
    Subject& subject() { return subject_; }

    void print_latencies(unsigned from = 0) const {
        std::vector<double> all;
        for (const player& p : players_) {
            if (from > 0) {
                --from;
                continue;
            }
            all.insert(all.end(), p.samples_us().begin(), p.samples_us().end());
        }
        std::sort(all.begin(), all.end());
        print_metric("p50_us", quantile(all, .5));
        print_metric("p99_us", quantile(all, .99));
        print_metric("p999_us", quantile(all, .999));
    }

private:
    unsigned sets_;
    unsigned threads_max_;
    bench::score score_;
    std::deque<player> players_;
    Subject subject_;
    std::vector<std::jthread> threads_;  // ends before what it serves
};

/// One thread, one pollset.
template <class Subject>
void measure_single(unsigned fds, unsigned pairs, unsigned signals) {
    field<Subject> f(0, 1);
    f.add_pairs(fds, {});
    f.begin(pairs, signals / pairs);
    const std::int64_t begin = cpu_ns();
    while (f.score().count() < pairs) f.subject().work(0);
    print_metric("cpu_ns_per_event", static_cast<double>(cpu_ns() - begin) / signals);
}

/// The same for a driver that counts from outside: a byte from `orders` says how many times so many
/// signals are wanted; a line is printed when they are done.
template <class Subject>
void serve_counted(int orders, unsigned pairs, unsigned signals) {
    field<Subject> f(0, 1);
    f.add_pairs(2 * pairs, {});
    char byte = 0;
    for (unsigned wanted = 0; ::read(orders, &byte, 1) == 1;) {
        const auto times = static_cast<unsigned>(byte);
        f.begin(pairs, times * signals / pairs);
        wanted += pairs;
        while (f.score().count() < wanted) f.subject().work(0);
        std::puts("done");
        std::fflush(stdout);
    }
}

template <class Subject>
void measure_matrix(unsigned threads, unsigned sets, unsigned fds, unsigned signals) {
    const unsigned pairs = fds / 4;
    field<Subject> f(threads, sets);
    f.add_pairs(fds, {.timed = true, .samples_max = signals / pairs});
    f.open();
    const bill<Subject> b(f.subject());
    f.begin(pairs, signals / pairs);
    f.score().await(pairs);
    b.print(signals / pairs * pairs);
    f.print_latencies();
}

/// Signals come one by one from outside, while all threads wait.
template <class Subject>
void measure_herd(unsigned threads, unsigned fds, unsigned signals) {
    field<Subject> f(threads, 1);
    for (unsigned i = 0; i < fds; ++i) f.add(0, {.timed = true, .samples_max = signals});
    f.open();
    const bill<Subject> b(f.subject());
    for (unsigned i = 0; i < signals; ++i) {
        f[i % fds].send();
        f.score().await(i + 1);
        ::usleep(200);
    }
    b.print(signals);
    f.print_latencies();
}

/// One handler takes 10 ms each time, and signals come to all others meanwhile.
template <class Subject>
void measure_blocked(unsigned threads, unsigned fds, unsigned signals) {
    constexpr unsigned others_a_block = 20;
    field<Subject> f(threads, 1);
    f.add(0, {.pause_us = 10'000});
    for (unsigned i = 1; i < fds; ++i) f.add(0, {.timed = true, .samples_max = signals});
    f.open();
    unsigned sent = 0;
    for (unsigned i = 0; i < signals; ++i) {
        // Together with others, as they come in real life: who harvests one harvests all.
        if (i % others_a_block == 0) {
            f.score().await(sent);
            f[0].send();
            ++sent;
        }
        f[1 + i % (fds - 1)].send();
        ++sent;
        if (i % 4 == 3) ::usleep(1'000);
    }
    f.score().await(sent);
    f.print_latencies(1);
}

template <class Subject>
int pollset_main(int argc, char** argv) {
    const arguments a(argc, argv);
    if (a.question() == "single") {
        measure_single<Subject>(a.number(0), a.number(1), a.number(2));
    } else if (a.question() == "counted") {
        serve_counted<Subject>(static_cast<int>(a.number(0)), a.number(1), a.number(2));
    } else if (a.question() == "matrix") {
        measure_matrix<Subject>(a.number(0), a.number(1), a.number(2), a.number(3));
    } else if (a.question() == "herd") {
        measure_herd<Subject>(a.number(0), a.number(1), a.number(2));
    } else if (a.question() == "blocked") {
        measure_blocked<Subject>(a.number(0), a.number(1), a.number(2));
    } else {
        a.wrong();
    }
    return 0;
}

}  // namespace bench
