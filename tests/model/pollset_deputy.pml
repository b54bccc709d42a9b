// Two workers of one pollset in the kernel, the one who polls and its deputy: who is told of an edge, and how
// a kick reaches the one that it is for. poll_core::work_inside(), poll(), comes_out() and sleep() in
// src/pollset/pollset_work.cpp, rouse(), interrupt(), help() and hand_over() in pollset_calls.cpp.
//
// Three workers of one pollset, two handles. The closure of A waits until that of B was called: whoever is
// called out of the kernel must have left somebody there. All that happens under the lock of the domain is
// one step here. The kernel gives an edge, or a wake by the eventfd, to one of those who wait in it; who
// comes out for one thing may leave others to the next. How a sleeper is rung is the matter of pollset_kick.pml.
//
// Shown, when nothing moves any more:
//   - whoever was kicked, or whose pollset was shut down, has returned, both of them in the kernel too;
//   - nobody who could run it waits beside an edge, or something due;
//   - somebody is in the kernel if anybody sleeps, and there is no deputy without a poller;
//   - no wake is said to be on its way that was taken: the next one would not be sent.
// cc: -O2

#define WORKERS 3
#define NOBODY 255

#define A 0
#define B 1

#define OUTSIDE 0                      // pollset_worker::state
#define RUNNING 1
#define WAITING 2
#define POLLING 3

byte state[WORKERS];
bool kicked[WORKERS];
bool brief[WORKERS];                   // it waits for a moment only
bool shut = false;                     // pollset::shut_down_
byte poller = NOBODY;                  // station::polling
byte deputy = NOBODY;                  // station::deputy
byte called = 0;                       // station::called
bool wake_sent = false;                // station::wake_sent
bool eventfd = false;

bool edge[2];                          // in the kernel
bool due[2];
bool b_was_called = false;
bool gave_up = false;                  // one comes out with nothing: its time is up, or a signal came

#define SOMEBODY_WAITS (state[0] == WAITING || state[1] == WAITING || state[2] == WAITING)
#define HAS_DUE (due[A] || due[B])

inline call(v) { state[v] = RUNNING; called++ }

inline interrupt() {
    if
    ::  poller != NOBODY && !wake_sent -> wake_sent = true; eventfd = true
    ::  else
    fi
}

inline rouse(v) {
    if
    ::  state[v] == WAITING -> call(v)
    ::  state[v] == POLLING -> interrupt()
    ::  else
    fi
}

inline call_a_sleeper() {
    if
    ::  state[0] == WAITING -> call(0)
    ::  state[1] == WAITING -> call(1)
    ::  state[2] == WAITING -> call(2)
    fi
}

// tell() and help(), then hand_over().
inline see_to_the_rest() {
    if
    ::  HAS_DUE && !shut && SOMEBODY_WAITS -> call_a_sleeper()
    ::  HAS_DUE && !shut && !SOMEBODY_WAITS -> interrupt()
    ::  else
    fi;
    if
    ::  poller == NOBODY && called == 0 && SOMEBODY_WAITS -> call_a_sleeper()
    ::  else
    fi
}

#ifdef A_WAKE_STAYS_SENT
#define WAKE_IS_TAKEN skip
#else
#define WAKE_IS_TAKEN wake_sent = false
#endif

// comes_out(): who stays in the kernel polls, and a wake was perhaps for that one.
inline comes_out(w, woken) {
    if
    ::  deputy == NOBODY -> assert(poller == w); poller = NOBODY; wake_sent = false
    ::  else ->
        assert(poller == w || deputy == w);
        if
        ::  poller == w -> poller = deputy
        ::  else
        fi;
        deputy = NOBODY;
        if
        ::  woken -> WAKE_IS_TAKEN;
#ifndef A_WAKE_IS_NOT_PASSED_ON
            if
            ::  kicked[poller] || shut -> interrupt()
            ::  else
            fi
#endif
        ::  else
        fi
    fi
}

