// SPDX-License-Identifier: Apache-2.0

// Shares the counters with the child that counts into them.
#include "measure/heap_counter.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>

#include "measure/subject.hpp"

namespace bench {

heap_counter::heap_counter() : memory_(::memfd_create("heap counters", MFD_CLOEXEC)) {
    constexpr std::size_t size = sizeof(heap_counters);
    if (!memory_ || ::ftruncate(memory_.get(), size) != 0) {
        throw std::runtime_error("memfd_create failed");
    }
    void* p = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0);
    if (p == MAP_FAILED) throw std::runtime_error("mmap failed");
    shared_ = static_cast<heap_counters*>(p);
}

heap_counter::~heap_counter() { ::munmap(shared_, sizeof *shared_); }

command heap_counter::preload() const {
    command c;
    c.inherited_fd = memory_.get();
    c.environment = {{"LD_PRELOAD", program_folder() + "libbench_count_heap.so"},
                     {counters_variable, std::to_string(memory_.get())}};
    return c;
}

}  // namespace bench
