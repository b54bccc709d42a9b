// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/engine/detail/fd_slot.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace eddy {

/// The slots of a loop, by fd number. A slot keeps its address. Memory is taken in small pieces,
/// only for numbers in use.
class fd_table {
public:
    /// Returns the slot of a number, and makes it if necessary. Null: no memory.
    fd_slot* make(int fd) noexcept try {
        const auto [chunk, index] = locate(fd);
        if (chunk >= chunks_.size()) {
            chunks_.resize(chunk + 1);
        }
        if (chunks_[chunk] == nullptr) {
            chunks_[chunk] = std::make_unique<chunk_slots>();
        }
        return &(*chunks_[chunk])[index];
    } catch (const std::bad_alloc&) {
        return nullptr;
    }

    /// Returns the slot of a number. Null: nothing was ever attached there.
    fd_slot* find(int fd) noexcept {
        const auto [chunk, index] = locate(fd);
        return chunk < chunks_.size() && chunks_[chunk] != nullptr ? &(*chunks_[chunk])[index]
                                                                   : nullptr;
    }

    /// Calls `visit(fd_slot&)` for each attached slot.
    template <class Visitor>
    void for_each(Visitor&& visit) {
        for (auto& chunk : chunks_) {
            if (chunk == nullptr) {
                continue;
            }
            for (fd_slot& slot : *chunk) {
                if (slot.fd >= 0) {
                    visit(slot);
                }
            }
        }
    }

private:
    static constexpr std::size_t chunk_size = 64;
    using chunk_slots = std::array<fd_slot, chunk_size>;

    struct location {
        std::size_t chunk;
        std::size_t index;
    };
    static location locate(int fd) noexcept {
        const auto number = static_cast<std::size_t>(fd);
        return {number / chunk_size, number % chunk_size};
    }

    std::vector<std::unique_ptr<chunk_slots>> chunks_;
};

}  // namespace eddy
