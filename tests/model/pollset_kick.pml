// Kicks: poll_core::kick(), kick_any(), and how they reach a worker that runs, sleeps or polls
// (src/pollset/pollset_work.cpp: work, poll, sleep, exit; pollset_calls.cpp: call, rouse, interrupt, to_kick; core_lock.cpp).
//
// Two threads work on one pollset, each under a lock of their own that they share (the lent lock), as long as
// `quit` is not set; under the same lock the third thread sets it and kicks the first one. Before and after
// that it kicks any. All that happens under the lock of the domain is one step here. A futex is rung after it;
// by then its owner may sleep again, or be gone: only the address is used. The eventfd is written under it.
// Who waits stays awake for a moment first, and one that is called by then is not rung.
//
// Shown:
//   - a worker that was kicked returns, one that is about to sleep or to poll too;
//   - whoever kicks under the lent lock finds the worker inside, or the worker sees what was changed;
//   - two workers inside, two kicks for any: both return; a kick with nobody inside frees the next one.

#define WORKERS 2
#define NOBODY 255

#define OUTSIDE 0                      // pollset_worker::state
#define RUNNING 1
#define WAITING 2
#define POLLING 3

#define ASLEEP 0                       // what pollset_worker::call_ can be
#define CALLED 1
#define AWAKE 2

byte state[WORKERS];
bool inside[WORKERS];                  // pollset_worker::set_
bool kicked[WORKERS];
byte call_word[WORKERS];               // pollset_worker::call_, the futex word
bool in_futex[WORKERS];                // asleep in the kernel
bool kick_kept = false;                // pollset::kick_kept_
byte poller = NOBODY;                  // station::polling
byte called = 0;                       // station::called
bool wake_sent = false;                // station::wake_sent
bool eventfd = false;

bool lent_lock = false;                // the callers' lock
bool quit[WORKERS];                    // what it guards

// What only the properties need.
byte returns = 0;                      // of work()
bool returned_kicked[WORKERS];

#define SOMEBODY_WAITS (state[0] == WAITING || state[1] == WAITING)

// call(): the bell itself comes after the lock.
inline call(w, to_ring) {
    state[w] = RUNNING;
    called++;
    if
    ::  call_word[w] == ASLEEP -> to_ring = w
    ::  else
    fi;
    call_word[w] = CALLED
}

// core_lock::release(): FUTEX_WAKE of an address, whoever sleeps there now.
inline ring(to_ring) {
    if
    ::  atomic { to_ring != NOBODY -> in_futex[to_ring] = false; to_ring = NOBODY }
    ::  else
    fi
}

// interrupt(), for somebody who polls.
inline interrupt() {
    if
    ::  !wake_sent -> wake_sent = true; eventfd = true
    ::  else
    fi
}

inline rouse(w, to_ring) {
    if
    ::  state[w] == WAITING -> call(w, to_ring)
    ::  state[w] == POLLING -> interrupt()
    ::  else
    fi
}

inline hand_over(to_ring) {
    if
    ::  poller != NOBODY || called != 0 || !SOMEBODY_WAITS
    ::  else ->
        if
        ::  state[0] == WAITING -> call(0, to_ring)
        ::  state[1] == WAITING -> call(1, to_ring)
        fi
    fi
}

inline lock_lent() { atomic { !lent_lock -> lent_lock = true } }
inline unlock_lent() { lent_lock = false }

