// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/os/child_source.hpp>
#include <eddy/watch/detail/source_watch.hpp>

namespace eddy {

/// Calls back with what a child_source tells: the end of each child that nobody watches, or the
/// stops and continuations of one child and then its end.
///
///     child_source children(loop);
///     children_watch all(children, &on_child);
///
/// A child is reaped right before its call: while the watch is disarmed, nobody is reaped for it.
///
/// Reactions: `rearm` and `again` are the same; `requeue` calls it again with the same event; the
/// others as with every watch. After the end of its one child it is disarmed. Watches of one child
/// take nothing away from each other; of several changes that came before it is called, as while it
/// was disarmed, it is told the last.
///
/// Thread: the loop's, except what watch marks "any". Lifetime: the source must live until
/// on_removed; if it does not, the watch is disarmed.
class EDDY_API children_watch : public detail::source_watch<child_wait> {
public:
    using callback = reaction (*)(children_watch&, const child_event&) noexcept;
    using removed_callback = void (*)(children_watch&) noexcept;

    /// Of all children that nobody watches.
    children_watch(child_source& source, callback on_event, removed_callback on_removed = nullptr,
                   const watch_options& options = {});
    /// Of one. Throws std::system_error: errc::process_not_child, `bad_file_descriptor` if the
    /// handle is empty.
    children_watch(child_source& source, const process_handle& process, callback on_event,
                   removed_callback on_removed = nullptr, const watch_options& options = {});
    ~children_watch() override;

private:
    std::error_code wait_for_next(child_wait& w) noexcept final;
    reaction call() noexcept final;
    void removed() noexcept final;

    child_source& source_;
    process_handle process_;  ///< empty: all
    bool of_one_ = false;
    bool ended_ = false;  ///< the one that it is about
    callback on_event_;
    removed_callback on_removed_;
};

}  // namespace eddy