proctype worker(byte w) {
    byte h;
    bool ran, lingered, woken, got_a, got_b, late;
    atomic { state[w] = RUNNING };
turn:
    atomic {
        assert(state[w] == RUNNING && poller != w && deputy != w);
        if
        ::  kicked[w] || (shut && !HAS_DUE) -> goto leave
        ::  !kicked[w] && due[A] -> h = A
        ::  !kicked[w] && due[B] -> h = B
        ::  !kicked[w] && !shut && !HAS_DUE ->
            if
            ::  ran || late -> late = false; goto leave
            ::  !ran && !late && poller == NOBODY -> poller = w; state[w] = POLLING; goto poll
            ::  !ran && !late && poller != NOBODY && deputy == NOBODY && !wake_sent && lingered ->
                deputy = w; state[w] = POLLING; goto poll
            ::  !ran && !late && poller != NOBODY && deputy == NOBODY && !wake_sent && !lingered ->
                lingered = true; brief[w] = true; state[w] = WAITING; goto sleep
            ::  !ran && !late && poller != NOBODY && (deputy != NOBODY || wake_sent) ->
                brief[w] = false; state[w] = WAITING; goto sleep
            fi
        fi;
        due[h] = false;                // run_next()
        see_to_the_rest()
    };
end_blocked:
    atomic {                           // the closure, outside the lock
        h == B || b_was_called;
        b_was_called = b_was_called || h == B;
        h = 0;
        ran = true
    };
    goto turn;

poll:
end_polling:
    atomic {                           // epoll_wait()
        if
        ::  eventfd -> eventfd = false; woken = true
        ::  edge[A] -> edge[A] = false; got_a = true
        ::  edge[B] -> edge[B] = false; got_b = true
        ::  edge[A] && edge[B] -> edge[A] = false; edge[B] = false; got_a = true; got_b = true
        ::  eventfd && edge[A] -> eventfd = false; woken = true; edge[A] = false; got_a = true
        ::  eventfd && edge[B] -> eventfd = false; woken = true; edge[B] = false; got_b = true
        ::  !gave_up -> gave_up = true; if :: late = true :: skip fi
        fi
    };
    atomic {
        state[w] = RUNNING;
        comes_out(w, woken);
        due[A] = due[A] || got_a;
        due[B] = due[B] || got_b;
        woken = false; got_a = false; got_b = false;
        goto turn
    };

sleep:
end_sleeping:
    atomic {
        if
        ::  state[w] != WAITING -> called--
        ::  state[w] == WAITING && brief[w] -> state[w] = RUNNING
        fi;
        brief[w] = false
    };
    goto turn;

leave:
    atomic {                           // exit()
        state[w] = OUTSIDE;
        kicked[w] = false;
        see_to_the_rest();
        ran = false; lingered = false; late = false
    };
    if
    ::  atomic { !shut -> state[w] = RUNNING }; goto turn      // work() once more
    ::  skip                           // it has something else to do
    fi
}

proctype peer() {
    if
    ::  edge[A] = true
    ::  skip
    fi;
    if
    ::  edge[B] = true
    ::  skip
    fi
}

proctype caller() {
    if
    ::  // One of them, then another.
        atomic { state[0] != OUTSIDE -> kicked[0] = true; rouse(0) };
        atomic {
            if
            ::  state[1] != OUTSIDE -> kicked[1] = true; rouse(1)
            ::  state[2] != OUTSIDE -> kicked[2] = true; rouse(2)
            ::  else
            fi
        }
    ::  atomic { shut = true; rouse(0); rouse(1); rouse(2) }
    ::  skip
    fi
}

#define COULD_RUN (state[0] >= WAITING || state[1] >= WAITING || state[2] >= WAITING)

init {
    atomic {
        run worker(0); run worker(1); run worker(2);
        run peer();
        run caller()
    };
    timeout;                           // nothing moves any more
    assert(!kicked[0] || state[0] == OUTSIDE || state[0] == RUNNING);
    assert(!kicked[1] || state[1] == OUTSIDE || state[1] == RUNNING);
    assert(!kicked[2] || state[2] == OUTSIDE || state[2] == RUNNING);
    assert(!shut || !COULD_RUN);
    assert(!(edge[A] || edge[B] || HAS_DUE) || !COULD_RUN);
    assert(poller != NOBODY || !SOMEBODY_WAITS);
    assert(deputy == NOBODY || poller != NOBODY);
    assert(!wake_sent || eventfd);
    assert(called == 0)
}
