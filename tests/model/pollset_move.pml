// Pollsets that move between stations, with workers inside: `domain_strategy` and what poll_core does about it
// (moved(), depart(), is_crowded()). Who polls, sleeps and runs at one station is the matter of
// pollset_handover.pml; its steps are here again, without kicks, deadlines and shutdown.
//
// Workers 0 and 1 are of pollset 0, worker 2 of pollset 1. Handle A is in pollset 0, C and B in
// pollset 1, and at some time B joins pollset 0 too: then both pollsets have to be at the common
// station. Until then a pollset whose worker finds the station taken by the other's may move out.
// The closure of A waits until that of C was called.
//
// The kernel is edge-triggered; a handle that is added to an epoll set is reported there if it is
// ready. What a thread has brought out of the kernel but not yet told is told after a move, too.
//
// Shown:
//   - when nothing moves any more, no worker sleeps or polls whose pollset has something due, and
//     nobody waits for an edge that came and was not told;
//   - a station with sleepers has a poller then;
//   - a station that nobody uses any more is dropped, and not while somebody is in it;
//   - a handle is registered where all its pollsets are.
// cc: -O2

#ifndef WORKERS
#define WORKERS 3
#define SET_OF(w) ((w) / 2)
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

#define COMMON 0                       // stations; that of pollset p alone is 1 + p
#define STATIONS 3

byte state[WORKERS];
byte at[WORKERS];                      // pollset_worker::station_
bool to_tell[2];                       // pollset::to_tell_
byte place[2];                         // pollset::station_
bool stays[2];                         // pollset::stays_
bool shared = false;                   // B is in both

byte poller[STATIONS];                 // station::polling
byte called[STATIONS];                 // station::called
bool bell[STATIONS];                   // the station's eventfd
bool retired[STATIONS];
bool gone[STATIONS];

byte where[HANDLES];                   // the station whose epoll set has it
bool readable[HANDLES];
bool edge[HANDLES];                    // in the kernel
bool due[HANDLES];                     // in the queue of each of its pollsets
bool latched[HANDLES];
bool being_called[HANDLES];            // its closure

// What only the properties need.
bool unseen[HANDLES];                  // an edge that no call followed yet
bool c_was_called = false;

#define IN(h, p) (((p) == 0 && ((h) == A || (shared && (h) == B))) || ((p) == 1 && (h) != A))
#define HAS_DUE(p) ((due[A] && IN(A, p)) || (due[B] && IN(B, p)) || (due[C] && IN(C, p)))

// poll_core::call().
inline call(w) { state[w] = RUNNING; called[at[w]]++ }

// poll_core::help(): a sleeper of the pollset, else its poller.
inline help(p) {
    i = 0;
    found = NOBODY;
    do
    ::  i == WORKERS -> break
    ::  i < WORKERS && SET_OF(i) == (p) && state[i] == WAITING -> found = i; break
    ::  i < WORKERS && SET_OF(i) == (p) && state[i] == POLLING -> found = i; i++
    ::  i < WORKERS && (SET_OF(i) != (p) || (state[i] != WAITING && state[i] != POLLING)) -> i++
    od;
    if
    ::  found != NOBODY && state[found] == WAITING -> call(found)
    ::  found != NOBODY && state[found] == POLLING -> bell[at[found]] = true
    ::  found == NOBODY
    fi
}

inline tell_one(p) {
    if
    ::  to_tell[p] && HAS_DUE(p) -> to_tell[p] = false; help(p)
    ::  else -> to_tell[p] = false
    fi
}
// poll_core::tell(), before the lock is free.
inline tell() { tell_one(0); tell_one(1) }

// poll_core::hand_over(): to whoever sleeps there.
inline hand_over(s) {
    i = 0;
    do
    ::  i == WORKERS || poller[s] != NOBODY || called[s] != 0 -> break
    ::  else ->
        if
        ::  state[i] == WAITING && at[i] == (s) -> call(i)
        ::  else
        fi;
        i++
    od
}

inline see_to_the_rest(p) {
    to_tell[p] = to_tell[p] || HAS_DUE(p);
    tell();
    hand_over(place[p])
}

