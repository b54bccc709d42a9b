// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace eddy::test {

/// Random numbers for one test. When the test fails, the seed is told; EDDY_SEED sets it.
class random_numbers {
public:
    random_numbers()
        : seed_(chosen_seed()),
          generator_(seed_),
          trace_(__FILE__, __LINE__, "to repeat it: EDDY_SEED=" + std::to_string(seed_)) {}

    /// 0 to `end` - 1.
    std::uint64_t below(std::uint64_t end) { return generator_() % end; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    /// For another thread, which must not share this one.
    std::mt19937_64 another() { return std::mt19937_64(generator_()); }
    /// The same, for thread number `index`: may be asked from that thread.
    std::mt19937_64 for_thread(unsigned index) const { return std::mt19937_64(seed_ + index); }

private:
    static std::uint64_t chosen_seed() {
        const char* const given = std::getenv("EDDY_SEED");
        return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    }

    std::uint64_t seed_;
    std::mt19937_64 generator_;
    ::testing::ScopedTrace trace_;
};

/// `amount`, times EDDY_TEST_SCALE.
inline std::size_t scaled(std::size_t amount) {
    const char* const given = std::getenv("EDDY_TEST_SCALE");
    const std::size_t scale = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
    return amount * (scale != 0 ? scale : 1);
}

}  // namespace eddy::test
