#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace eddy::test {

/// Random numbers for one test. The seed is told when the test fails, and can be given in
/// EDDY_SEED.
class seeded {
public:
    seeded() : seed_(choose()), trace_(__FILE__, __LINE__, "EDDY_SEED=" + std::to_string(seed_)) {}

    /// A generator of its own for thread number `index`.
    std::mt19937_64 generator(unsigned index = 0) const { return std::mt19937_64(seed_ + index); }

private:
    static std::uint64_t choose() {
        const char* const given = std::getenv("EDDY_SEED");
        return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    }

    std::uint64_t seed_;
    ::testing::ScopedTrace trace_;
};

}  // namespace eddy::test
