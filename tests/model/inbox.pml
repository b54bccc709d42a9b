// The inbox and the wake-up of a loop: include/eddy/intrusive/inbox.hpp, and of loop: submit(),
// stop(), harvest(), end_sleep(), spin(), take_inbox() and take() (src/loop/loop.cpp, loop_spin.cpp,
// loop_work.cpp).
//
// Producers post POSTS nodes each, a stopper calls stop() STOPS times, and IO events of descriptors
// (or deadlines) end waits besides. The loop that run() leaves because of a stop is run again.
//
// Shown:
//   - no lost wake-up: while the loop is parked and there are nodes, a wake-up is on its way;
//   - of the pushes that meet one sleep, exactly one is told to wake the loop;
//   - each node is taken once, those of one producer in the order in which they were pushed;
//   - no stop() is lost, and its node is never pushed while it is in the inbox;
//   - when nothing more can happen, everything was delivered.
//
// Not shown: memory orders. spin interleaves whole steps; a stale load of head is like an earlier
// one, because the compare-and-swap that follows decides. The stress test under TSan sees the rest.
// cc: -O2

#ifndef PRODUCERS
#define PRODUCERS 2
#define POSTS 2
#define STOPS 2
#define IO 1
#endif

#define STOP_NODE (PRODUCERS * POSTS + 1)
#define EMPTY 0                        // nullptr
#define ASLEEP (STOP_NODE + 1)         // inbox::asleep(): an address that no node has

byte head = EMPTY;                     // inbox::head_
byte next[STOP_NODE + 1];              // queue_node::next_
bool stop_posted = false;              // loop::stop_state_, but for what join() of a loop_group takes back
bool edge = false;                     // epoll has an event of the eventfd that no wait() reported
byte io = IO;                          // events of descriptors that are still to come

// What only the properties need.
bool parked = false;                   // park() succeeded, and the wait has not ended
byte told = 0;                         // pushes since park() that were told to wake
byte writes_owed = 0;                  // pushes that were told and have not written the eventfd
byte taken[PRODUCERS];                 // how many nodes of each producer were delivered
bool stop_unseen = false;              // a stop() since the loop last began to stop
bool stop_queued = false;              // the stop node is in the inbox
byte finished = 0;                     // threads that will do nothing more

// inbox::push(), then engine_->wake() if it says so: loop::submit() and loop::stop().
inline push(node) {
    // The first load. next_ is the producer's own until the exchange succeeds.
    d_step { h = head; next[node] = (h == ASLEEP -> EMPTY : h) };
    do
    ::  atomic {                       // compare_exchange
            if
            ::  head == h ->
                head = node;
                stop_queued = stop_queued || node == STOP_NODE;
                if
                ::  h == ASLEEP -> told++; writes_owed++
                ::  else
                fi;
                break
            ::  else -> h = head; next[node] = (h == ASLEEP -> EMPTY : h)
            fi
        }
    od;
    if
    ::  h == ASLEEP -> d_step { edge = true; writes_owed--; h = 0 }     // kernel::signal_eventfd()
    ::  else -> h = 0
    fi
}

proctype producer(byte id) {
    byte h, i;
    for (i : 1 .. POSTS) {
        push(id * POSTS + i)
    }
    finished++
}

proctype stopper() {
    byte h, i;
    bool was_posted;
    for (i : 1 .. STOPS) {
        d_step {                       // stop(): the exchange
            was_posted = stop_posted;
            stop_posted = true;
            stop_unseen = true
        };
        if
        ::  !was_posted ->
            assert(!stop_queued);      // pushed twice, the stack would be a ring
            push(STOP_NODE)
        ::  else
        fi
    }
    finished++
}

// inbox::take(): all nodes, oldest first in `node`.
inline inbox_take() {
    node = EMPTY;
    if
    ::  head == EMPTY || head == ASLEEP    // the relaxed load; what comes after it is for the next time
    ::  else ->
        d_step {                       // the exchange, and reversed(): the nodes are the loop's now
            h = head;
            head = EMPTY;
            stop_queued = false;
            // Of the pushes that met this sleep exactly one was told; without a sleep, none.
            assert(told == (slept -> 1 : 0));
            told = 0;
            slept = false;
            do
            ::  h != EMPTY ->
                after = next[h];
                next[h] = node;
                node = h;
                h = after
            ::  else -> break
            od;
            after = 0
        }
    fi
}

