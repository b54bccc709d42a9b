// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/sender/source_wait_sender.hpp>
#include <eddy/io/process.hpp>
#include <eddy/os/child_source.hpp>

#include <memory>
#include <system_error>

namespace eddy::detail {

/// The wait of a source_wait_sender for the end of any child.
struct any_child {
    using wait = child_wait;
    using value = child_event;

    loop& home() const noexcept { return source->home(); }
    std::error_code start(child_wait& w) const noexcept { return source->wait_any(w); }
    static const child_event& result(const child_wait& w) noexcept { return w.event(); }

    child_source* source;
};

/// The wait of a source_wait_sender for a change of one child.
struct state_change {
    using wait = child_wait;
    using value = child_event;

    loop& home() const noexcept { return source->home(); }
    std::error_code start(child_wait& w) const noexcept { return source->wait_change(w, process); }
    static const child_event& result(const child_wait& w) noexcept { return w.event(); }

    child_source* source;
    std::shared_ptr<process_state> process;
};

}  // namespace eddy::detail

namespace eddy {
EDDY_EX_BEGIN

/// Waits for the end of one child that nobody watches. Value: a child_event. Completes on the loop
/// of `source`, wherever it is started; stopped if a stop was requested or the loop ends. From the
/// stop request on it reaps no child. In all other respects child_source::wait_any() applies.
/// Lifetime: `source` must live until completion.
inline detail::source_wait_sender<detail::any_child> wait_any_child(
    child_source& source, priority_level priority = default_priority) noexcept {
    return {{&source}, priority};
}

/// Waits for the next stop, continuation or end of a child. Value: a child_event. Errors are those
/// of child_source::wait_change(); in all other respects wait_any_child() applies.
///
///     child_event event = co_await timeout(wait_state_change(children, job), 5s);
inline detail::source_wait_sender<detail::state_change> wait_state_change(
    child_source& source, process& child, priority_level priority = default_priority) noexcept {
    return {{&source, child.handle().state()}, priority};
}

EDDY_EX_END
}  // namespace eddy
