// A timer that other threads set, move and cancel: loop::command(), take(), apply(), due() and
// dispatch() (src/loop/loop_timers.cpp, src/loop/loop_work.cpp), and loop::post_at() on the loop's
// own thread (include/eddy/loop/loop.hpp).
//
// The wanted deadline stands in timer::wanted_ns_; whoever moves it away from `no_command` pushes
// the timer's one command node. What happens inside the inbox is the matter of inbox.pml; here it is
// a place for one node, out of which the loop takes it some time after the push.
//
// Threads A and B set the timer, and it is cancelled. Four ways of using it:
//   B_CANCELS_LAST    when A's commands have returned; on_cancel frees the timer.
//   B_CANCELS         whenever it likes; the timer is freed when both threads are done, too.
//   LOOP_CANCELS      on the loop's thread, when the commands of both have returned, though the
//                     loop may not have seen them; on_cancel frees the timer.
//   LOOP_SETS         the same, but before it cancels the loop's thread sets it.
//
// Shown:
//   - the node is never pushed while it is in the inbox or in the loop's hands;
//   - what one thread wanted later is never overtaken by what it wanted earlier, nor what the loop's
//     thread wants by what others had told before;
//   - a cancel is never overwritten: on_cancel comes, and comes once;
//   - nobody touches a timer that its on_cancel has freed, and it leaves nothing in the inbox.

#define NO_COMMAND 0
#define CANCEL 1                       // timer::cancel_command
#define FIRST_OF_A 2
#define SECOND_OF_A 3
#define FIRST_OF_B 4
#define OF_LOOP 5

#define B_CANCELS_LAST 1
#define B_CANCELS 2
#define LOOP_CANCELS 3
#define LOOP_SETS 4

byte wanted = NO_COMMAND;              // timer::wanted_ns_
bool in_inbox = false;                 // timer::command_ is linked there
bool in_hand = false;                  // the loop has taken it out and not let go of it yet
bool in_heap = false;                  // timer::node_.armed()
bool queued = false;                   // in the ready queue
bool cancelling = false;               // timer::cancelling_

// What only the properties need.
byte usage;
bool a_done = false;
bool b_done = false;
bool freed = false;
bool second_of_a_applied = false;
bool of_loop_applied = false;
byte cancelled = 0;                    // calls of on_cancel

#define TOUCH assert(!freed)

// loop::command(), from a thread that is not the loop's.
inline command(value) {
    d_step { TOUCH; before = wanted };                     // the first load
    do
#ifndef OVERWRITE_CANCEL
    ::  before == CANCEL -> break
    ::  before != CANCEL ->
#else
    ::  true ->
#endif
        atomic {                       // compare_exchange
            TOUCH;
            if
            ::  wanted == before ->
                wanted = value;
                mine = before == NO_COMMAND;
                break
            ::  else -> before = wanted
            fi
        }
    od;
#ifdef PUSH_ALWAYS
    mine = true;
#endif
    if
    ::  mine ->
        d_step {                       // inbox_.push(); the wake-up is the loop's, not the timer's
            TOUCH;
            assert(!in_inbox && !in_hand);
            in_inbox = true;
            mine = false
        }
    ::  else
    fi
}

proctype thread_a() {
    byte before;
    bool mine = false;
    command(FIRST_OF_A);
    command(SECOND_OF_A);
    a_done = true
}

proctype thread_b() {
    byte before;
    bool mine = false;
    command(FIRST_OF_B);
    if
    ::  usage >= LOOP_CANCELS
    ::  usage == B_CANCELS -> command(CANCEL)
    ::  usage == B_CANCELS_LAST && a_done -> command(CANCEL)
    fi;
    b_done = true
}

// loop::apply(). Only the loop touches this; one step.
inline apply(value) {
    d_step {
        TOUCH;
        assert(value != FIRST_OF_A || !second_of_a_applied);
        second_of_a_applied = second_of_a_applied || value == SECOND_OF_A;
        assert(!of_loop_applied || value == CANCEL || value == NO_COMMAND);
        of_loop_applied = of_loop_applied || value == OF_LOOP;
        if
        ::  cancelling || value == NO_COMMAND
        ::  else ->
            if
            ::  value == CANCEL -> cancelling = true; queued = true
            ::  else -> queued = false; in_heap = true     // erased from the ready queue; moved
            fi
        fi
    }
}

// loop::take(), of the node that is in the inbox.
inline take() {
    d_step { in_inbox = false; in_hand = true };           // take_inbox(): linked out
    d_step {                           // the exchange lets go of the node
        TOUCH;
        value = wanted;
        wanted = NO_COMMAND;
        in_hand = false
    };
    apply(value);
    value = 0
}

// loop::dispatch(timer&). A timer whose node is not back yet waits for it.
inline dispatch() {
    d_step { TOUCH; queued = false };                      // ready_.pop()
    if
    ::  !cancelling                    // on_run
    ::  cancelling ->
#ifndef CANCEL_AT_ONCE
        if                             // away_from_inbox()
        ::  wanted != NO_COMMAND && in_inbox -> take()
        ::  else
        fi;
#endif
        atomic {
            if
#ifndef CANCEL_AT_ONCE
            ::  wanted != NO_COMMAND -> queued = true      // ready_.push()
#endif
            ::  else ->                // on_cancel
                cancelling = false;
                in_heap = false;
                cancelled++;
                if
                ::  usage == B_CANCELS
                ::  else ->            // ~timer()
                    assert(wanted == NO_COMMAND && !in_inbox && !in_hand);
                    freed = true
                fi
            fi
        }
    fi
}

// loop::post_at() on the thread: an inbox that is empty has nothing of this timer either, though
// somebody may be about to push.
inline set_here() {
#ifndef SET_AT_ONCE
    if
    ::  in_inbox && wanted != NO_COMMAND -> take()         // away_from_inbox()
    ::  else                                               // nothing_told()
    fi;
#endif
    apply(OF_LOOP)
}

active proctype event_loop() {
    byte value;
    bool set = false;                  // the loop's thread has set it
    bool asked = false;                // the loop's thread has cancelled it
    select(usage : B_CANCELS_LAST .. LOOP_SETS);
    run thread_a();
    run thread_b();
    do
    ::  in_inbox -> take()
    ::  d_step { in_heap && !queued -> in_heap = false; queued = true }       // expire_timers(), due()
    ::  queued -> dispatch()
    ::  usage == LOOP_SETS && a_done && b_done && !set ->
        set = true;
        set_here()
    ::  usage >= LOOP_CANCELS && a_done && b_done && !asked && (set || usage != LOOP_SETS) ->
        asked = true;                  // command() on the thread
        apply(CANCEL)
    ::  atomic {                       // nothing can happen any more
            a_done && b_done && (asked || usage < LOOP_CANCELS) && !in_inbox && !in_heap && !queued ->
            assert(cancelled == 1 && wanted == NO_COMMAND && !cancelling);
            break
        }
    od
}
