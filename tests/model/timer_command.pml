// A timer that other threads set, move and cancel: loop::command(), take(), apply(), due() and
// dispatch() (src/loop/loop_timers.cpp, src/loop/loop_work.cpp).
//
// The wanted deadline stands in timer::wanted_ns_; whoever moves it away from `no_command` pushes
// the timer's one command node. What happens inside the inbox is the matter of inbox.pml; here it is
// a place for one node, out of which the loop takes it some time after the push.
//
// Thread A sets the timer twice; thread B sets it once and cancels it. Two ways of using it:
//   ordered    B cancels when A's commands have returned; on_cancel frees the timer.
//   unordered  B cancels whenever it likes; the timer is freed when both threads are done, too.
//
// Shown:
//   - the node is never pushed while it is in the inbox or in the loop's hands;
//   - what one thread wanted later is never overtaken by what it wanted earlier;
//   - a cancel is never overwritten: on_cancel comes, and comes once;
//   - ordered: nobody touches the timer once on_cancel was called, and it leaves nothing behind.

#define NO_COMMAND 0
#define CANCEL 1                       // timer::cancel_command
#define FIRST_OF_A 2
#define SECOND_OF_A 3
#define FIRST_OF_B 4

byte wanted = NO_COMMAND;              // timer::wanted_ns_
bool in_inbox = false;                 // timer::command_ is linked there
bool in_hand = false;                  // the loop has taken it out and not let go of it yet
bool in_heap = false;                  // timer::node_.armed()
bool queued = false;                   // in the ready queue
bool cancelling = false;               // timer::cancelling_

// What only the properties need.
bool ordered;
bool a_done = false;
bool b_done = false;
bool freed = false;
bool second_of_a_applied = false;
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
    !ordered || a_done;
    command(CANCEL);
    b_done = true
}

// loop::apply(). Only the loop touches this; one step.
inline apply(value) {
    d_step {
        TOUCH;
        assert(value != FIRST_OF_A || !second_of_a_applied);
        second_of_a_applied = second_of_a_applied || value == SECOND_OF_A;
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

active proctype event_loop() {
    byte value;
    if
    ::  ordered = true
    ::  ordered = false
    fi;
    run thread_a();
    run thread_b();
    do
    ::  in_inbox ->
        d_step { in_inbox = false; in_hand = true };       // take_inbox(): linked out
        d_step {                       // take(): the exchange lets go of the node
            TOUCH;
            value = wanted;
            wanted = NO_COMMAND;
            in_hand = false
        };
        apply(value);
        value = 0
    ::  d_step { in_heap && !queued -> in_heap = false; queued = true }       // expire_timers(), due()
    ::  atomic {                       // dispatch()
            queued ->
            TOUCH;
            queued = false;
            if
            ::  cancelling ->
                cancelling = false;
                in_heap = false;
                cancelled++;
                if
                ::  ordered ->         // ~timer()
                    assert(wanted == NO_COMMAND && !in_inbox && !in_hand);
                    freed = true
                ::  else
                fi
            ::  else                   // on_run
            fi
        }
    ::  atomic {                       // nothing can happen any more
            a_done && b_done && !in_inbox && !in_heap && !queued ->
            assert(cancelled == 1 && wanted == NO_COMMAND && !cancelling);
            break
        }
    od
}
