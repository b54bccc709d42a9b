#include <eddy/intrusive/timer_heap.hpp>

#include <algorithm>
#include <new>

namespace eddy {

bool timer_heap::grow(std::size_t wanted) noexcept {
    const std::lock_guard lock(spare_mutex_);
    const std::size_t promised = promised_.load(std::memory_order_relaxed);
    if (wanted <= promised) {
        return true;  // another thread was faster
    }
    if (wanted > timer_node::absent) {
        return false;
    }
    const std::size_t size = std::max<std::size_t>({wanted, promised * 2, 16});
    std::unique_ptr<item[]> array(new (std::nothrow) item[size]);
    if (array == nullptr) {
        return false;
    }
    spare_ = std::move(array);
    spare_capacity_ = size;
    // release: pairs with reserve(). Only the number travels here; the array goes by the mutex.
    promised_.store(size, std::memory_order_release);
    return true;
}

void timer_heap::adopt_spare() noexcept {
    const std::lock_guard lock(spare_mutex_);
    EDDY_ASSERT(spare_ != nullptr, "a timer was set for which no room was reserved");
    std::copy_n(items_.get(), size_, spare_.get());
    items_ = std::move(spare_);
    capacity_ = spare_capacity_;
}

}  // namespace eddy
