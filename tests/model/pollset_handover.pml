// Workers of pollsets that share one station: who polls, who sleeps, who runs what was harvested, and who
// cc: -O2
// is called when. poll_core::work() and what it calls in src/pollset/pollset_work.cpp and pollset_calls.cpp,
// tell() in poll_words.cpp, queue() and happened() in every_event.hpp.
//
// Workers 0 and 1 are of pollset 0, worker 2 of pollset 1 (or each has its own: pollset_handover.three.pml).
// Handle A is in pollset 0, C in pollset 1, B in both. The closure of A waits until that of C was called: a
// thread that blocks in a closure must not take anything with it.
//
// All that happens under the lock of the domain is one step here, and what happens outside of it
// comes between such steps. The kernel is edge-triggered: an edge that nobody harvested stays.
// A closure arms itself again after each call, so what comes meanwhile is latched. The words
// themselves are the matter of pollset_word.pml, and the bells that are rung after the lock that of
// pollset_kick.pml.
//
// Shown:
//   - when nothing moves any more, no worker sleeps or polls whose pollset has something due, and
//     nobody waits for an edge that came and was not told;
//   - a station with sleepers has a poller then;
//   - a closure is called by one thread at a time, once for what made it due.

#define WORKERS 3
#ifndef SET_OF
#define SET_OF(w) ((w) / 2)
#endif
#ifndef LOOKS
#define LOOKS(w) false                 // whether it may look at the kernel between closures
#endif
#ifndef ROUNDS
#define ROUNDS(w) (1 + ((w) == 0))      // how often a thread calls work()
#endif

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
bool late[WORKERS];                    // its deadline has passed
bool to_tell[WORKERS];                 // pollset::to_tell_
bool shut = false;                     // pollset 0 is shut down: its handles have left

byte poller = NOBODY;                  // station::polling
byte called = 0;                       // station::called
byte coming[WORKERS];                  // pollset::called_
bool bell = false;                     // the station's eventfd

bool edge[HANDLES];                    // in the kernel
bool due[HANDLES];                     // in the queue of each of its pollsets
bool latched[HANDLES];
bool being_called[HANDLES];            // its closure

// What only the properties need.
bool unseen[HANDLES];                  // an edge that no call followed yet
bool c_was_called = false;

#define IN(h, p) (((p) == 0 && !shut && (h) != C) || ((p) == 1 && (h) != A))
#define HAS_DUE(p) ((due[A] && IN(A, p)) || (due[B] && IN(B, p)) || (due[C] && IN(C, p)))
#define WAITS_FOR(w, p) (state[w] == WAITING && SET_OF(w) == (p))
#define POLLS_FOR(p) (poller != NOBODY && SET_OF(poller) == (p))
#define SOMEBODY_WAITS (state[0] == WAITING || state[1] == WAITING || state[2] == WAITING)

// poll_core::call().
inline call(w) { state[w] = RUNNING; called++; coming[SET_OF(w)]++ }

// poll_core::help(): a sleeper of the pollset, else its poller; nobody while one that was called is on its way.
inline help(p) {
    if
    ::  coming[p] != 0
    ::  coming[p] == 0 && WAITS_FOR(0, p) -> call(0)
    ::  coming[p] == 0 && WAITS_FOR(1, p) -> call(1)
    ::  coming[p] == 0 && WAITS_FOR(2, p) -> call(2)
    ::  else -> bell = bell || POLLS_FOR(p)
    fi
}

// poll_core::tell(), before the lock is free: one of each pollset in which something was shown and is left.
inline tell_one(p) {
    if
    ::  to_tell[p] && HAS_DUE(p) -> to_tell[p] = false; help(p)
    ::  else -> to_tell[p] = false
    fi
}
inline tell() { tell_one(0); tell_one(1) }

// poll_core::hand_over(), to whomever the strategy likes.
inline hand_over() {
    if
    ::  poller != NOBODY || called != 0 || !SOMEBODY_WAITS
    ::  else ->
        if
        ::  state[0] == WAITING -> call(0)
        ::  state[1] == WAITING -> call(1)
        ::  state[2] == WAITING -> call(2)
        fi
    fi
}

// Somebody else sees to the rest of the queue, and to the kernel.
inline see_to_the_rest(p) {
    to_tell[p] = to_tell[p] || HAS_DUE(p);
    tell();
    hand_over()
}

// poll_core::due(), queue() and show(). `me`: NOBODY, or the worker that harvests: it goes on to take what is
// first in its own pollset, or to leave, before the lock is free.
inline make_due(h, me) {
    assert(!due[h] && !being_called[h]);
#ifdef RELIES_ON_THE_HARVESTER
    silent = me != NOBODY && !HAS_DUE(SET_OF(me)) && IN(h, SET_OF(me));
#endif
#ifdef SHOWS_ONLY_TO_ITSELF
    silent = me != NOBODY;
#endif
    due[h] = true;
    to_tell[0] = to_tell[0] || (!silent && IN(h, 0) && (me == NOBODY || SET_OF(me) != 0));
    to_tell[1] = to_tell[1] || (!silent && IN(h, 1) && (me == NOBODY || SET_OF(me) != 1));
    silent = false
}

// poll_core::happened().
inline happened(h, me) {
    if
    ::  due[h] || being_called[h] -> latched[h] = true
    ::  else -> make_due(h, me)
    fi
}

