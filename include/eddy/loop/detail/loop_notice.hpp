// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace eddy {

/// Tells its owner what becomes of the loop on which he lives: that it is being destroyed, see
/// loop::tell_of_end(); or that it runs again, see loop::tell_of_next_run().
///
/// The callback is called once for each time that the loop was asked, on the thread that runs or
/// destroys it. It must not throw, and may destroy this and other notices.
class loop_notice {
public:
    using callback = void (*)(loop_notice&) noexcept;

    /// `on_lost` instead, if the loop is destroyed in the child after fork(): there nothing can be
    /// started or cancelled any more, only let go.
    explicit loop_notice(callback on_notice, callback on_lost = nullptr) noexcept
        : on_notice_(on_notice), on_lost_(on_lost) {}
    loop_notice(const loop_notice&) = delete;
    loop_notice& operator=(const loop_notice&) = delete;
    /// Takes it back. Thread: the loop's.
    ~loop_notice() { take_back(); }
    /// The same, without destroying it.
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
    loop_notice** link_ = nullptr;  ///< what points here; null: the loop does not know it

    friend class loop;
};

}  // namespace eddy
