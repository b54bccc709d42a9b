// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace bench {

/// What a measuring program prints, and the driver reads: a name and a value a line.
inline void print_metric(const char* name, double value) { std::printf("%s %.6g\n", name, value); }

/// The arguments of a measuring program: a question, and numbers that say how much of it.
class arguments {
public:
    arguments(int argc, char** argv) : argc_(argc), argv_(argv) {}

    std::string_view question() const { return argc_ > 1 ? argv_[1] : ""; }

    /// The i-th number after the question.
    unsigned number(int i) const {
        const char* text = i + 2 < argc_ ? argv_[i + 2] : "";
        char* end = nullptr;
        const unsigned long value = std::strtoul(text, &end, 10);
        if (end == text || *end != '\0' || value == 0 || value > 100'000'000) wrong();
        return static_cast<unsigned>(value);
    }

    [[noreturn]] void wrong() const {
        std::fprintf(stderr, "%s: wrong arguments; eddy_bench knows the right ones\n", argv_[0]);
        std::exit(2);
    }

private:
    int argc_;
    char** argv_;
};

/// The calling thread stays on that core, if it may.
inline void pin_to_core(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    ::sched_setaffinity(0, sizeof set, &set);
}

/// A small generator of our own: the same numbers for every subject.
class random_numbers {
public:
    unsigned below(unsigned limit) noexcept {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<unsigned>((state_ >> 32) * limit >> 32);
    }

private:
    unsigned long long state_ = 0x9E3779B97F4A7C15ULL;
};

}  // namespace bench
