// What the loops of a process share about SIGCHLD and about children: child_table and
// child_listener (src/os/child_table.cpp), child_source::parts::on_ready() and look_now(),
// signal_source::slot::read_record(), and process_registry::begin_spawn(), end_spawn() and
// reap_unwatched().
//
// Loop A spawns the child X, whose end its handle has to get, and waits for a stop of the child Z.
// Loop B waits for the end of any child that nobody watches. Loop S has SIGCHLD as a signal. Other
// code has forked the child Y. SIGCHLD is one bit in the kernel, and who reads it takes it from the
// others. What is done under a lock is one step. How a notice travels is the matter of inbox.pml;
// here it is a bit.
//
// Shown:
//   - nobody sleeps while something has happened that nobody has told him: in the end the stop of
//     Z, the end of Y and the end of X are known to who waits for them, each once;
//   - B never takes the end of X away, though X may end before A could say that X is its own;
//   - S gets the signal, whoever has read it.

#define A 0
#define B 1
#define S 2

bool signal = false;                   // SIGCHLD is pending in the kernel
bool told[3];                          // child_listener::told_, and the entry is on its way
bool kept = false;                     // child_table::kept_
byte spawning = 0;                     // process_registry::spawning_
bool put_off = false;                  // process_registry::put_off_

bool x_dead = false;                   // a zombie, and its pidfd is readable
bool x_exists = false;
bool x_known = false;                  // it is in the registry
bool x_reaped = false;
bool x_kept = false;                   // process_state::kept_end_
bool y_dead = false;
bool y_reaped = false;
bool z_stopped = false;                // the kernel has a stop to tell

// What was told to those who wait.
byte x_seen = 0;
byte y_seen = 0;
byte z_seen = 0;
bool s_got = false;

active proctype y_ends() { atomic { y_dead = true; signal = true } }
active proctype z_stops() { atomic { z_stopped = true; signal = true } }
active proctype x_ends() { atomic { x_exists -> x_dead = true; signal = true } }

// child_table::read(), read_as_signal(): told by `by`.
inline tell_others(by) {
    d_step {
#ifndef TELLS_NOBODY
        told[A] = told[A] || by != A;
        told[B] = told[B] || by != B;
        told[S] = told[S] || by != S
#else
        skip
#endif
    }
}

inline look_of_a() {
    atomic {
        if
        ::  z_stopped -> z_stopped = false; z_seen++
        ::  else
        fi
    }
}

// process_registry::reap_unwatched(). X is the older child: it is found first.
inline look_of_b() {
    atomic {
        if
        ::  x_dead && !x_reaped && x_known -> x_reaped = true; x_kept = true
        ::  else
        fi;
        if
#ifndef SPAWNS_UNSEEN
        ::  x_dead && !x_reaped && spawning != 0 -> put_off = true
#endif
        ::  x_dead && !x_reaped && !x_known && spawning == 0 ->
            assert(false)              // B has taken the end of X
        ::  else ->
            if
            ::  y_dead && !y_reaped -> y_reaped = true; y_seen++
            ::  else
            fi
        fi
    }
}

active proctype loop_a() {
    byte once = 0;
    look_of_a();
end_waits:
    do
#ifdef LOOKS_FIRST
    ::  signal -> look_of_a(); atomic { signal = false; kept = true }; tell_others(A)
#else
    ::  atomic { signal -> signal = false };
        atomic { kept = true; tell_others(A) };
        look_of_a()
#endif
    ::  told[A] -> told[A] = false; look_of_a()
    ::  once == 0 ->
        once = 1;
#ifndef SPAWNS_UNSEEN
        spawning++;                    // begin_spawn()
#endif
        x_exists = true;
        x_known = true;
#ifndef SPAWNS_UNSEEN
        atomic {                       // end_spawn()
            spawning--;
            if
            ::  put_off -> put_off = false; told[A] = true; told[B] = true; told[S] = true
            ::  else
            fi
        }
#endif
    ::  once == 1 && x_known && x_dead ->
        once = 2;
        atomic {                       // process_state::settle_child()
            assert(!x_reaped || x_kept);
            x_reaped = true;
            x_seen++
        }
    od
}

active proctype loop_b() {
    look_of_b();
end_waits:
    do
    ::  atomic { signal -> signal = false };
        atomic { kept = true; tell_others(B) };
        look_of_b()
    ::  told[B] -> told[B] = false; look_of_b()
    od
}

active proctype loop_s() {
end_waits:
    do
    ::  atomic { signal -> signal = false };
        tell_others(S);
        s_got = true
    ::  told[S] -> told[S] = false;
        atomic {
            if
            ::  kept -> kept = false; s_got = true
            ::  else
            fi
        }
    od
}

active proctype nothing_happens_any_more() {
    timeout ->
    assert(x_seen == 1 && y_seen == 1 && z_seen == 1);
    assert(s_got)
}
