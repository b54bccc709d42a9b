// A wait for one event of a poll_handle as a sender: include/eddy/pollset/sender.hpp.
//
// Three threads: one starts it, one calls the closure when the event has come, one asks to stop. The
// calls of the handle (notify_on, cancel, taking a closure that is due) are under its domain's lock,
// so each is one step here. Who completes the operation destroys it: `gone`.
//
// Checked: it completes exactly once; nobody touches it afterwards; nobody waits for ever.

#define STARTED 1
#define STOP 2
#define DONE 4

byte state = 0;
bool waiting = false;  /* in the word of the handle */
bool armed = false;    /* the stop callback */
bool calling = false;  /* it is being called */
bool gone = false;
byte completions = 0;

#define touch() assert(!gone)

inline complete() {
    completions++;
    gone = true
}

/* On another thread than that of the callback. */
inline finish() {
    touch();
    atomic { !calling -> armed = false };
    complete()
}

inline cancel(took) {
    atomic { took = waiting; waiting = false }
}

proctype starter() {
    bool took = false;
    bool tried = false;
    byte seen;
    armed = true;
    waiting = true; /* notify_on */
#ifdef BREAK_ORDER
    atomic { seen = state; state = state | STARTED };
    if
    :: (seen & DONE) != 0 -> finish()
    :: (seen & DONE) == 0 && (seen & STOP) != 0 ->
        touch();
        cancel(took);
        if
        :: took -> finish()
        :: else
        fi
    :: else
    fi
#else
    touch();
    seen = state;
    do
    :: (seen & DONE) != 0 ->
        finish();
        break
    :: (seen & DONE) == 0 && (seen & STOP) != 0 && !tried ->
        tried = true;
        touch();
        cancel(took);
        if
        :: took ->
            finish();
            break
        :: else
        fi
    :: (seen & DONE) == 0 && ((seen & STOP) == 0 || tried) ->
        touch();
        atomic {
            if
            :: state == seen ->
                state = state | STARTED;
                break
            :: else -> seen = state
            fi
        }
    od
#endif
}

proctype worker() {
    bool took = false;
    byte before;
    do
    :: completions == 0 && waiting ->
        cancel(took); /* the event takes the closure out of its word */
        if
        :: took ->
            touch();
            atomic { before = state; state = state | DONE };
            if
#ifdef BREAK_START
            :: true -> finish()
#else
            :: (before & STARTED) != 0 -> finish()
            :: else
#endif
            fi
        :: else
        fi
    :: completions != 0 -> break
    od
}

proctype stopper() {
    bool took = false;
    byte before;
    bool called = false;
    atomic {
        if
        :: armed ->
            calling = true;
            called = true
        :: else /* it comes too early, or too late */
        fi
    };
    if
    :: called ->
        touch();
        atomic { before = state; state = state | STOP };
        if
        :: (before & STARTED) != 0 ->
            touch();
            cancel(took);
            if
            :: took ->
                touch();
                armed = false; /* inside its own call: does not wait */
                complete()
            :: else
            fi
        :: else
        fi;
        calling = false
    :: else
    fi
}

init {
    atomic {
        run starter();
        run worker();
        run stopper()
    };
    _nr_pr == 1;
    assert(completions == 1)
}