// loop::take_inbox() and loop::take(). There the newest entries are turned round and queued in one
// go, after what is older: the same order, and only the loop sees it.
inline take_inbox() {
    inbox_take();
    do
    ::  node == EMPTY -> break
    ::  node == STOP_NODE ->
        d_step { after = next[node]; next[node] = 0 };     // read before the node is let go of
        stop_posted = false;           // the release store: the stopper may push it again from here
        d_step {
            stopping = true;
            stop_unseen = false;
            node = after;
            after = 0
        }
    ::  else ->
        d_step {                       // queue_entry()
            taken[(node - 1) / POSTS]++;
            assert(taken[(node - 1) / POSTS] == (node - 1) % POSTS + 1);    // once, and in order
            ready = true;
            after = next[node];
            next[node] = 0;            // (what is left behind would only make more states)
            node = after;
            after = 0
        }
    od
}

// inbox::rouse()
inline rouse() {
#ifdef ROUSE_WITHOUT_COMPARE
    if
    ::  head == ASLEEP -> head = EMPTY; slept = false
    ::  else
    fi
#else
    d_step {                           // compare_exchange
        if
        ::  head == ASLEEP -> head = EMPTY; slept = false; assert(told == 0)
        ::  else
        fi
    }
#endif
}

// loop::end_sleep(): where nobody has posted for long, pushes go on being told to wake the loop.
inline end_sleep() {
    if
    ::  rouse()
    ::  skip
    fi
}

// loop::spin(): looks at the inbox and at the kernel until there is something, or for long enough.
// The loop is awake: nobody is told to wake it.
inline spin() {
    rouse();
    do
    ::  head != EMPTY -> found = true; break           // inbox::empty()
    ::  atomic { io > 0 -> io--; found = true }; break
    ::  edge = false                   // a wake-up of an earlier sleep
    ::  break                          // the time is over
    od
}

inline park() {
#ifdef PARK_WITHOUT_COMPARE
    sleeps = head == EMPTY;
    if
    ::  sleeps -> d_step { head = ASLEEP; parked = true; slept = true }
    ::  else
    fi
#elif defined(SLEEP_AFTER_SPIN)
    sleeps = head == EMPTY;            // and says nothing: whoever pushes believes that it spins
    parked = sleeps
#else
    d_step {                           // the load, which only the loop could make wrong; compare_exchange
        sleeps = head == EMPTY || head == ASLEEP;
        if
        ::  sleeps -> head = ASLEEP; parked = true; slept = true
        ::  else
        fi
    }
#endif
}

// engine_->wait(). Edge-triggered: reporting the event of the eventfd ends it, nobody reads it.
inline wait() {
    if
    ::  sleeps ->
        if
        ::  atomic { edge -> edge = false; parked = false }
        ::  atomic { io > 0 -> io--; parked = false }      // the batch may be full without the edge
        ::  atomic { io > 0 && edge -> io--; edge = false; parked = false }
        ::  atomic {                   // nothing can end this wait any more
                finished == PRODUCERS + 1 && !edge && io == 0 ->
                for (i : 0 .. PRODUCERS - 1) {
                    assert(taken[i] == POSTS)
                }
                assert(!stop_unseen && !stop_posted && (head == ASLEEP || head == EMPTY));
                goto done
            }
        fi
    ::  else -> edge = false           // with a deadline that is past
    fi
}

active proctype event_loop() {
    byte h, node, after, i;
    bool sleeps, slept, stopping, ready, found;
    bool begins = true;
    for (i : 0 .. PRODUCERS - 1) {
        run producer(i)
    }
    i = 0;
    run stopper();
    do
    ::  if                             // run()
        ::  begins || !ready -> begins = false; take_inbox()
        ::  else                       // the turn will
        fi;
        if
        ::  stopping -> stopping = false; begins = true    // run() returns and is called again
        ::  else ->                    // turn()
            sleeps = false;
            if
            ::  ready                  // ask_kernel() with a deadline that is past
            ::  else ->
                if                     // harvest()
                ::  spin()
                ::  skip
                fi;
                if
                ::  found
                ::  else -> park()
                fi
            fi;
            if
            ::  found -> found = false
            ::  else -> wait(); end_sleep()
            fi;
            take_inbox();
            if                         // run_ready()
            ::  ready = false
            ::  ready                  // more than a batch, or stopped
            fi
        fi
    od;
done:
    skip
}

// Blocked for ever, unless a wake-up is lost.
active proctype monitor() {
end:
    atomic {
        parked && head != ASLEEP && head != EMPTY && !edge && writes_owed == 0 -> assert(false)
    }
}
