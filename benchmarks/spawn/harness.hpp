// SPDX-License-Identifier: Apache-2.0
#pragma once

// The question about children, asked to each subject alike. A subject is a template over a handler:
//
//   template <class Handler> class subject {
//       explicit subject(Handler&);
//       void spawn();    executes `program`; calls Handler::ended(well) when it was reaped
//       void run();      until stop()
//       void stop();     from inside ended()
//   };

#include <sys/mman.h>

#include <cstddef>
#include <memory>

#include "common/clock.hpp"
#include "common/die.hpp"
#include "common/program.hpp"

namespace bench {

inline constexpr char program[] = "/bin/true";

/// Memory that this process has and has written to, in small pages. What is copied for a child
/// grows with it: nothing should be.
class ballast {
public:
    explicit ballast(std::size_t mib) : size_(mib * 1024 * 1024) {
        constexpr std::size_t page = 4096;
        void* const memory =
            ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) die("mmap");
        ::madvise(memory, size_, MADV_NOHUGEPAGE);
        memory_ = static_cast<volatile char*>(memory);
        for (std::size_t i = 0; i < size_; i += page) memory_[i] = 1;
    }
    ballast(const ballast&) = delete;
    ballast& operator=(const ballast&) = delete;
    ~ballast() { ::munmap(const_cast<char*>(memory_), size_); }

private:
    std::size_t size_;
    volatile char* memory_;
};

/// Children one after the other: spawned, ended, reaped.
template <template <class> class Subject>
class spawn_chain {
public:
    spawn_chain() : subject_(*this) {}

    void measure(unsigned count) {
        left_ = count;
        const std::int64_t begin = now_ns();
        spawn();
        subject_.run();
        print_metric("us_per_child", static_cast<double>(now_ns() - begin) / 1000 / count);
        print_metric("us_to_spawn", static_cast<double>(spawning_ns_) / 1000 / count);
    }

    void ended(bool well) {
        if (!well) die("the child failed", 0);
        if (--left_ == 0) {
            subject_.stop();
        } else {
            spawn();
        }
    }

private:
    void spawn() {
        const std::int64_t begin = now_ns();
        subject_.spawn();
        spawning_ns_ += now_ns() - begin;
    }

    Subject<spawn_chain> subject_;
    unsigned left_ = 0;
    std::int64_t spawning_ns_ = 0;
};

template <template <class> class Subject>
int spawn_main(int argc, char** argv) {
    const arguments a(argc, argv);
    if (a.question() != "chain") a.wrong();
    const ballast memory(a.number(1));
    std::make_unique<spawn_chain<Subject>>()->measure(a.number(0));
    return 0;
}

}  // namespace bench
