// SPDX-License-Identifier: Apache-2.0

// Waits for the events of children at a child_source.
#include <eddy/watch/children_watch.hpp>

#include <eddy/base/error.hpp>

namespace eddy {

children_watch::children_watch(child_source& source, callback on_event, removed_callback on_removed,
                               const watch_options& options)
    : source_watch(source.home(), options),
      source_(source),
      on_event_(on_event),
      on_removed_(on_removed) {
    if (options.armed) {
        arm();
    }
}

children_watch::children_watch(child_source& source, const process_handle& process,
                               callback on_event, removed_callback on_removed,
                               const watch_options& options)
    : source_watch(source.home(), options),
      source_(source),
      process_(process.share()),
      of_one_(true),
      on_event_(on_event),
      on_removed_(on_removed) {
    if (!process.is_child()) {
        throw std::system_error(process ? make_error_code(errc::process_not_child)
                                        : std::make_error_code(std::errc::bad_file_descriptor),
                                "cannot watch the stops of a process");
    }
    wait().follow(process);
    if (options.armed) {
        arm();
    }
}

children_watch::~children_watch() {
    leave();
    stop();
}

std::error_code children_watch::wait_for_next(child_wait& w) noexcept {
    if (!of_one_) {
        return source_.wait_any(w);
    }
    return ended_ ? std::make_error_code(std::errc::no_such_process)
                  : source_.wait_change(w, process_);
}

reaction children_watch::call() noexcept {
    const child_event event = wait().event();  // a copy: the callback may destroy the watch
    ended_ = event.what == child_change::ended;
    return on_event_(*this, event);
}

void children_watch::removed() noexcept {
    process_.close();
    if (on_removed_ != nullptr) {
        on_removed_(*this);
    }
}

}  // namespace eddy
