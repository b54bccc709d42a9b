// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>
#include <eddy/intrusive/operation.hpp>

#include <system_error>
#include <utility>

namespace eddy::detail {

template <class Wait>
class source_waits;

/// The common part of waits that a source keeps in a list. The user owns a wait. The source reads
/// the event that it waits for right before its completion is called.
template <class Wait, class Source>
class source_wait {
public:
    using callback = void (*)(Wait&) noexcept;
    using question = bool (*)(const Wait&) noexcept;

    source_wait(const source_wait&) = delete;
    source_wait& operator=(const source_wait&) = delete;

    /// Sets the priority of the completion. While anything more urgent is ready, nothing is read
    /// for this wait. A pending wait moves behind those of its new priority.
    void set_priority(priority_level priority) noexcept {
        EDDY_ASSERT(priority < priority_count, "a priority is 0 to 63");
        if (!pending()) {
            priority_ = priority;
        } else if (priority != priority_) {
            list_->move(static_cast<Wait&>(*this), priority);
            static_cast<Wait&>(*this).moved();
        }
    }
    priority_level priority() const noexcept { return priority_; }
    bool pending() const noexcept { return list_ != nullptr; }

    /// Valid in the completion: `operation_canceled` if the source no longer provides the event, or
    /// if the loop ends.
    std::error_code error() const noexcept { return error_; }
    /// Valid in the completion: true if the loop ends or drains.
    bool loop_ends() const noexcept { return loop_ends_; }

protected:
    source_wait(callback on_complete, question wanted) noexcept
        : on_complete_(on_complete), wanted_(wanted) {}
    ~source_wait() = default;

    bool is_wanted() const noexcept {
        return wanted_ == nullptr || wanted_(static_cast<const Wait&>(*this));
    }
    void complete(std::error_code error, bool loop_ends) noexcept {
        error_ = error;
        loop_ends_ = loop_ends;
        on_complete_(static_cast<Wait&>(*this));
    }

    Source* source_ = nullptr;

private:
    callback on_complete_;
    question wanted_;
    source_waits<Wait>* list_ = nullptr;
    Wait* next_ = nullptr;
    Wait* previous_ = nullptr;
    std::error_code error_;
    priority_level priority_ = default_priority;
    bool loop_ends_ = false;

    friend class source_waits<Wait>;
    friend Source;
    friend Wait;
};

/// A list of waits, most urgent first; first come, first served within a priority.
template <class Wait>
class source_waits {
public:
    Wait* front() const noexcept { return first_; }
    static Wait* next(const Wait& w) noexcept { return w.next_; }

    void insert(Wait& w) noexcept {
        Wait* after = last_;
        while (after != nullptr && after->priority_ > w.priority_) {
            after = after->previous_;
        }
        Wait*& link = after != nullptr ? after->next_ : first_;
        w.previous_ = after;
        w.next_ = std::exchange(link, &w);
        (w.next_ != nullptr ? w.next_->previous_ : last_) = &w;
        w.list_ = this;
    }
    void move(Wait& w, priority_level priority) noexcept {
        erase(w);
        w.priority_ = priority;
        insert(w);
    }
    static void erase(Wait& w) noexcept {
        source_waits& list = *w.list_;
        (w.previous_ != nullptr ? w.previous_->next_ : list.first_) = w.next_;
        (w.next_ != nullptr ? w.next_->previous_ : list.last_) = w.previous_;
        w.list_ = nullptr;
    }

private:
    Wait* first_ = nullptr;
    Wait* last_ = nullptr;
};

}  // namespace eddy::detail