// station::vacant().
inline look_whether_vacant(s) {
    vacant = poller[s] == NOBODY && called[s] == 0;
    i = 0;
    do
    ::  i == WORKERS -> break
    ::  else -> vacant = vacant && !(state[i] == WAITING && at[i] == (s)); i++
    od
}

// poll_core::depart().
inline depart(s, w) {
#ifndef DEPARTS_SILENTLY
    if
    ::  place[SET_OF(w)] != s -> hand_over(s)
    ::  else
    fi;
#endif
    look_whether_vacant(s);
    if
    ::  retired[s] && vacant -> gone[s] = true
    ::  else
    fi
}

// poll_core::moved().
inline moved(p) {
#ifndef MOVES_WITHOUT_A_WORD
    i = 0;
    do
    ::  i == WORKERS -> break
    ::  else ->
        if
        ::  SET_OF(i) == (p) && state[i] == WAITING -> call(i)
        ::  SET_OF(i) == (p) && state[i] == POLLING -> bell[at[i]] = true
        ::  else
        fi;
        i++
    od
#else
    skip
#endif
}

inline move_handle(h, p, to) {
    if
    ::  IN(h, p) -> where[h] = to; edge[h] = readable[h]
    ::  else
    fi
}
// domain_strategy::move().
inline move(p, to) {
    move_handle(A, p, to);
    move_handle(B, p, to);
    move_handle(C, p, to);
    place[p] = to;
    moved(p)
}

// domain_strategy::come_back().
inline come_back(p) {
    stays[p] = true;
    if
    ::  place[p] != COMMON ->
        move(p, COMMON);
        look_whether_vacant(1 + p);
#ifdef DROPS_WHAT_IS_IN_USE
        vacant = true;
#endif
        retired[1 + p] = true;
        gone[1 + p] = vacant
    ::  else
    fi
}

// poll_core::due(), queue() and show(); `p`: the pollset of the worker that harvests, or NOBODY.
inline make_due(h, p) {
    assert(!due[h] && !being_called[h]);
    due[h] = true;
    to_tell[0] = to_tell[0] || (IN(h, 0) && (p) != 0);
    to_tell[1] = to_tell[1] || (IN(h, 1) && (p) != 1)
}

inline happened(h, p) {
    if
    ::  due[h] || being_called[h] -> latched[h] = true
    ::  else -> make_due(h, p)
    fi
}

#define BRINGS(h, s) (edge[h] && where[h] == (s))

