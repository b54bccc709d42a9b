// A pollset with brisk closures is left to one worker, and a sleeper gets up now and then to see whether that one
// makes headway. poll_core::is_led(), is_left_to_the_lead() and is_to_watch() in src/pollset/poll_core.hpp, sleep(),
// keep_watch() and exit() in pollset_work.cpp, call(), help() and hand_over() in pollset_calls.cpp.
//
// Workers 0 and 1 are of pollset 0, worker 2 of pollset 1; they share a station. Handles A and B are in pollset 0, C
// is in pollset 1. The closure of A waits until those of B and C were called. All that happens under the lock of the
// domain is one step here. Whether closures are brisk is a matter of time: here, one of the pollset was run since that
// was asked last. The sentry's time may be up at any moment.
//
// Shown, when nothing moves any more:
//   - no worker sleeps or polls whose pollset has something due, and nobody waits beside an edge that was not told;
//   - a station with sleepers has a poller;
//   - no watch is kept, and nobody leads.
// cc: -O2

#define WORKERS 3
#define SET_OF(w) ((w) / 2)
#define HOME_OF(h) ((h) / 2)
#define ROUNDS(w) (1 + ((w) < 2))      // how often a thread calls work()

#define A 0
#define B 1
#define C 2
#define HANDLES 3
#define NOBODY 255

#define OUTSIDE 0                      // pollset_worker::state
#define RUNNING 1
#define WAITING 2
#define POLLING 3

byte state[WORKERS];
bool kicked[WORKERS];
byte poller = NOBODY;                  // station::polling
byte sentry = NOBODY;                  // station::sentry
byte lead = NOBODY;                    // station::lead
byte called = 0;                       // station::called
byte coming[2];                        // pollset::called_
bool bell = false;                     // the station's eventfd
bool ran_one[2];                       // pace: what is_brisk() will say

bool edge[HANDLES];                    // in the kernel
bool due[HANDLES];
bool was_called[HANDLES];

#define HAS_DUE(p) ((due[A] && (p) == 0) || (due[B] && (p) == 0) || (due[C] && (p) == 1))
#define WAITS_FOR(w, p) (state[w] == WAITING && SET_OF(w) == (p))
#define POLLS_FOR(p) (poller != NOBODY && SET_OF(poller) == (p))
#define SOMEBODY_WAITS (state[0] == WAITING || state[1] == WAITING || state[2] == WAITING)

#ifdef WATCHES_OVER_OTHERS
#define IS_WATCHED(p) (sentry != NOBODY)
#else
#define IS_WATCHED(p) (sentry != NOBODY && SET_OF(sentry) == (p))
#endif
#define IS_LED(p) (IS_WATCHED(p) && lead != NOBODY && state[lead] == RUNNING)

inline call(v) {
    state[v] = RUNNING; called++; coming[SET_OF(v)]++;
#ifndef IS_CALLED_AND_WATCHES
    if
    ::  sentry == v -> sentry = NOBODY; lead = NOBODY
    ::  else
    fi
#endif
}

inline help(p) {
    if
    ::  coming[p] != 0 || IS_LED(p)
    ::  coming[p] == 0 && !IS_LED(p) && WAITS_FOR(0, p) -> call(0)
    ::  coming[p] == 0 && !IS_LED(p) && WAITS_FOR(1, p) -> call(1)
    ::  coming[p] == 0 && !IS_LED(p) && WAITS_FOR(2, p) -> call(2)
    ::  else -> bell = bell || POLLS_FOR(p)
    fi
}

inline hand_over() {
    if
    ::  poller != NOBODY || called != 0 || sentry != NOBODY || !SOMEBODY_WAITS
    ::  else ->
        if
        ::  state[0] == WAITING -> call(0)
        ::  state[1] == WAITING -> call(1)
        ::  state[2] == WAITING -> call(2)
        fi
    fi
}

// tell(): a worker of the other pollset, if something was shown there.
inline tells_the_other(p) {
    if
    ::  shows_there && HAS_DUE(1 - (p)) -> help(1 - (p))
    ::  else
    fi;
    shows_there = false
}

inline see_to_the_rest(p) {
    if
    ::  HAS_DUE(p) && !IS_WATCHED(p) -> help(p)
    ::  else
    fi;
    tells_the_other(p);
    hand_over()
}

// sleep(), until the lock is free.
inline lies_down(v) {
    state[v] = WAITING;
    if
    ::  lead == v -> lead = NOBODY
    ::  else
    fi;
    if
    ::  sentry == NOBODY && ran_one[SET_OF(v)] -> ran_one[SET_OF(v)] = false; sentry = v
    ::  true                           // not brisk enough
    fi;
    tells_the_other(SET_OF(v))
}

