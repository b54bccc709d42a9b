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
    constexpr std::size_t most = timer_node::absent - root;
    if (wanted > most) {
        return false;
    }
    const std::size_t size = std::min(std::max<std::size_t>({wanted, promised * 2, 16}), most);
    const std::size_t end = root + size;
    auto* const array =
        static_cast<item*>(::operator new(end * sizeof(item), alignment, std::nothrow));
    if (array == nullptr) {
        return false;
    }
    // Here, or the kernel would give the pages one by one, whenever insert() comes to the next.
    std::uninitialized_value_construct_n(array, end);
    spare_.reset(array);
    spare_end_ = end;
    // release: pairs with reserve(). Only the number travels here; the array goes by the mutex.
    promised_.store(size, std::memory_order_release);
    return true;
}

void timer_heap::adopt_spare() noexcept {
    const std::lock_guard lock(spare_mutex_);
    EDDY_ASSERT(spare_ != nullptr, "a timer was set for which no room was reserved");
    if (!empty()) {  // else there may be no array yet, and nothing may be added to its address
        std::copy(items_.get() + root, items_.get() + end_, spare_.get() + root);
    }
    items_ = std::move(spare_);
    array_end_ = spare_end_;
}

}  // namespace eddy