proctype worker(byte w) {
    byte bell = NOBODY;                // what release() is to ring
    lock_lent();
again:
    if
    ::  quit[w] -> unlock_lent(); goto gone
    ::  else
    fi;
    // work(): inside before the lent lock is free.
#ifdef UNLOCKS_FIRST
    unlock_lent();
#endif
    atomic {
        if
        ::  kick_kept ->
            kick_kept = false;
            returned_kicked[w] = true;
#ifdef UNLOCKS_FIRST
            goto back
#else
            goto returned
#endif
        ::  else
        fi;
        inside[w] = true;
        kicked[w] = false;
        state[w] = RUNNING
    };
#ifndef UNLOCKS_FIRST
    unlock_lent();
#endif
turn:
    atomic {
        assert(state[w] == RUNNING);
        if
        ::  kicked[w] -> goto leave
        ::  else
        fi;
        if
        ::  poller == NOBODY ->
            poller = w;
#ifndef POLLING_IS_SAID_LATE
            state[w] = POLLING;
#endif
            goto poll
        ::  else ->
            call_word[w] = AWAKE;
            state[w] = WAITING;
            goto sleep
        fi
    };

poll:
#ifdef POLLING_IS_SAID_LATE
    state[w] = POLLING;
#endif
end_polling:
    atomic { eventfd -> eventfd = false };                 // poller::wait()
    d_step {
        assert(poller == w);
        state[w] = RUNNING;
        poller = NOBODY;
        wake_sent = false
    };
    goto turn;

sleep:
    // Falls asleep unless it was called, in one step; kernel::sleep_while(): looks at the word and sleeps, in
    // one step of the kernel. Who rings for an earlier call may wake it too: it looks where it is, and begins anew.
    if
    ::  atomic { call_word[w] == CALLED -> goto woken }
#ifdef FALLS_ASLEEP_IN_TWO_STEPS
    ::  call_word[w] == AWAKE -> call_word[w] = ASLEEP
#else
    ::  atomic { call_word[w] == AWAKE -> call_word[w] = ASLEEP }
#endif
    fi;
    if
    ::  atomic { call_word[w] != ASLEEP -> goto woken }
    ::  atomic { call_word[w] == ASLEEP -> in_futex[w] = true }
    fi;
end_sleeping:
    !in_futex[w];
woken:
    atomic {
        if
        ::  state[w] == WAITING -> state[w] = RUNNING     // nobody called
        ::  else -> called--
        fi
    };
    goto turn;

leave:
    atomic {                           // exit()
        inside[w] = false;
        state[w] = OUTSIDE;
        returned_kicked[w] = true;
        hand_over(bell)
    };
    ring(bell);
#ifdef UNLOCKS_FIRST
back:
#endif
    lock_lent();
returned:
    returns++;
    if
    ::  goto again
    ::  unlock_lent()                  // it has something else to do
    fi;
gone:
    skip
}

// to_kick(): one that was not kicked yet, rather asleep than in the kernel, rather there than running.
#ifdef KICKS_THE_KICKED
#define FREE(w) inside[w]
#else
#define FREE(w) (inside[w] && !kicked[w])
#endif
#define BETTER(w, v) (!FREE(v) || (state[w] == WAITING) || (state[w] == POLLING && state[v] != WAITING) || \
                      (state[v] == RUNNING))

inline kick_any(to_ring) {
    atomic {
        if
        ::  !inside[0] && !inside[1] -> kick_kept = true
        ::  else ->
            if
            ::  FREE(0) && BETTER(0, 1) -> kicked[0] = true; rouse(0, to_ring)
            ::  FREE(1) && BETTER(1, 0) -> kicked[1] = true; rouse(1, to_ring)
            ::  else
            fi
        fi
    };
    ring(to_ring)
}

inline kick(w, to_ring) {
    atomic {
        if
        ::  inside[w] -> kicked[w] = true; rouse(w, to_ring)
        ::  else                       // no_such_process
        fi
    };
    ring(to_ring)
}

bool both_were_inside = false;

proctype kicker() {
    byte bell = NOBODY;
    if
    ::  // Two for any, while both are inside and neither was kicked.
        atomic {
            inside[0] && inside[1] && !kicked[0] && !kicked[1];
            both_were_inside = true
        };
        kick_any(bell);
        kick_any(bell)
    ::  // One with perhaps nobody inside, then one under the lent lock.
        kick_any(bell);
        lock_lent();
        quit[0] = true;
        kick(0, bell);
        unlock_lent()
    fi
}

init {
    atomic {
        run worker(0);
        run worker(1);
        run kicker()
    };
    timeout;                           // nothing moves any more
    assert(!inside[0] || !kicked[0]);
    assert(!inside[1] || !kicked[1]);
    assert(!quit[0] || !inside[0]);
    assert(!both_were_inside || returns >= 2);
    assert(returns >= 1);              // the first kick is for somebody, sooner or later
    assert(!kick_kept || (!inside[0] && !inside[1]));
    assert(poller != NOBODY || !SOMEBODY_WAITS);
    assert(called == 0)
}