proctype worker(byte w) {
    byte round = 0;
    byte h;
    bool ran, looks, looked, silent, got_a, got_b, got_c;
#ifdef COMES_UNTIL_IT_HAS_RUN
    bool comes;
#endif
again:
    atomic {
        if
        ::  round == ROUNDS(w) || (shut && SET_OF(w) == 0) -> goto end_thread
        ::  else -> round++
        fi;
        state[w] = RUNNING;
        kicked[w] = false;
        late[w] = false;
        looked = false;
        ran = false
    };
turn:
    atomic {                           // under one lock with the harvest before it
        assert(state[w] == RUNNING && poller != w);
        if
        ::  kicked[w] -> goto leave
        ::  LOOKS(w) && !looked && !kicked[w] && HAS_DUE(SET_OF(w)) && poller == NOBODY ->
            // So many were run that it looks at the kernel first.
            looks = true; looked = true; state[w] = POLLING; poller = w; tell(); goto poll
        ::  !kicked[w] && due[A] && IN(A, SET_OF(w)) -> h = A
        ::  !kicked[w] && due[B] && IN(B, SET_OF(w)) -> h = B
        ::  !kicked[w] && due[C] && IN(C, SET_OF(w)) -> h = C
        ::  !kicked[w] && !HAS_DUE(SET_OF(w)) ->
            if
            ::  ran || late[w] || (shut && SET_OF(w) == 0) -> goto leave
            ::  else ->
                if
                ::  poller == NOBODY -> state[w] = POLLING; poller = w; tell(); goto poll
                ::  else -> state[w] = WAITING; tell(); goto sleep
                fi
            fi
        fi;
        // poll_core::run_next(): out of all queues.
        due[h] = false;
        assert(!being_called[h]);
        being_called[h] = true;
#ifndef ROLE_IS_PASSED_AFTER_RUNNING
        see_to_the_rest(SET_OF(w))
#endif
    };
    // The closure, outside the lock.
end_blocked:
    atomic {
        h != A || c_was_called;
        unseen[h] = false;
        c_was_called = c_was_called || h == C
    };
    atomic {                           // notify_on(), inside the closure
        being_called[h] = false;
        if
        ::  latched[h] -> latched[h] = false; make_due(h, NOBODY); tell()
        ::  else
        fi;
        h = 0;
        ran = true;
#ifdef COMES_UNTIL_IT_HAS_RUN
        if
        ::  comes -> comes = false; coming[SET_OF(w)]--
        ::  else
        fi;
#endif
#ifdef ROLE_IS_PASSED_AFTER_RUNNING
        see_to_the_rest(SET_OF(w));
#endif
        if
        ::  goto turn
        ::  goto leave                 // strategy::closures_max()
        fi
    };

poll:
end_polling:
    // In the kernel: out of it with all edges there are, or because it is late, or does not wait.
    atomic {
        edge[A] || edge[B] || edge[C] || bell || late[w] || looks;
        looks = false;
        got_a = edge[A]; got_b = edge[B]; got_c = edge[C];
        edge[A] = false; edge[B] = false; edge[C] = false;
        bell = false
    };
    atomic {
        assert(poller == w);
        state[w] = RUNNING;
        poller = NOBODY;
        if :: got_a -> happened(A, w) :: else fi;
        if :: got_b -> happened(B, w) :: else fi;
        if :: got_c -> happened(C, w) :: else fi;
        got_a = false; got_b = false; got_c = false;
        goto turn
    };

sleep:
end_sleeping:
    atomic {
        if
        ::  state[w] != WAITING -> called--;
#ifndef COMES_UNTIL_IT_HAS_RUN
            coming[SET_OF(w)]--
#else
            comes = true
#endif
        ::  state[w] == WAITING && late[w] -> state[w] = RUNNING
        fi
    };
    goto turn;

leave:
    atomic {                           // poll_core::exit()
        state[w] = OUTSIDE;
#ifdef COMES_UNTIL_IT_HAS_RUN
        if
        ::  comes -> comes = false; coming[SET_OF(w)]--
        ::  else
        fi;
#endif
#ifdef SHUT_DOWN_CALLS_NOBODY
        if
        ::  shut && SET_OF(w) == 0 -> goto again
        ::  else
        fi;
#endif
#ifndef LEAVER_CALLS_NOBODY
        see_to_the_rest(SET_OF(w))
#endif
    };
    goto again;
end_thread:
    skip
}

#define ARRIVES(h) edge[h] = true; unseen[h] = true

// The other ends of the descriptors: an edge each at most, and a second one for B.
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

// poll_core::rouse().
inline rouse(w) {
    if
    ::  state[w] == WAITING -> call(w)
    ::  state[w] == POLLING -> bell = true
    ::  else
    fi
}

// One worker is kicked, or its deadline passes, or pollset 0 is shut down; or nothing of that.
proctype caller() {
    byte w;
    atomic {
        if :: w = 0 :: w = 1 :: w = 2 fi;
        if
        ::  state[w] != OUTSIDE -> kicked[w] = true; rouse(w)
        ::  state[w] != OUTSIDE -> late[w] = true
        ::  w == 0 -> shut = true;
            rouse(0);
            if :: SET_OF(1) == 0 -> rouse(1) :: else fi
        ::  true
        fi
    }
}

// A worker that is inside, not in a handler, and would run what its pollset has.
#define COULD_RUN(w) (state[w] == WAITING || state[w] == POLLING)
#define SERVED(h) ((IN(h, SET_OF(0)) && COULD_RUN(0)) || (IN(h, SET_OF(1)) && COULD_RUN(1)) || \
                   (IN(h, SET_OF(2)) && COULD_RUN(2)))
#define NOT_STRANDED(h) (!((due[h] || (unseen[h] && !being_called[h])) && SERVED(h)))

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
    assert(called == 0);
    assert(coming[0] == 0 && coming[1] == 0 && coming[2] == 0)
}
