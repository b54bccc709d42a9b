// The three words of a poll_handle together: for reading, for writing and for errors (poll_core: notify_on, cancel,
// harvest, happened, end_waits in src/pollset/poll_words.cpp and every_event.hpp). What one word does by itself is in pollset_word.pml.
//
// The first thread arms them in any order, each again when its closure was called. The second is a worker: it harvests
// and calls what is due. The third takes one wait back, and shuts down. The peer writes, reads, and breaks the
// connection, which the kernel tells as an error. All that happens under the lock of the domain is one step; what was
// harvested and not looked at yet is in the worker's hand.
//
// Shown:
//   - what is armed is called once or cancelled once, with each word for itself;
//   - when nothing moves any more, nobody waits for what has happened: an error is told to all who wait, and so is a
//     shutdown;
//   - nobody is told of what happened for another word.
// cc: -O2

#define READ 0
#define WRITE 1
#define ERROR 2
#define WORDS 3
#define ROUNDS(k) (1 + ((k) == READ))   // how often it is armed

bool waiting[WORDS];                   // poll_handle::words_: a closure waits
bool latched[WORDS];
bool guarded[WORDS] = true;            // at rest it is not quiet
bool shut_down = false;
bool due[WORDS];                       // poll_handle::due_
bool due_error[WORDS];                 // closure::error_

bool edge[WORDS];                      // in the kernel: EPOLLIN, EPOLLOUT, EPOLLERR

// What only the properties need.
byte armed[WORDS];
byte calls[WORDS];
byte cancellations[WORDS];
byte events[WORDS];                    // that concern it
byte told[WORDS];                      // calls without an error
bool unseen[WORDS];                    // something happened for it, and no call followed yet
bool shutdown_was_called = false;

#define OVER(k) (calls[k] + cancellations[k] == armed[k])

inline make_due(k, with_error) {
    assert(waiting[k] && !due[k]);
    waiting[k] = false;
    due[k] = true;
    due_error[k] = with_error
}

inline happened(k) {
    if
    ::  waiting[k] -> make_due(k, false)
#ifdef ONE_LATCH
    ::  else -> latched[READ] = true
#else
    ::  else -> latched[k] = true
#endif
    fi
}

#ifdef ONE_LATCH
#define LATCH READ
#else
#define LATCH k
#endif

// First without the lock, which it takes if the word is not quiet.
inline notify_on(k) {
    d_step {
        assert(!waiting[k] && !due[k]);
        armed[k]++;
        if
        ::  !latched[LATCH] && !guarded[k] -> waiting[k] = true
        ::  else -> asks = true
        fi
    };
    d_step {
        if
        ::  !asks
        ::  else ->
            asks = false;
            waiting[k] = true;
            if
            ::  shut_down -> make_due(k, true)
            ::  !shut_down && latched[LATCH] -> latched[LATCH] = false; make_due(k, false)
            ::  else -> guarded[k] = false
            fi
        fi
    }
}

active proctype owner() {
    bool asks;
end_armed:
    do
    ::  armed[READ] < ROUNDS(READ) && OVER(READ) -> notify_on(READ)
    ::  armed[WRITE] < ROUNDS(WRITE) && OVER(WRITE) -> notify_on(WRITE)
    ::  armed[ERROR] < ROUNDS(ERROR) && OVER(ERROR) -> notify_on(ERROR)
    od
}

inline call(k) {
    atomic { due[k] -> due[k] = false; with_error = due_error[k]; due_error[k] = false };
    d_step {
        calls[k]++;
        assert(calls[k] + cancellations[k] == armed[k]);
        told[k] = told[k] + (1 - with_error);
        assert(told[k] <= events[k]);
        unseen[k] = false;             // it reads, or writes, until there is no more
        with_error = false
    }
}

active proctype worker() {
    bool got_read, got_write, got_error, with_error;
end_idle:
    do
    ::  atomic {
            edge[READ] || edge[WRITE] || edge[ERROR] ->
            got_read = edge[READ]; got_write = edge[WRITE]; got_error = edge[ERROR];
            edge[READ] = false; edge[WRITE] = false; edge[ERROR] = false
        };
        d_step {                       // harvest()
#ifdef ERRORS_ARE_FOR_ONE_WORD
            if :: got_read -> happened(READ) :: else fi;
            if :: got_write -> happened(WRITE) :: else fi;
#else
            if :: got_read || got_error -> happened(READ) :: else fi;
            if :: got_write || got_error -> happened(WRITE) :: else fi;
#endif
            if :: got_error -> happened(ERROR) :: else fi;
            got_read = false; got_write = false; got_error = false
        }
    ::  call(READ)
    ::  call(WRITE)
    ::  call(ERROR)
    od
}

inline cancel(k) {
    if
    ::  waiting[k] -> waiting[k] = false; cancellations[k]++
    ::  else                           // it is told that it will be called
    fi
}

// end_waits(), for one word.
inline end_wait(k) {
    guarded[k] = true;
    if
    ::  waiting[k] -> make_due(k, true)
    ::  else
    fi
}

active proctype third() {
    if
    ::  d_step { cancel(READ) }
    ::  d_step { cancel(WRITE) }
    ::  d_step { cancel(ERROR) }
    ::  true
    fi;
    if
    ::  d_step {
            shut_down = true;
            end_wait(READ);
            end_wait(WRITE);
#ifndef SHUTDOWN_FORGETS_A_WORD
            end_wait(ERROR);
#endif
            shutdown_was_called = true
        }
    ::  true
    fi
}

#define ARRIVES(k) events[k]++; unseen[k] = true

// The other end, and the kernel's buffers: each of them at most once, and input twice.
active proctype peer() {
    byte reads = 0;
    bool written, broken;
    do
    ::  d_step { reads < 2 -> reads++; edge[READ] = true; ARRIVES(READ) }
    ::  d_step { !written -> written = true; edge[WRITE] = true; ARRIVES(WRITE) }
    ::  d_step { !broken ->
            broken = true; edge[ERROR] = true; ARRIVES(READ); ARRIVES(WRITE); ARRIVES(ERROR) }
    ::  break
    od
}

init {
    byte k;
    timeout;                           // nothing moves any more
    for (k : 0 .. WORDS - 1) {
        assert(!due[k] && !edge[k]);
        assert(calls[k] + cancellations[k] + waiting[k] == armed[k]);
        assert(!waiting[k] || (!unseen[k] && !shutdown_was_called))
    }
}
