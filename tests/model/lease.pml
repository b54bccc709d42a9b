// The return of lent buffers from other threads, and the end of their pool: buffer_pool::give_back(),
// collect(), park() and leave() (src/engine/buffer_pool.*), with the inbox that they share.
//
// The loop has lent BUFFERS buffers to as many threads, and a receive that starves for one. It looks,
// parks and waits until it got one, and leaves whenever it likes; the threads give theirs back.
//
// Shown:
//   - no lost wake-up: while the loop is parked and a buffer is back, a wake-up is on its way;
//   - nobody wakes an engine that is gone;
//   - nobody touches the pool after it was destroyed, and it is destroyed once, when the loop has left
//     and the last buffer is back.
//
// Not shown: memory orders; the stress tests under TSan see those.

#ifndef BUFFERS
#define BUFFERS 3
#endif

#define EMPTY 0
#define ASLEEP (BUFFERS + 1)

byte head = EMPTY;                     // buffer_pool::returned_; a node is its thread's number
byte next[BUFFERS + 1];
byte inside = 0;                       // buffer_pool::inside_
short returned = 0;                    // buffer_pool::returned_elsewhere_
bool edge = false;                     // the engine has an event of its eventfd
bool engine_gone = false;
bool destroyed = false;

// What only the properties need.
bool parked = false;
byte wakes_owed = 0;
byte finished = 0;                     // buffers that were counted
bool left = false;                     // leave() is over

inline destroy() {
    assert(!destroyed && finished == BUFFERS && engine_gone);
    destroyed = true
}

// inbox::push(), then engine::wake() if it says so.
inline push(node) {
    d_step { assert(!destroyed); h = head; next[node] = (h == ASLEEP -> EMPTY : h) };
    do
    ::  atomic {                       // compare_exchange
            assert(!destroyed);
            if
            ::  head == h ->
                head = node;
                if
                ::  h == ASLEEP -> wakes_owed++
                ::  else
                fi;
                break
            ::  else -> h = head; next[node] = (h == ASLEEP -> EMPTY : h)
            fi
        }
    od;
    if
    ::  h == ASLEEP -> d_step { assert(!engine_gone); edge = true; wakes_owed-- }
    ::  else
    fi
}

inline count_it() {
    atomic {                           // the fetch_add; whoever brings it to 0 destroys
        assert(!destroyed);
        returned++;
        finished++;
        if
        ::  returned == 0 && engine_gone -> destroy()
        ::  else
        fi
    }
}

proctype giver(byte id) {
    byte h;
    d_step { assert(!destroyed); inside++ };
#ifdef COUNT_BEFORE_LEAVING
    push(id);
    count_it();
    d_step { assert(!destroyed); inside-- }
#else
    push(id);
    d_step { assert(!destroyed); inside-- };
    count_it()
#endif
}

// collect(): how many came back.
inline collect() {
    d_step {                           // the exchange of inbox::take(); the list is the loop's then
        assert(!destroyed);
        h = head;
        head = EMPTY;
        parked = false;
        if
        ::  h == ASLEEP -> h = EMPTY
        ::  else
        fi;
        got = h != EMPTY;
        h = 0
    }
}

active proctype event_loop() {
    byte h, i;
    bool got, sleeps;
    for (i : 1 .. BUFFERS) {
        run giver(i)
    }
    i = 0;
    do
    ::  collect();
        if
        ::  got -> break               // the receive is fed
        ::  else
        fi;
        d_step {                       // park()
            sleeps = head == EMPTY;
            if
            ::  sleeps -> head = ASLEEP; parked = true
            ::  else
            fi
        };
        if
        ::  !sleeps
        ::  atomic { sleeps && edge -> edge = false; parked = false }
        ::  atomic { sleeps -> parked = false }        // something else ends the wait
        fi
    ::  break                          // the receive is cancelled
    od;
    collect();                         // leave(): not parked from here on
#ifndef LEAVE_AT_ONCE
    inside == 0;
#endif
    engine_gone = true;
    atomic {                           // the fetch_sub of what was lent
        assert(!destroyed);
        returned = returned - BUFFERS;
        left = true;
        if
        ::  returned == 0 -> destroy()
        ::  else
        fi
    }
}

// Blocked for ever, unless a wake-up is lost.
active proctype monitor() {
end:
    atomic {
        parked && head != ASLEEP && !edge && wakes_owed == 0 -> assert(false)
    }
}

// Blocked until everything is over; then the pool must be gone.
active proctype the_end() {
end:
    atomic {
        finished == BUFFERS && left -> assert(destroyed)
    }
}
