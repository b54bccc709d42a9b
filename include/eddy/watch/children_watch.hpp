// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/os/child_source.hpp>
#include <eddy/watch/detail/source_watch.hpp>

namespace eddy {

/// Calls back with the events of a child_source: the end of each child that nobody watches, or the
/// stops and continuations of one child and then its end.
///
///     child_source children(loop);
///     children_watch all(children, &on_child);
///
/// A child is reaped right before the callback; a disarmed watch reaps no child.
///
/// Reactions: `rearm` and `again` mean the same; `requeue` repeats the call with the same event;
/// the others are as usual. A watch of one child is disarmed after the end of that child. Watches
/// of one child take nothing away from each other. If several changes come before the callback, for
/// example while the watch is disarmed, only the last is reported.
///
/// Thread: the loop's, except what watch marks "any". Lifetime: the source must live until
/// on_removed; if it does not, the watch is disarmed.
class EDDY_API children_watch : public detail::source_watch<child_wait> {
public:
    using callback = reaction (*)(children_watch&, const child_event&) noexcept;
    using removed_callback = void (*)(children_watch&) noexcept;

    /// Watches all children that nobody else watches.
    children_watch(child_source& source, callback on_event, removed_callback on_removed = nullptr,
                   const watch_options& options = {});
    /// Watches one child. Throws std::system_error: errc::process_not_child, or
    /// `bad_file_descriptor` if the handle is empty.
    children_watch(child_source& source, const process_handle& process, callback on_event,
                   removed_callback on_removed = nullptr, const watch_options& options = {});
    ~children_watch() override;

private:
    std::error_code wait_for_next(child_wait& w) noexcept final;
    reaction call() noexcept final;
    void removed() noexcept final;

    child_source& source_;
    process_handle process_;  ///< empty if all children are watched
    bool of_one_ = false;
    bool ended_ = false;  ///< the one child has ended
    callback on_event_;
    removed_callback on_removed_;
};

}  // namespace eddy
