// A coroutine that awaits senders: await_state, await_receiver and sender_awaitable
// (include/eddy/ex/as_awaitable.hpp).
//
// The coroutine awaits ROUNDS senders one after the other. Each completes inside start(), or on
// another thread at any time; with a value, or stopped, which ends the coroutine. Where the coroutine
// goes on, on the thread that called await_suspend() or on the one that completes, is decided by
// exchanges of `progress`.
//
// Shown:
//   - the coroutine goes on exactly once for each await, and never on two threads;
//   - it finds the result when it goes on;
//   - a completion inside start() resumes nobody, so that the stack does not grow;
//   - nobody touches the state of an await, which is in the coroutine's frame, after it went on.
//
// Not shown: memory orders.

#define ROUNDS 3

#define STARTING 0
#define SUSPENDED 1
#define COMPLETED 2

byte progress[ROUNDS];                 // await_state::progress_, one for each await
bool has_value[ROUNDS];                // await_state::result_
bool is_complete[ROUNDS];              // ... was written, if only with a stop

// What only the properties need.
bool alive[ROUNDS];                    // the state is in the frame
bool goes_on = false;                  // the coroutine is being run
byte ended = 0;                        // it returned, or was stopped

#define TOUCH(i) assert(alive[i])

// await_receiver::set_value() and set_stopped(): `resumes`: this thread has to resume it.
inline complete(i) {
    atomic {
        TOUCH(i);
        if
        ::  has_value[i] = true
        ::  true                       // stopped
        fi;
        is_complete[i] = true
    };
#ifdef COMPLETE_WITHOUT_EXCHANGE
    d_step { TOUCH(i); before = progress[i] };
    d_step { TOUCH(i); progress[i] = COMPLETED };
#else
    d_step { TOUCH(i); before = progress[i]; progress[i] = COMPLETED };
#endif
    resumes = before == SUSPENDED
}

// await_resume() and what follows it, up to the next await; or unhandled_stopped().
inline go_on(i) {
    atomic {
        TOUCH(i);
        assert(!goes_on && is_complete[i]);
        goes_on = true
    };
    atomic {
        goes_on = false;
        alive[i] = false;
        if
        ::  has_value[i] && i + 1 < ROUNDS -> run await_suspend(i + 1)
        ::  else -> ended++; assert(ended == 1)
        fi
    }
}

proctype completer(byte i) {
    byte before;
    bool resumes;
    complete(i);
    if
    ::  resumes -> go_on(i)
    ::  else
    fi
}

proctype await_suspend(byte i) {
    byte before;
    bool resumes, suspended;
    alive[i] = true;
    if                                 // start()
    ::  complete(i); assert(!resumes)
    ::  run completer(i)
    fi;
    d_step { TOUCH(i); before = progress[i] };             // suspend(): the load
    if
    ::  before == COMPLETED -> suspended = false
    ::  else ->
        d_step {                       // and the exchange
            TOUCH(i);
            before = progress[i];
            progress[i] = SUSPENDED;
            suspended = before != COMPLETED
        }
    fi;
#ifdef STATE_IS_READ_AFTER_SUSPENDING
    TOUCH(i);                          // stopped()
#endif
    if
    ::  suspended                      // it may run elsewhere, or be gone
    ::  else -> TOUCH(i); go_on(i)
    fi
}

init {
    run await_suspend(0);
    ended == 1                         // else it was forgotten: nothing can happen any more
}
