// Someone who waits for a primitive (a permit of a semaphore), while others release it, stop the wait
// and destroy the primitive: detail::waiter, wait_list, wait_core (include/eddy/async/detail/waiter.hpp,
// src/async) and wait_operation (include/eddy/async/detail/wait_sender.hpp).
//
// The waiter belongs to a loop. It first tries to get the permit, then registers the callback for
// stops, then enters the list. Whoever decides about it, under the lock of the primitive, posts it to
// the loop before it lets go of the lock; the completion takes the lock once, waits until no stop
// callback runs, and then the operation is gone, and with it the primitive. Thread A releases a
// permit, thread B requests a stop.
//
// Instead of completing it may be destroyed on its loop at any time: then it leaves the
// list or the loop's queue, and gives back what it was granted.
//
// Shown:
//   - it completes once, or is destroyed and never completes;
//   - the permit is delivered or is still there: a stop never swallows it;
//   - nobody touches the operation after its end, nor the primitive after that was destroyed.

#define IDLE 0
#define WAITING 1
#define GRANTED 2
#define STOPPED 3

byte permits = 0;
byte state = IDLE;                     // waiter::state_, under the lock
bool in_list = false;
bool lock_held = false;                // wait_core::mutex_
bool posted = false;                   // in the inbox or the ready queue of the loop
bool stop_requested = false;
bool callback_registered = false;      // on_stop_
bool callback_running = false;

// What only the properties need.
bool operation_gone = false;
bool primitive_gone = false;
byte completions = 0;
bool delivered = false;                // the permit came with the completion
bool destroyed = false;
bool a_done = false;
bool b_done = false;

#define LOCK atomic { !lock_held -> assert(!primitive_gone); lock_held = true }
#define UNLOCK d_step { assert(!primitive_gone && lock_held); lock_held = false }
#define TOUCH assert(!operation_gone)

// wait_list::settle(), under the lock.
inline settle(how) {
    d_step { TOUCH; assert(lock_held && in_list && state == WAITING); in_list = false; state = how };
#ifndef POST_AFTER_UNLOCK
    d_step { TOUCH; assert(!posted); posted = true };
#endif
}

// semaphore_core::release(1).
active proctype thread_a() {
    LOCK;
    permits++;
    if
    ::  in_list ->
        permits--;
        settle(GRANTED);
        UNLOCK;
#ifdef POST_AFTER_UNLOCK
        d_step { TOUCH; assert(!posted); posted = true }
#endif
    ::  else -> UNLOCK
    fi;
    a_done = true
}

// inplace_stop_source::request_stop() and wait_operation::request.
active proctype thread_b() {
    atomic {
        stop_requested = true;
        if
        ::  callback_registered -> callback_registered = false; callback_running = true
        ::  else -> goto done
        fi
    };
    LOCK;
    d_step {
        TOUCH;
        if
        ::  state == IDLE -> state = STOPPED
        ::  else
        fi
    };
    if
    ::  state == WAITING ->
        settle(STOPPED);
        UNLOCK;
#ifdef POST_AFTER_UNLOCK
        d_step { TOUCH; assert(!posted); posted = true }
#endif
    ::  else -> UNLOCK
    fi;
    callback_running = false;
done:
    b_done = true
}

// on_stop_.reset(): returns when the callback does not run any more.
inline deregister() {
    callback_registered = false;
    !callback_running
}

// wait_operation::complete().
inline complete() {
    deregister();
    d_step {
        TOUCH;
        completions++;
        delivered = state == GRANTED;
        operation_gone = true
    }
}

active proctype event_loop() {
    // enter(node, false)
    LOCK;
    if
    ::  permits > 0 -> permits--; state = GRANTED; UNLOCK; complete(); goto ended
    ::  else -> UNLOCK
    fi;
    // on_stop_.emplace(): the callback may be called inside
    if
    ::  atomic { !stop_requested -> callback_registered = true }
    ::  atomic { stop_requested -> state = STOPPED }
    fi;
    // enter(node, true)
    LOCK;
    if
    ::  state == STOPPED -> UNLOCK; complete(); goto ended
    ::  else ->
        if
        ::  permits > 0 -> permits--; state = GRANTED; UNLOCK; complete(); goto ended
        ::  else -> d_step { state = WAITING; in_list = true }; UNLOCK
        fi
    fi;
    if
    ::  posted ->                      // the loop takes the entry
        posted = false;
#ifndef LEAVE_AT_ONCE
        LOCK; UNLOCK;                  // wait_core::leave()
#endif
        complete()
    ::  true ->                        // ~wait_operation(), on the loop's thread
        deregister();
        LOCK;
        if
        ::  state == WAITING -> in_list = false
        ::  else ->                    // wait_list::take_back(): loop::disarm()
            d_step { assert(posted); posted = false };
#ifndef SWALLOW
            if
            ::  state == GRANTED -> permits++
            ::  else
            fi
#endif
        fi;
        UNLOCK;
        d_step { destroyed = true; operation_gone = true }
    fi;
ended:
    // A waiter that was granted the permit is the last who uses the primitive, and destroys it.
    if
    ::  delivered -> d_step { assert(!lock_held); primitive_gone = true }
    ::  else
    fi;
    a_done && b_done;
    assert(!posted && !in_list && completions + destroyed == 1);
    assert(permits + delivered == 1)
}
