// One word of a poll_handle: nothing, latched, a closure waits; and shut down, which covers all (poll_word in
// include/eddy/pollset/detail/poll_word.hpp; poll_core: notify_on, cancel, happened, end_waits, shutdown in
// src/pollset/poll_words.cpp and every_event.hpp; run_next in pollset_work.cpp).
//
// The first thread owns the descriptor: it arms a closure, waits until it was called or until a cancellation
// came, reads to the end, and arms again. The second is a worker: it harvests edges and calls what is due. The
// third cancels, makes ready, and shuts down. The peer writes. All that happens under the lock of the domain is
// one step; an edge that was harvested and not looked at yet is in the worker's hand. Arming takes the lock
// only if the word is not quiet.
//
// Shown:
//   - what is armed is called once or cancelled once, never both, and never twice;
//   - when nothing moves any more, nobody waits although there is something to read, or although it is shut down;
//   - there are not more calls than events: none is told twice;
//   - whoever arms a handle that was shut down is told so.

#define ARMINGS 3
#define NOTHING 255

byte waiting = NOTHING;                // poll_word: the arming whose closure waits
bool latched = false;
bool guarded = true;                   // poll_word::guarded_: at rest it is not quiet
bool shut_down = false;                // poll_handle::shut_down_
byte due = NOTHING;                    // poll_handle::due_: there is one owner, so at most one
bool due_error = false;                // closure::error_

bool edge = false;                     // in the kernel, not harvested
bool readable = false;                 // there is something to read

// What only the properties need.
byte calls[ARMINGS];
byte cancellations[ARMINGS];
bool told_error[ARMINGS];
byte events = 0;                       // edges and make_ready()
byte told = 0;                         // calls without an error
bool owner_waits = false;
byte arming = 0;                       // which one it is

inline make_due(c, with_error) {
    assert(due == NOTHING);
    due = c;
    due_error = with_error
}

// happened(): an edge, or make_ready().
inline happened() {
    if
    ::  waiting == NOTHING -> latched = true
    ::  else ->
        make_due(waiting, false);
        waiting = NOTHING
    fi
}

inline notify_on(c) {
    d_step {                           // poll_word::arm(), without the lock
        assert(waiting == NOTHING);
        owner_waits = true;
        if
        ::  !latched && !guarded -> waiting = c
        ::  else -> asks = true
        fi
    };
    d_step {
        if
        ::  !asks
        ::  else ->
        asks = false;
        if
        ::  shut_down -> make_due(c, true)
#ifdef FORGETS_THE_LATCH
        ::  !shut_down && latched -> latched = false; waiting = c
#else
        ::  !shut_down && latched -> latched = false; make_due(c, false)
#endif
        ::  else -> waiting = c; guarded = false
        fi
        fi
    }
}

#define OVER(c) (calls[c] + cancellations[c] > 0)

active proctype owner() {
    bool was_shut_down, asks;
    do
    ::  arming < ARMINGS ->
        d_step { was_shut_down = shut_down; skip };
        notify_on(arming);
end_waiting:
        OVER(arming);
        d_step { owner_waits = false; assert(!was_shut_down || told_error[arming]) };
        readable = false;              // reads to the end
        d_step { arming++; was_shut_down = false }
    ::  arming == ARMINGS -> break
    od
}

active proctype worker() {
    byte c = NOTHING;
    bool with_error;
end_idle:
    do
    ::  atomic { edge -> edge = false };                    // in the worker's hand
        d_step { happened() }
    ::  atomic { due != NOTHING -> c = due; with_error = due_error; due = NOTHING; due_error = false };
        d_step {                       // the call
            calls[c]++;
            assert(calls[c] == 1 && cancellations[c] == 0);
            told_error[c] = with_error;
            told = told + (1 - with_error);
            assert(told <= events);
            c = NOTHING;
            with_error = false
        }
    od
}

// cancel(): it is told whether the closure will be called all the same.
inline cancel(c) {
    d_step {
        if
        ::  waiting == c && c != NOTHING ->
            waiting = NOTHING;
            cancellations[c]++;
            assert(cancellations[c] == 1 && calls[c] == 0)
#ifdef CANCEL_DROPS_WHAT_IS_DUE
        ::  due == c && c != NOTHING -> due = NOTHING
#endif
        ::  else
        fi
    }
}

// poll_core::shutdown().
inline shutdown() {
    d_step {
#ifndef SHUTDOWN_IS_NOT_REMEMBERED
        shut_down = true;
#endif
#ifndef SHUTDOWN_LEAVES_THE_WORD_QUIET
        guarded = true;
#endif
        if
        ::  waiting != NOTHING -> make_due(waiting, true); waiting = NOTHING
        ::  else
        fi;
        shutdown_was_called = true
    }
}

bool shutdown_was_called = false;

active proctype third() {
    byte c;
    do
    ::  c = arming; cancel(c); break   // it may be late: then it is another one's turn
    ::  d_step { events++; readable = true; happened() }; break
    ::  break
    od;
    c = 0;
    if
    ::  shutdown()
    ::  true
    fi
}

// Each write is an edge, also if there was something already.
active proctype peer() {
    byte writes = 0;
    do
    ::  d_step { writes < 3 -> writes++; readable = true; edge = true; events++ }
    ::  break
    od
}

active proctype monitor() {
    byte c;
    timeout;                           // nothing moves any more
    assert(due == NOTHING && !edge);
    assert(!owner_waits || waiting == arming);
    assert(!owner_waits || (!readable && !shutdown_was_called));
    for (c : 0 .. ARMINGS - 1) {
        assert(c >= arming || calls[c] + cancellations[c] == 1)
    }
}
