// SPDX-License-Identifier: Apache-2.0
#pragma once

// The questions about many descriptors, asked to each subject alike. A subject is a template over a
// handler:
//
//   template <class Handler> class subject {
//       subject(Handler&, const std::vector<int>& fds);
//       void add(unsigned i);      watches fds[i] for reading; calls Handler::readable(i), or
//                                  Handler::received(i) for each byte that it read itself
//       void remove(unsigned i);
//       void run();                until stop()
//       void stop();               from inside readable()
//       void turn();               one turn that does not wait
//       void turns(n, f);          optional: n turns, with f called from inside each, where
//       programs
//                                  do such things; else outside
//   };

#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "common/clock.hpp"
#include "common/die.hpp"
#include "common/program.hpp"
#include "common/unique_fd.hpp"

namespace bench {

struct pipe_ends {
    std::vector<unique_fd> owned;
    std::vector<int> readers;
    std::vector<int> writers;
};

inline pipe_ends make_pipes(unsigned count) {
    pipe_ends p;
    for (unsigned i = 0; i < count; ++i) {
        int fds[2];
        must(::pipe2(fds, O_CLOEXEC | O_NONBLOCK), "pipe2");
        p.owned.emplace_back(fds[0]);
        p.owned.emplace_back(fds[1]);
        p.readers.push_back(fds[0]);
        p.writers.push_back(fds[1]);
    }
    return p;
}

/// The classic: so many pipes, some of them active. Who is readable reads a byte and writes one to
/// another pipe, until so many writes were made.
template <template <class> class Subject>
class pipe_churn {
public:
    pipe_churn(unsigned pipes, unsigned active)
        : pipes_(make_pipes(pipes)), active_(active), subject_(*this, pipes_.readers) {
        for (unsigned i = 0; i < pipes; ++i) subject_.add(i);
        subject_.turn();
    }

    void measure(unsigned writes) {
        const auto pipes = static_cast<unsigned>(pipes_.readers.size());
        left_to_write_ = writes;
        left_to_read_ = writes + active_;
        const std::int64_t begin = now_ns();
        for (unsigned i = 0; i < active_; ++i) send(i * (pipes / active_));
        subject_.run();
        print_metric("ns_per_event", static_cast<double>(now_ns() - begin) / (writes + active_));
    }

    void readable(unsigned i) {
        char byte = 0;
        if (::read(pipes_.readers[i], &byte, 1) == 1) received(i);
    }

    /// For subjects that read by themselves: a byte has come.
    void received(unsigned i) {
        if (left_to_write_ > 0) {
            --left_to_write_;
            send((i + active_ + 1) % static_cast<unsigned>(pipes_.readers.size()));
        }
        if (--left_to_read_ == 0) subject_.stop();
    }

private:
    void send(unsigned i) {
        if (::write(pipes_.writers[i], "e", 1) != 1) die("write");
    }

    pipe_ends pipes_;
    unsigned active_;
    Subject<pipe_churn> subject_;
    unsigned left_to_write_ = 0;
    unsigned left_to_read_ = 0;
};

struct deaf_handler {
    void readable(unsigned) noexcept {}
    void received(unsigned) noexcept {}
};

template <class Subject, class Function>
void in_turns(Subject& subject, unsigned count, Function f) {
    if constexpr (requires { subject.turns(count, f); }) {
        subject.turns(count, f);
    } else {
        for (unsigned t = 0; t < count; ++t) {
            f();
            subject.turn();
        }
    }
}

/// Removing a watcher and adding it again, many in a turn of the loop. The subject must not rely on
/// the number still meaning the same file: it could have been closed and opened in between.
template <template <class> class Subject>
void measure_reregistration(unsigned pipes, unsigned turns) {
    const pipe_ends p = make_pipes(pipes);
    deaf_handler handler;
    Subject<deaf_handler> subject(handler, p.readers);
    for (unsigned i = 0; i < pipes; ++i) subject.add(i);
    subject.turn();
    const std::int64_t begin = now_ns();
    in_turns(subject, turns, [&] {
        for (unsigned i = 0; i < pipes; ++i) {
            subject.remove(i);
            subject.add(i);
        }
    });
    const double count = static_cast<double>(pipes) * turns;
    print_metric("ns_per_reregistration", static_cast<double>(now_ns() - begin) / count);
}

template <template <class> class Subject>
int churn_main(int argc, char** argv) {
    const arguments a(argc, argv);
    if (a.question() == "pipes") {
        std::make_unique<pipe_churn<Subject>>(a.number(0), a.number(1))->measure(a.number(2));
    } else if (a.question() == "reregister") {
        measure_reregistration<Subject>(a.number(0), a.number(1));
    } else {
        a.wrong();
    }
    return 0;
}

}  // namespace bench
