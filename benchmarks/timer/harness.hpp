// SPDX-License-Identifier: Apache-2.0
#pragma once

// The questions about timers, asked to each subject alike. A subject is a template over a handler:
//
//   template <class Handler> class subject {
//       subject(Handler&, unsigned count);          as many timers, numbered from 0
//       void set(unsigned i, std::int64_t delay);   in nanoseconds, whole milliseconds
//       void cancel(unsigned i);
//       void push_back(unsigned i, std::int64_t);   a set one, to later
//       void turn();                                what a turn of the loop does besides firing:
//                                                   reads the clock, ends what was cancelled
//       void run();                                 calls Handler::fired(i), until stop()
//       void stop();                                from inside fired()
//       void inside(f);                             optional: calls f from inside the loop, where
//                                                   setting and cancelling is cheaper
//   };
//
// The loops have what they need in copies of their own: a call into a library makes the compiler
// read again what others might have changed, and the reference, which is inlined, has no such call.

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "common/clock.hpp"
#include "common/program.hpp"
#include "common/stats.hpp"

namespace bench {

inline constexpr std::int64_t ms = 1'000'000;

template <class Subject, class Function>
void inside(Subject& subject, Function f) {
    if constexpr (requires { subject.inside(f); }) {
        subject.inside(f);
    } else {
        f();
    }
}

/// For questions in which nothing fires.
struct no_handler {
    void fired(unsigned) noexcept {}
};

inline double each(std::int64_t begin, std::int64_t end, unsigned count) {
    return static_cast<double>(end - begin) / count;
}

inline std::vector<unsigned> shuffled(unsigned count, random_numbers& random) {
    std::vector<unsigned> order(count);
    std::iota(order.begin(), order.end(), 0u);
    for (unsigned i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

/// So many timers set, then cancelled in another order; their deadlines are in no order.
template <template <class> class Subject>
void measure_set_and_cancel(unsigned count) {
    no_handler handler;
    Subject<no_handler> subject(handler, count);
    std::vector<std::int64_t> delays(count);
    random_numbers random;
    for (std::int64_t& d : delays) d = (10'000 + random.below(60'000)) * ms;
    const std::vector<unsigned> order = shuffled(count, random);
    inside(subject, [&subject, count, delay = std::span(delays), any = std::span(order)] {
        const std::int64_t begin = now_ns();
        for (unsigned i = 0; i < count; ++i) subject.set(i, delay[i]);
        const std::int64_t set = now_ns();
        for (unsigned i : any) subject.cancel(i);
        subject.turn();
        const std::int64_t cancelled = now_ns();
        print_metric("set_ns", each(begin, set, count));
        print_metric("cancel_ns", each(set, cancelled, count));
    });
}

/// Idle timeouts: the timers are due at any time within a period, and activity on one of them, at
/// random, moves it to a full period from now. A turn of the loop is 64 of those.
template <template <class> class Subject>
void measure_push_back(unsigned timers, unsigned pushes) {
    constexpr std::int64_t period = 60'000 * ms;
    no_handler handler;
    Subject<no_handler> subject(handler, timers);
    inside(subject, [&subject, timers, pushes] {
        random_numbers random;
        for (unsigned i = 0; i < timers; ++i) subject.set(i, (20'000 + random.below(40'000)) * ms);
        const std::int64_t begin = now_ns();
        for (unsigned n = 0; n < pushes; ++n) {
            subject.push_back(random.below(timers), period);
            if (n % 64 == 63) subject.turn();
        }
        print_metric("push_back_ns", each(begin, now_ns(), pushes));
    });
}

/// Among so many timers, one at random is cancelled and set again, which leaves as many as there
/// were.
template <template <class> class Subject>
void measure_cancel_and_set(unsigned timers, unsigned count) {
    no_handler handler;
    Subject<no_handler> subject(handler, timers);
    inside(subject, [&subject, timers, count] {
        random_numbers random;
        const auto delay = [&] { return (10'000 + random.below(60'000)) * ms; };
        for (unsigned i = 0; i < timers; ++i) subject.set(i, delay());
        const std::int64_t begin = now_ns();
        for (unsigned n = 0; n < count; ++n) {
            const unsigned i = random.below(timers);
            subject.cancel(i);
            subject.set(i, delay());
            if (n % 64 == 63) subject.turn();
        }
        print_metric("cancel_and_set_ns", each(begin, now_ns(), count));
    });
}

/// When timers fire that were set from inside callbacks, `work` after these began: a negative
/// lateness is a timer that fired before the time that was asked for had passed.
template <template <class> class Subject>
class timer_lateness {
public:
    void measure(unsigned count, std::int64_t work_ns) {
        left_ = count;
        work_ns_ = work_ns;
        for (unsigned i = 0; i < timers; ++i) set(i);
        subject_.run();
        std::sort(late_us_.begin(), late_us_.end());
        print_metric("late_p50_us", quantile(late_us_, .5));
        print_metric("late_p99_us", quantile(late_us_, .99));
        print_metric("earliest_us", late_us_.front());
    }

    void fired(unsigned i) {
        late_us_.push_back(static_cast<double>(now_ns() - due_[i]) / 1e3);
        if (late_us_.size() == left_) return subject_.stop();
        for (const std::int64_t until = now_ns() + work_ns_; now_ns() < until;) {}
        set(i);
    }

private:
    static constexpr unsigned timers = 3;

    void set(unsigned i) {
        const std::int64_t delay = (1 + random_.below(9)) * ms;
        due_[i] = now_ns() + delay;
        subject_.set(i, delay);
    }

    Subject<timer_lateness> subject_{*this, timers};
    random_numbers random_;
    std::int64_t due_[timers] = {};
    std::int64_t work_ns_ = 0;
    std::size_t left_ = 0;
    std::vector<double> late_us_;
};

template <template <class> class Subject>
int timer_main(int argc, char** argv) {
    const arguments a(argc, argv);
    if (a.question() == "set_cancel") {
        measure_set_and_cancel<Subject>(a.number(0));
    } else if (a.question() == "push_back") {
        measure_push_back<Subject>(a.number(0), a.number(1));
    } else if (a.question() == "cancel_and_set") {
        measure_cancel_and_set<Subject>(a.number(0), a.number(1));
    } else if (a.question() == "lateness") {
        timer_lateness<Subject>().measure(a.number(0), 0);
    } else if (a.question() == "lateness_after_work") {
        timer_lateness<Subject>().measure(a.number(0), 1 * ms);
    } else {
        a.wrong();
    }
    return 0;
}

}  // namespace bench
