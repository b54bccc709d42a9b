// SPDX-License-Identifier: Apache-2.0

// Records who owns each signal of the process.
#include "os/signals/signal_owners.hpp"

#include <array>
#include <atomic>
#include <cstddef>

namespace eddy::detail {

namespace {

std::array<std::atomic<const void*>, 64> owners;

std::atomic<const void*>& owner_of_signal(int signum) noexcept {
    return owners[static_cast<std::size_t>(signum - 1)];
}

}  // namespace

bool claim_signal(int signum, const void* owner) noexcept {
    const void* nobody = nullptr;
    // acquire: pairs with release_signal(): the signalfd of the previous owner is closed.
    return owner_of_signal(signum).compare_exchange_strong(nobody, owner,
                                                           std::memory_order_acquire);
}

void release_signal(int signum) noexcept {
    owner_of_signal(signum).store(nullptr, std::memory_order_release);
}

}  // namespace eddy::detail
