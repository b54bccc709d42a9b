// An I/O operation that one thread starts, another asks to stop, and a loop performs: stoppable_io
// (src/loop/stoppable_io.cpp) under io_state (include/eddy/io/io_sender.hpp).
//
// Starting and stopping push a node each into the inbox, out of which the loop takes them in that
// order; what happens inside is the matter of inbox.pml. The stop source is that of stop_source.pml:
// here it calls the callback, inside its registration if the request came before; and taking the
// callback back waits for a call that is going on.
//
// The operation is destroyed by its completion; or, if its owner likes, on the loop's thread as soon
// as start() has returned.
//
// Shown:
//   - it completes exactly once, or never if it was destroyed before;
//   - none of its nodes is in the inbox when it is destroyed, and nobody touches it afterwards;
//   - a stop that came before the start is not lost: it ends stopped.

#define START 1                        // the operation's own node
#define STOP 2                         // stoppable_io::stop_

#define IDLE 0                         // io_operation::phase
#define POSTED 1
#define PENDING 2
#define READY 3                        // there is a result: in the ready queue

chan inbox = [4] of { byte };
byte phase = IDLE;
bool wanted_end = false;               // end_reason::canceled
bool stop_posted = false;              // stoppable_io::stop_posted_
bool stopped = false;                  // the result: operation_canceled

// The stop source.
bool requested = false;
bool registered = false;
bool calling = false;                  // another thread is inside the callback

// What only the properties need.
bool started = false;                  // start() has returned
bool stop_pushed = false;
bool stop_first = false;               // the stop was pushed before the start
bool destroyed = false;
byte completions = 0;

#define TOUCH assert(!destroyed)

// stoppable_io::request_stop(), on a thread that is not the loop's.
inline request_stop() {
    d_step { TOUCH; stop_posted = true };
    d_step { TOUCH; inbox!STOP; stop_pushed = true }
}

// stop_callback::arm().
inline arm() {
    if
    ::  atomic { requested -> TOUCH; skip };
        request_stop()
    ::  atomic { !requested -> TOUCH; registered = true }
    fi
}

// stop_callback::disarm(), on the loop's thread.
inline disarm() {
    d_step { TOUCH; registered = false };
#ifndef DISARM_DOES_NOT_WAIT
    !calling;
#endif
    skip
}

proctype starter() {
    d_step { wanted_end = false; phase = POSTED };         // prepare()
#ifndef ARM_LAST
    arm();
#endif
    d_step { TOUCH; stop_first = stop_pushed; inbox!START };     // start_elsewhere()
#ifdef ARM_LAST
    arm();
#endif
    started = true
}

proctype stopper() {
    if
    ::  atomic { registered -> requested = true; registered = false; calling = true };
        request_stop();
        calling = false
    ::  atomic { !registered -> requested = true }
    fi
}

// loop::cancel().
inline cancel() {
    d_step {
        if
#ifndef CANCEL_ONLY_WHAT_IS_PENDING
        ::  phase == POSTED -> wanted_end = true           // begin() sees it
#endif
        ::  phase == PENDING -> stopped = true; phase = READY
        ::  else
        fi
    }
}

// loop::take(), of the oldest node.
inline take() {
    inbox?node;
    TOUCH;
    if
    ::  node == START ->
        d_step {                       // loop::begin()
            if
            ::  wanted_end -> stopped = true; phase = READY
            ::  else -> phase = PENDING
            fi
        }
    ::  node == STOP ->                // stop_taken()
        stop_posted = false;
        cancel()
    fi;
    node = 0
}

inline take_inbox() {
    do
    ::  nempty(inbox) -> take()
    ::  empty(inbox) -> break
    od
}

inline destroy() {
    d_step {
        assert(empty(inbox) && !stop_posted && !calling);
        destroyed = true
    }
}

// io_state::on_complete().
inline complete() {
    phase = IDLE;
    disarm();
#ifndef STOP_IS_NOT_OVER
    if                                 // stop_is_over()
    ::  stop_posted -> take_inbox()
    ::  else
    fi;
#endif
    skip;
    d_step {
        completions++;
        assert(completions == 1 && phase == IDLE);
        assert(!stop_first || stopped)
    };
    destroy()
}

// ~io_state(), ~stoppable_io().
inline abandon() {
    disarm();
    if
    ::  phase != IDLE || stop_posted ->
        take_inbox();
        phase = IDLE
    ::  else
    fi;
    skip;
    destroy()
}

active proctype event_loop() {
    byte node;
    run starter();
    run stopper();
    do
    ::  !destroyed && nempty(inbox) -> take()
    ::  d_step { !destroyed && phase == PENDING -> phase = READY }            // the kernel has done it
    ::  !destroyed && phase == READY -> complete()
    ::  !destroyed && started -> abandon()
    ::  destroyed -> break
    od
}
