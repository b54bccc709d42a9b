// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace eddy {

/// Notifies its owner that the loop is being destroyed (loop::tell_of_end()) or runs again
/// (loop::tell_of_next_run()).
///
/// The callback is called once per registration, on the thread that runs or destroys the loop. It
/// must not throw, and may destroy this notice and others.
class loop_notice {
public:
    using callback = void (*)(loop_notice&) noexcept;

    /// `on_lost` is called in place of `on_notice` if the loop is destroyed in the child after
    /// fork(), where operations can only be forgotten, not started or cancelled.
    explicit loop_notice(callback on_notice, callback on_lost = nullptr) noexcept
        : on_notice_(on_notice), on_lost_(on_lost) {}
    loop_notice(const loop_notice&) = delete;
    loop_notice& operator=(const loop_notice&) = delete;
    /// Takes the notice back. Thread: the loop's.
    ~loop_notice() { take_back(); }
    /// Takes the notice back: its callback will not be called. Thread: the loop's.
    void take_back() noexcept {
        if (link_ == nullptr) {
            return;
        }
        *link_ = next_;
        if (next_ != nullptr) {
            next_->link_ = link_;
        }
        link_ = nullptr;
    }

private:
    callback on_notice_;
    callback on_lost_;
    loop_notice* next_ = nullptr;
    loop_notice** link_ = nullptr;  ///< the pointer that points here; null: not registered

    friend class loop;
};

}  // namespace eddy