proctype worker(byte w) {
    byte round = 0;
    byte h, s, i, found;
    bool ran, vacant, got_a, got_b, got_c;
again:
    atomic {
        if
        ::  round == ROUNDS(w) -> goto end_thread
        ::  else -> round++
        fi;
        state[w] = RUNNING;
        ran = false
    };
turn:
    atomic {                           // under one lock with the harvest before it
        assert(state[w] == RUNNING);
        if
        ::  due[A] && IN(A, SET_OF(w)) -> h = A
        ::  due[B] && IN(B, SET_OF(w)) -> h = B
        ::  due[C] && IN(C, SET_OF(w)) -> h = C
        ::  !HAS_DUE(SET_OF(w)) ->
            if
            ::  ran -> goto leave
            ::  else
            fi;
            s = place[SET_OF(w)];
            if
            ::  s == COMMON && poller[s] != NOBODY && SET_OF(poller[s]) != SET_OF(w) &&
                !stays[SET_OF(w)] ->   // domain_strategy::crowded()
                s = 1 + SET_OF(w);
                move(SET_OF(w), s)
            ::  true                   // so many have moved out that it cannot
            fi;
            assert(!gone[s] && !retired[s]);
            at[w] = s;
            if
            ::  poller[s] == NOBODY -> state[w] = POLLING; poller[s] = w; tell(); goto poll
            ::  else -> state[w] = WAITING; tell(); goto sleep
            fi
        fi;
        // poll_core::run_next(): out of all queues.
        due[h] = false;
        assert(!being_called[h]);
        being_called[h] = true;
        see_to_the_rest(SET_OF(w));
        i = 0; found = 0; vacant = false
    };
    // The closure, outside the lock.
end_blocked:
    atomic {
        h != A || c_was_called;
        unseen[h] = false;
        readable[h] = false;
        c_was_called = c_was_called || h == C
    };
    atomic {                           // notify_on(), inside the closure
        being_called[h] = false;
        if
        ::  latched[h] -> latched[h] = false; make_due(h, NOBODY); tell()
        ::  else
        fi;
        h = 0; i = 0; found = 0;
        ran = true
    };
    goto turn;

poll:
end_polling:
    atomic {
        BRINGS(A, s) || BRINGS(B, s) || BRINGS(C, s) || bell[s];
        assert(!gone[s]);
        got_a = BRINGS(A, s); got_b = BRINGS(B, s); got_c = BRINGS(C, s);
        edge[A] = edge[A] && !got_a; edge[B] = edge[B] && !got_b; edge[C] = edge[C] && !got_c;
        bell[s] = false
    };
    atomic {
        assert(poller[s] == w && !gone[s]);
        state[w] = RUNNING;
        poller[s] = NOBODY;
        if :: got_a -> happened(A, SET_OF(w)) :: else fi;
        if :: got_b -> happened(B, SET_OF(w)) :: else fi;
        if :: got_c -> happened(C, SET_OF(w)) :: else fi;
        got_a = false; got_b = false; got_c = false;
        depart(s, w);
        i = 0; found = 0; vacant = false;
        goto turn
    };

sleep:
end_sleeping:
    atomic {
        state[w] != WAITING;
        assert(!gone[s]);
        called[s]--;
        depart(s, w);
        i = 0; found = 0; vacant = false
    };
    goto turn;

leave:
    atomic {                           // poll_core::exit()
        state[w] = OUTSIDE;
        see_to_the_rest(SET_OF(w));
        s = 0; i = 0; found = 0
    };
    goto again;
end_thread:
    skip
}

#define ARRIVES(h) edge[h] = true; unseen[h] = true; readable[h] = true

// The other ends of the descriptors: an edge each at most.
proctype peer() {
    bool a, b, c;
    do
    ::  d_step { !a -> a = true; ARRIVES(A) }
    ::  d_step { !b -> b = true; ARRIVES(B) }
    ::  d_step { !c -> c = true; ARRIVES(C) }
    ::  break
    od
}

// pollset::add(): B joins pollset 0, or it never does.
proctype joiner() {
    byte i, found;
    bool vacant;
    if
    ::  atomic {
            come_back(1);
            come_back(0);
            shared = true;
            to_tell[0] = to_tell[0] || due[B];
            tell();
            i = 0; found = 0; vacant = false
        }
    ::  true
    fi
}

// A worker that is inside, not in a handler, and would run what its pollset has.
#define COULD_RUN(w) (state[w] == WAITING || state[w] == POLLING)
#define IN_TIME(h, w) (!(COULD_RUN(w) && IN(h, SET_OF(w)) && \
                         (due[h] || (unseen[h] && !being_called[h]))))

init {
    byte w, s;
    atomic {
        poller[0] = NOBODY; poller[1] = NOBODY; poller[2] = NOBODY;
        w = 0;
        do
        ::  w == WORKERS -> break
        ::  else -> run worker(w); w++
        od;
        run peer();
        run joiner()
    };
    timeout;                           // nothing moves any more
    w = 0;
    do
    ::  w == WORKERS -> break
    ::  else ->
        assert(IN_TIME(A, w));
        assert(IN_TIME(B, w));
        assert(IN_TIME(C, w));
        assert(state[w] != WAITING || poller[at[w]] != NOBODY);
        w++
    od;
    s = 0;
    do
    ::  s == STATIONS -> break
    ::  else -> assert(called[s] == 0 && retired[s] == gone[s]); s++
    od;
    assert(where[A] == place[0] && where[B] == place[1] && where[C] == place[1]);
    assert(!shared || where[B] == place[0])
}
