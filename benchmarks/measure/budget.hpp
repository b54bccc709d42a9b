// SPDX-License-Identifier: Apache-2.0

// How long the parts of a run may take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bench {

/// How long a part of a run may take. Its cases share that: one that is quick leaves its rest to
/// the next, and one whose time is over does with the rounds that it has. What the parts before
/// took too much the later ones lack.
class budget {
public:
    budget() = default;
    /// `used_ns`: since the run began. Precondition: the part is in the table.
    budget(std::string_view part, std::size_t cases, bool quick, std::int64_t used_ns);

    void begin_case() noexcept { ++begun_; }
    /// A median of fewer rounds than these says nothing about the noise.
    bool over(unsigned rounds_done) const noexcept;
    /// For what has no rounds: throws std::runtime_error if the whole part's time is over.
    void need_some() const;

private:
    std::int64_t begin_ns_ = 0;
    std::int64_t length_ns_ = 0;
    std::size_t cases_ = 1;
    std::size_t begun_ = 0;
    unsigned rounds_min_ = 1;
};

}  // namespace bench
