// SPDX-License-Identifier: Apache-2.0
#pragma once

// The question about signals, asked to each subject alike. A subject is a template over a handler:
//
//   template <class Handler> class subject {
//       explicit subject(Handler&);   calls Handler::came() for each SIGUSR1
//       void run();                   until stop()
//       void stop();                  from inside came()
//   };

#include <signal.h>
#include <unistd.h>

#include <memory>

#include "common/clock.hpp"
#include "common/die.hpp"
#include "common/program.hpp"

namespace bench {

/// Signals of this process to itself, one after the other: sent, received by the loop.
template <template <class> class Subject>
class signal_chain {
public:
    signal_chain() : subject_(*this) {}

    void measure(unsigned count) {
        left_ = count;
        const std::int64_t begin = now_ns();
        send();
        subject_.run();
        print_metric("ns_per_signal", static_cast<double>(now_ns() - begin) / count);
    }

    void came() {
        if (--left_ == 0) {
            subject_.stop();
        } else {
            send();
        }
    }

private:
    void send() { must(::kill(self_, SIGUSR1), "kill"); }

    pid_t self_ = ::getpid();
    unsigned left_ = 0;
    Subject<signal_chain> subject_;
};

template <template <class> class Subject>
int signal_main(int argc, char** argv) {
    const arguments a(argc, argv);
    if (a.question() != "round_trip") a.wrong();
    std::make_unique<signal_chain<Subject>>()->measure(a.number(0));
    return 0;
}

}  // namespace bench
