#include <eddy/watch/detail/attached_fd.hpp>

#include <string>
#include <system_error>

namespace eddy::detail {

attached_fd::attached_fd(loop& home, unique_fd fd, const char* name)
    : descriptor_(home, std::move(fd), {.name = name, .nonblocking = true}) {}

attached_fd::attached_fd(loop& home, int fd, const char* name) : borrowed_(true) {
    unique_fd lent(fd);
    if (auto error =
            descriptor::attach(home, lent, descriptor_, {.name = name, .nonblocking = true})) {
        static_cast<void>(lent.release());
        const char* const advice = error == std::errc::file_exists
                                       ? " twice (bidi_watch is for both directions of one fd)"
                                       : "";
        throw std::system_error(error, "cannot watch fd " + std::to_string(fd) + advice);
    }
}

void attached_fd::detach() noexcept {
    if (borrowed_ && descriptor_) {
        unique_fd back;
        // Fails if others have closed it: then there is nothing to give back.
        static_cast<void>(descriptor_.release(back));
        static_cast<void>(back.release());
    }
    descriptor_.close();
}

}  // namespace eddy::detail
