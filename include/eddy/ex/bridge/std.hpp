// SPDX-License-Identifier: Apache-2.0

// The standard library's vocabulary under the name eddy::ex. The draft puts stop tokens and their
// queries in std, sync_wait in std::this_thread, and all else in std::execution.
#pragma once

#if defined(EDDY_EXECUTION_STD)

#include <concepts>
#include <coroutine>
#include <execution>
#include <memory>
#include <stop_token>

namespace eddy::ex {

// Concepts and their tags.
using std::execution::operation_state;
using std::execution::operation_state_tag;
using std::execution::receiver;
using std::execution::receiver_of;
using std::execution::receiver_tag;
using std::execution::scheduler;
using std::execution::scheduler_tag;
using std::execution::scope_association;
using std::execution::scope_token;
using std::execution::sender;
using std::execution::sender_in;
using std::execution::sender_tag;
using std::execution::sender_to;

template <class T>
concept queryable = std::destructible<T>;

// The basic operations.
using std::execution::connect;
using std::execution::connect_result_t;
using std::execution::connect_t;
using std::execution::schedule;
using std::execution::schedule_result_t;
using std::execution::schedule_t;
using std::execution::set_error;
using std::execution::set_error_t;
using std::execution::set_stopped;
using std::execution::set_stopped_t;
using std::execution::set_value;
using std::execution::set_value_t;
using std::execution::start;
using std::execution::start_t;

// Completion signatures.
using std::execution::completion_signatures;
using std::execution::completion_signatures_of_t;
using std::execution::dependent_sender_error;
using std::execution::error_types_of_t;
using std::execution::get_completion_signatures;
using std::execution::sends_stopped;
using std::execution::value_types_of_t;

// Environments and queries.
using std::forwarding_query;
using std::forwarding_query_t;
using std::get_allocator;
using std::get_allocator_t;
using std::get_stop_token;
using std::get_stop_token_t;
using std::execution::env;
using std::execution::env_of_t;
using std::execution::forward_progress_guarantee;
using std::execution::get_completion_scheduler;
using std::execution::get_completion_scheduler_t;
using std::execution::get_delegation_scheduler;
using std::execution::get_delegation_scheduler_t;
using std::execution::get_env;
using std::execution::get_env_t;
using std::execution::get_forward_progress_guarantee;
using std::execution::get_forward_progress_guarantee_t;
using std::execution::get_scheduler;
using std::execution::get_scheduler_t;
using std::execution::get_start_scheduler;
using std::execution::get_start_scheduler_t;
using std::execution::prop;

// Stop tokens.
using std::inplace_stop_callback;
using std::inplace_stop_source;
using std::inplace_stop_token;
using std::never_stop_token;
using std::stop_callback_for_t;
using std::stop_token_of_t;
using std::stoppable_token;
using std::unstoppable_token;

// Senders and sender adaptors.
using std::execution::associate;
using std::execution::bulk;
using std::execution::bulk_chunked;
using std::execution::bulk_chunked_t;
using std::execution::bulk_t;
using std::execution::bulk_unchunked;
using std::execution::bulk_unchunked_t;
using std::execution::continues_on;
using std::execution::into_variant;
using std::execution::just;
using std::execution::just_error;
using std::execution::just_stopped;
using std::execution::let_error;
using std::execution::let_stopped;
using std::execution::let_value;
using std::execution::on;
using std::execution::read_env;
using std::execution::schedule_from;
using std::execution::sender_adaptor_closure;
using std::execution::spawn;
using std::execution::spawn_future;
using std::execution::starts_on;
using std::execution::stopped_as_error;
using std::execution::stopped_as_optional;
using std::execution::then;
using std::execution::unstoppable;
using std::execution::upon_error;
using std::execution::upon_stopped;
using std::execution::when_all;
using std::execution::when_all_with_variant;
using std::execution::write_env;
using std::this_thread::sync_wait;
using std::this_thread::sync_wait_with_variant;

// Schedulers and scopes.
using std::execution::counting_scope;
using std::execution::inline_scheduler;
using std::execution::run_loop;
using std::execution::simple_counting_scope;

// Coroutines.
using std::execution::as_awaitable;
using std::execution::as_awaitable_t;
using std::execution::with_awaitable_senders;

/// promise.continuation() as a plain handle: see <eddy/ex/with_awaitable_senders.hpp>.
template <class Promise>
std::coroutine_handle<> continuation_handle(
    const with_awaitable_senders<Promise>& promise) noexcept {
    return promise.continuation();
}

}  // namespace eddy::ex

#endif
