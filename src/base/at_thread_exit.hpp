#pragma once

#include <cerrno>

#include <pthread.h>

namespace eddy {

/// Calls `act` at the end of each thread that was armed, and at the end of the program on the
/// thread that ends it. A thread_local object with a destructor would do the same, but the C
/// library aborts the program when it has no memory to remember that object.
///
/// Lifetime: that of the program, or of the library.
class at_thread_exit {
public:
    explicit at_thread_exit(void (*act)() noexcept) noexcept
        : act_(act), error_(::pthread_key_create(&key_, &run)) {}
    ~at_thread_exit() {
        act_();
        if (error_ == 0) {
            ::pthread_key_delete(key_);
        }
    }
    at_thread_exit(const at_thread_exit&) = delete;
    at_thread_exit& operator=(const at_thread_exit&) = delete;

    /// For the calling thread. False: there is no memory, or no key; nothing will be called.
    bool arm() noexcept { return error_ == 0 && ::pthread_setspecific(key_, this) != ENOMEM; }

private:
    static void run(void* self) noexcept { static_cast<at_thread_exit*>(self)->act_(); }

    void (*act_)() noexcept;
    pthread_key_t key_{};
    int error_;
};

}  // namespace eddy
