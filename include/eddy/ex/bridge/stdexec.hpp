// SPDX-License-Identifier: Apache-2.0

// The vocabulary of NVIDIA/stdexec, which has one namespace for the draft's three, as eddy::ex.
#pragma once

#if defined(EDDY_EXECUTION_STDEXEC)

#include <stdexec/execution.hpp>

#include <concepts>
#include <coroutine>

namespace eddy::ex {

// Concepts and their tags.
using stdexec::operation_state;
using stdexec::operation_state_tag;
using stdexec::receiver;
using stdexec::receiver_of;
using stdexec::receiver_tag;
using stdexec::scheduler;
using stdexec::scheduler_tag;
using stdexec::scope_association;
using stdexec::scope_token;
using stdexec::sender;
using stdexec::sender_in;
using stdexec::sender_tag;
using stdexec::sender_to;

template <class T>
concept queryable = std::destructible<T>;

// The basic operations.
using stdexec::connect;
using stdexec::connect_result_t;
using stdexec::connect_t;
using stdexec::schedule;
using stdexec::schedule_result_t;
using stdexec::schedule_t;
using stdexec::set_error;
using stdexec::set_error_t;
using stdexec::set_stopped;
using stdexec::set_stopped_t;
using stdexec::set_value;
using stdexec::set_value_t;
using stdexec::start;
using stdexec::start_t;

// Completion signatures.
using stdexec::completion_signatures;
using stdexec::completion_signatures_of_t;
using stdexec::dependent_sender_error;
using stdexec::error_types_of_t;
using stdexec::get_completion_signatures;
using stdexec::sends_stopped;
using stdexec::value_types_of_t;

// Environments and queries.
using stdexec::env;
using stdexec::env_of_t;
using stdexec::forward_progress_guarantee;
using stdexec::forwarding_query;
using stdexec::forwarding_query_t;
using stdexec::get_allocator;
using stdexec::get_allocator_t;
using stdexec::get_completion_scheduler;
using stdexec::get_completion_scheduler_t;
using stdexec::get_delegation_scheduler;
using stdexec::get_delegation_scheduler_t;
using stdexec::get_env;
using stdexec::get_env_t;
using stdexec::get_forward_progress_guarantee;
using stdexec::get_forward_progress_guarantee_t;
using stdexec::get_scheduler;
using stdexec::get_scheduler_t;
using stdexec::get_start_scheduler;
using stdexec::get_start_scheduler_t;
using stdexec::get_stop_token;
using stdexec::get_stop_token_t;
using stdexec::prop;

// Stop tokens.
using stdexec::inplace_stop_callback;
using stdexec::inplace_stop_source;
using stdexec::inplace_stop_token;
using stdexec::never_stop_token;
using stdexec::stop_callback_for_t;
using stdexec::stop_token_of_t;
using stdexec::stoppable_token;
using stdexec::unstoppable_token;

// Senders and sender adaptors.
using stdexec::associate;
using stdexec::bulk;
using stdexec::bulk_chunked;
using stdexec::bulk_chunked_t;
using stdexec::bulk_t;
using stdexec::bulk_unchunked;
using stdexec::bulk_unchunked_t;
using stdexec::continues_on;
using stdexec::into_variant;
using stdexec::just;
using stdexec::just_error;
using stdexec::just_stopped;
using stdexec::let_error;
using stdexec::let_stopped;
using stdexec::let_value;
using stdexec::on;
using stdexec::read_env;
using stdexec::schedule_from;
using stdexec::sender_adaptor_closure;
using stdexec::spawn;
using stdexec::spawn_future;
using stdexec::starts_on;
using stdexec::stopped_as_error;
using stdexec::stopped_as_optional;
using stdexec::sync_wait;
using stdexec::sync_wait_with_variant;
using stdexec::then;
using stdexec::unstoppable;
using stdexec::upon_error;
using stdexec::upon_stopped;
using stdexec::when_all;
using stdexec::when_all_with_variant;
using stdexec::write_env;

// Schedulers and scopes.
using stdexec::counting_scope;
using stdexec::inline_scheduler;
using stdexec::run_loop;
using stdexec::simple_counting_scope;

// Coroutines.
using stdexec::as_awaitable;
using stdexec::as_awaitable_t;
using stdexec::with_awaitable_senders;

/// promise.continuation() as a plain handle: see <eddy/ex/with_awaitable_senders.hpp>.
template <class Promise>
std::coroutine_handle<> continuation_handle(
    const with_awaitable_senders<Promise>& promise) noexcept {
    return promise.continuation().handle();
}

}  // namespace eddy::ex

#endif
