// SPDX-License-Identifier: Apache-2.0

// Shares one attached fd between a reading and a writing half.
#include <eddy/watch/bidi_watch.hpp>

#include <utility>

namespace eddy {

bidi_watch::half::half(bidi_watch& whole, interest direction, bidi_watch::callback called,
                       const watch_options& how)
    : fd_watch(
          whole.own_.get(), direction,
          [](fd_watch& w) noexcept {
              auto& self = static_cast<half&>(w);
              return self.function(self.both, w);
          },
          [](fd_watch& w) noexcept { static_cast<half&>(w).both.half_removed(); }, how),
      both(whole),
      function(called) {}

bidi_watch::bidi_watch(loop& home, unique_fd fd, callback on_readable, callback on_writable,
                       removed_callback on_removed, const options& how)
    : bidi_watch(detail::attached_fd(home, std::move(fd), how.in.name), on_readable, on_writable,
                 on_removed, how) {}

bidi_watch::bidi_watch(loop& home, int fd, callback on_readable, callback on_writable,
                       removed_callback on_removed, const options& how)
    : bidi_watch(detail::attached_fd(home, fd, how.in.name), on_readable, on_writable, on_removed,
                 how) {}

bidi_watch::bidi_watch(detail::attached_fd own, callback on_readable, callback on_writable,
                       removed_callback on_removed, const options& how)
    : own_(std::move(own)),
      on_removed_(on_removed),
      in_(*this, interest::readable, on_readable, how.in),
      out_(*this, interest::writable, on_writable, how.out) {}

void bidi_watch::remove() noexcept {
    in_.remove();
    out_.remove();
}

void bidi_watch::half_removed() noexcept {
    if (--halves_ != 0) {
        return;
    }
    own_.detach();
    if (on_removed_ != nullptr) {
        on_removed_(*this);
    }
}

}  // namespace eddy
