// The end of a poll_handle: orphan() and release() against a poller that has harvested already, against
// closures that are being called, against the queues of its pollsets, and against whoever gets the number of its
// fd next (poll_core: orphan, harvest, run_unowned, finish_orphan in src/pollset/poll_words.cpp and every_event.hpp, leave_all and
// claim_slot in memberships.cpp, run_next in pollset_work.cpp, core_lock::release in core_lock.cpp).
//
// The handle is in two pollsets; a closure waits for reading and one for writing. Worker 0 harvests and calls,
// worker 1 is of the other pollset and calls. The third thread orphans the handle, or the closure for reading does;
// then it makes another handle with the same number. All that happens under the lock of the domain is one step.
//
// Shown:
//   - each closure is called exactly once, with an event or with the end;
//   - `on_done` is called exactly once, after the last call has returned;
//   - nobody touches the handle after that;
//   - no event of the old handle comes to the new one.

#define READ 0
#define WRITE 1
#define NOTHING 0
#define OLD 1
#define NEW 2

// The old handle.
bool waiting[2] = true;                // words_
bool due[2];                           // due_
bool member[2] = true;                 // memberships_
bool queued[2];                        // in ready_ of its two pollsets
byte calls = 0;                        // calls_
bool orphaned = false;
bool has_fd = true;

// Its number.
byte slot = OLD;                       // poll_core::slots_[number]
byte generation = 1;
byte registered = 1;                   // the token that the kernel has
bool ready[2];                         // edges that it has not told yet
bool number_free = false;

// What only the properties need.
bool gone = false;                     // on_done was called, and has destroyed it
byte done = 0;
byte called[2];
bool new_had_an_edge = false;
bool orphan_was_called = false;        // or is about to be

#define TOUCH assert(!gone)
#define QUEUE queued[0] = queued[0] || member[0]; queued[1] = queued[1] || member[1]

inline make_due(c) { waiting[c] = false; due[c] = true; QUEUE }

// finish_orphan(), under the lock. Whoever finds it finished does the rest when the lock is free.
inline finish_orphan() {
    TOUCH;
    if
#ifdef DONE_WHILE_A_CALL_RUNS
    ::  orphaned && !due[READ] && !due[WRITE] -> finished = true
#else
    ::  orphaned && calls == 0 && !due[READ] && !due[WRITE] -> finished = true
#endif
    ::  else -> finished = false
    fi
}

// core_lock::release(): closes, then calls.
inline release() {
    if
    ::  finished ->
        d_step {
            number_free = number_free || has_fd;
            has_fd = false
        };
        d_step {
            done++;
            assert(done == 1 && calls == 0);
            gone = true;
            finished = false
        }
    ::  else
    fi
}

// A closure is called, outside the lock; calls_ counts it.
inline call(c) {
    d_step { TOUCH; called[c]++; assert(called[c] == 1) }
}

inline orphan() {
    d_step {
        TOUCH;
        assert(!orphaned);
        orphaned = true;
        // leave_all()
        queued[0] = false;
#ifndef LEFT_IN_A_QUEUE
        queued[1] = false;
#endif
        member[0] = false;
        member[1] = false;
        registered = NOTHING;          // EPOLL_CTL_DEL
        ready[READ] = false;
        ready[WRITE] = false;
        // end_waits()
        if :: waiting[READ] -> make_due(READ) :: else fi;
        if :: waiting[WRITE] -> make_due(WRITE) :: else fi;
        slot = NOTHING;                // free_slot()
        calls++
    };
    if
    ::  d_step { has_fd = false; number_free = true }      // release(): the fd goes to the caller
    ::  true
    fi;
    // run_unowned()
    do
    ::  atomic { due[READ] -> TOUCH; due[READ] = false; calls++ };
        call(READ);
        d_step { TOUCH; calls-- }
    ::  atomic { due[WRITE] -> TOUCH; due[WRITE] = false; calls++ };
        call(WRITE);
        d_step { TOUCH; calls-- }
    ::  atomic { !due[READ] && !due[WRITE] -> TOUCH; calls--; finish_orphan(); break }
    od;
    release()
}

// The closures are called once and not armed again; that for reading may orphan its handle.
inline run_next(p) {
    atomic {
        queued[p] ->
        TOUCH;
        assert(due[READ] || due[WRITE]);
        if
        ::  due[READ] -> c = READ
        ::  !due[READ] -> c = WRITE
        fi;
        due[c] = false;
        if
        ::  !due[READ] && !due[WRITE] -> queued[0] = false; queued[1] = false
        ::  else
        fi;
        calls++
    };
    call(c);
    if
    ::  atomic { c == READ && !orphan_was_called -> orphan_was_called = true };
        orphan()
    ::  true
    fi;
    atomic { TOUCH; calls--; c = 0; finish_orphan() };
    release()
}

// harvest(): what a poller brought, for whoever has that number and that generation.
inline harvest() {
    atomic {
        if
        ::  slot == NOTHING            // spurious
#ifndef NO_GENERATION
        ::  slot != NOTHING && generation != token
#endif
        ::  else ->
            if
            ::  slot == NEW -> assert(new_had_an_edge)
            ::  slot == OLD ->
                TOUCH;
                if :: got_read && waiting[READ] -> make_due(READ) :: else fi;
                if :: got_write && waiting[WRITE] -> make_due(WRITE) :: else fi
            fi
        fi;
        token = 0; got_read = false; got_write = false
    }
}

active proctype worker_0() {
    byte c;
    byte token;
    bool got_read, got_write, finished;
end_idle:
    do
    ::  atomic {                       // poller::wait()
            registered != NOTHING && (ready[READ] || ready[WRITE]) ->
            token = registered;
            got_read = ready[READ]; got_write = ready[WRITE];
            ready[READ] = false; ready[WRITE] = false
        };
        harvest()
    ::  run_next(0)
    od
}

active proctype worker_1() {
    byte c;
    bool finished;
end_idle:
    do
    ::  run_next(1)
    od
}

active proctype third() {
    bool finished;
    if
    ::  atomic { !orphan_was_called -> orphan_was_called = true };
        orphan()
    ::  orphan_was_called
    fi;
    number_free;
    d_step {                           // claim_slot(), and the kernel is told
        assert(slot == NOTHING && registered == NOTHING);
        generation++;
        slot = NEW;
        registered = generation
    }
}

active proctype peer() {
    byte i;
    for (i : 0 .. 2) {
        if
        ::  d_step { registered != NOTHING -> ready[READ] = true; new_had_an_edge = registered == 2 }
        ::  d_step { registered != NOTHING -> ready[WRITE] = true; new_had_an_edge = registered == 2 }
        ::  true
        fi
    }
}

init {
    timeout;                           // nothing moves any more
    assert(done == 1 && gone && calls == 0);
    assert(called[READ] == 1 && called[WRITE] == 1);
    assert(slot == NEW && !queued[0] && !queued[1])
}
