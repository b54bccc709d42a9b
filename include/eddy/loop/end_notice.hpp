#pragma once

namespace eddy {

/// Tells its owner that the loop is being destroyed: for those who live on a loop and may wait for
/// what the loop knows nothing of, such as an event. See loop::tell_of_end().
///
/// The callback is called at most once, on the thread that destroys the loop, where things can
/// still complete. It must not throw, and may destroy this and other notices.
class end_notice {
public:
    using callback = void (*)(end_notice&) noexcept;

    explicit end_notice(callback on_end) noexcept : on_end_(on_end) {}
    end_notice(const end_notice&) = delete;
    end_notice& operator=(const end_notice&) = delete;
    /// Takes it back. Thread: the loop's.
    ~end_notice() { unlink(); }

private:
    void unlink() noexcept {
        if (link_ == nullptr) {
            return;
        }
        *link_ = next_;
        if (next_ != nullptr) {
            next_->link_ = link_;
        }
        link_ = nullptr;
    }

    callback on_end_;
    end_notice* next_ = nullptr;
    end_notice** link_ = nullptr;  ///< what points here; null: the loop does not know it

    friend class loop;
};

}  // namespace eddy