proctype worker(byte w) {
    byte round = 0;
    byte h;
    bool ran, shows_there, got_a, got_b, got_c;
again:
    atomic {
        if
        ::  round == ROUNDS(w) -> goto end_thread
        ::  else -> round++
        fi;
        state[w] = RUNNING;
        kicked[w] = false;
        ran = false
    };
turn:
    atomic {                           // under one lock with the harvest before it
        assert(state[w] == RUNNING && poller != w && sentry != w);
        if
        ::  kicked[w] -> goto leave
        ::  else
        fi;
        if
        ::  !ran && IS_WATCHED(SET_OF(w)) && lead == NOBODY -> lead = w
        ::  else
        fi;
        if
        ::  !ran && lead != w && IS_LED(SET_OF(w)) -> lies_down(w); goto end_sleeping
        ::  else
        fi;
        if
        ::  due[A] && SET_OF(w) == 0 -> h = A
        ::  due[B] && SET_OF(w) == 0 -> h = B
        ::  due[C] && SET_OF(w) == 1 -> h = C
        ::  !HAS_DUE(SET_OF(w)) ->
            if
            ::  ran -> goto leave
            ::  !ran && poller == NOBODY ->
                poller = w; state[w] = POLLING; tells_the_other(SET_OF(w)); goto end_polling
            ::  !ran && poller != NOBODY -> lies_down(w); goto end_sleeping
            fi
        fi;
        due[h] = false;                // run_next()
        see_to_the_rest(SET_OF(w))
    };
end_blocked:
    atomic {                           // the closure, outside the lock
        h != A || (was_called[B] && was_called[C]);
        was_called[h] = true
    };
    atomic {
        ran_one[SET_OF(w)] = true;
        h = 0;
        ran = true;
        if
        ::  goto turn
        ::  goto leave                 // strategy_traits::closures_max
        fi
    };

end_polling:
    atomic {                           // all edges there are, or one
        edge[A] || edge[B] || edge[C] || bell;
        if
        ::  got_a = edge[A]; got_b = edge[B]; got_c = edge[C];
            edge[A] = false; edge[B] = false; edge[C] = false
        ::  edge[A] -> got_a = true; edge[A] = false
        ::  edge[C] -> got_c = true; edge[C] = false
        fi;
        bell = false
    };
    atomic {
        assert(poller == w);
        state[w] = RUNNING;
        poller = NOBODY;
        due[A] = due[A] || got_a; due[B] = due[B] || got_b; due[C] = due[C] || got_c;
        shows_there = (SET_OF(w) == 0 && got_c) || (SET_OF(w) == 1 && (got_a || got_b));
        got_a = false; got_b = false; got_c = false;
        goto turn
    };

end_sleeping:
    atomic {
        if
        ::  state[w] != WAITING -> called--; coming[SET_OF(w)]--
#ifndef SLEEPS_ON_WATCH
        ::  state[w] == WAITING && sentry == w && ran_one[SET_OF(w)] ->
            ran_one[SET_OF(w)] = false;
            goto end_sleeping          // keep_watch(): once more
        ::  state[w] == WAITING && sentry == w && !ran_one[SET_OF(w)] ->
            sentry = NOBODY; lead = NOBODY; state[w] = RUNNING
#endif
        fi
    };
    goto turn;

leave:
    atomic {                           // exit()
        state[w] = OUTSIDE;
        if
        ::  lead == w -> lead = NOBODY
        ::  else
        fi;
        see_to_the_rest(SET_OF(w))
    };
    goto again;
end_thread:
    skip
}

#define ARRIVES(h) edge[h] = true

proctype peer() {
    bool a, b, c, b_again;
    do
    ::  d_step { !a -> a = true; ARRIVES(A) }
    ::  d_step { !b -> b = true; ARRIVES(B) }
    ::  d_step { !c -> c = true; ARRIVES(C) }
    ::  d_step { b && !b_again -> b_again = true; ARRIVES(B) }
    ::  break
    od
}

// One worker is kicked, or none.
proctype caller() {
    byte w;
    atomic {
        if :: w = 0 :: w = 1 :: w = 2 fi;
        if
        ::  state[w] == WAITING -> kicked[w] = true; call(w)
        ::  state[w] == POLLING -> kicked[w] = true; bell = true
        ::  state[w] == RUNNING -> kicked[w] = true
        ::  true
        fi
    }
}

#define COULD_RUN(w) (state[w] == WAITING || state[w] == POLLING)
#define SERVED(p) ((SET_OF(0) == (p) && COULD_RUN(0)) || (SET_OF(1) == (p) && COULD_RUN(1)) || \
                   (SET_OF(2) == (p) && COULD_RUN(2)))
#define NOT_STRANDED(h) (!((due[h] || edge[h]) && SERVED(HOME_OF(h))))

init {
    atomic {
        run worker(0); run worker(1); run worker(2);
        run peer();
        run caller()
    };
    timeout;                           // nothing moves any more
    assert(NOT_STRANDED(A));
    assert(NOT_STRANDED(B));
    assert(NOT_STRANDED(C));
    assert(poller != NOBODY || !SOMEBODY_WAITS);
    assert(sentry == NOBODY && lead == NOBODY);
    assert(called == 0 && coming[0] == 0 && coming[1] == 0)
}
