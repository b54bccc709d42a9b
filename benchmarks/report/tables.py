# SPDX-License-Identifier: Apache-2.0
"""The tables of each suite: which values stand where, and under which titles."""
import dataclasses

ECHO_CPU = "server_cpu_ns_per_request"
POLLSET_CPU = "cpu_ns_per_event"


@dataclasses.dataclass(frozen=True)
class Column:
    """The values of one metric and, if `ratios`, their ratios to the reference and the spread of these."""
    title: str
    case: str
    metric: str
    unit: str
    ratios: bool = True
    panel: str = ""  # the title of its panel in the picture of all ratios; empty: none
    more_is_better: bool = False


@dataclasses.dataclass(frozen=True)
class Table:
    suite: str
    title: str
    columns: list
    note: str = ""  # a metric in words, listed below the table
    note_title: str = ""


def _connections(n):
    return f"{n} connection" + ("s" if n > 1 else "")


def _echo_burst():
    for pipeline in (1, 16):
        for size, words in ((64, "64 B"), (4096, "4 KiB")):
            yield Table("echo", f"echo, {words}{', 16 pipelined' if pipeline > 1 else ''}: "
                        "server CPU per request, burst mode",
                        [Column(_connections(n), f"{n}x{size}Bx{pipeline}", ECHO_CPU, "ns", panel=_connections(n))
                         for n in (1, 50, 500)])


def _echo_counts():
    counts = (("syscalls_per_request", "syscalls", "syscalls"), ("allocations_per_request", "allocs", ""),
              ("user_instructions_per_request", "instr.", "user-space instructions"))
    yield Table("echo", "echo, 64 B: counts per request (instructions in user space)",
                [Column(_connections(n) if i == 0 else "", f"{n}x64Bx1", metric, unit, ratios=False,
                        panel=panel if n == 50 else "")
                 for n in (1, 50) for i, (metric, unit, panel) in enumerate(counts)])


def _echo_two_core():
    metrics = (("requests_per_s", "req/s"), ("latency_p50_us", "p50 us"), ("latency_p99_us", "p99 us"))
    yield Table("echo", "echo, 64 B: client and server on two cores (informative)",
                [Column(_connections(n) if i == 0 else "", f"{n}x64Bx1", metric, unit, ratios=False)
                 for n in (1, 50, 500) for i, (metric, unit) in enumerate(metrics)])


def _spin():
    yield Table("spin", "echo, 64 B, 1 connection, client and server on two cores: servers that block, and that "
                "spin before", [
                    column for case in ("client_spins", "client_blocks") for column in (
                        Column(case.replace("_", " "), case, "requests_per_s", "req/s"),
                        Column("", case, "latency_p50_us", "p50 us", ratios=False))])


def _post():
    yield Table("post", "posting from other threads: million posts per second (more is better)", [
        Column("1 producer", "1_producer", "mposts_per_s", "M/s", panel="1 producer", more_is_better=True),
        Column("2 producers", "2_producers", "mposts_per_s", "M/s", panel="2 producers", more_is_better=True)])
    yield Table("post", "waking a sleeping loop, and posting to oneself", [
        Column("wake, p50", "wake", "wake_p50_ns", "ns", panel="waking a sleeping loop, p50"),
        Column("wake, p99", "wake", "wake_p99_ns", "ns", panel="waking a sleeping loop, p99"),
        Column("to oneself", "self", "self_ns_per_post", "ns", panel="to oneself")])


def _timer():
    yield Table("timer", "timers: a million set and cancelled, 100,000 pushed back", [
        Column("set", "1M", "set_ns", "ns", panel="set, 1 million"),
        Column("cancel", "1M", "cancel_ns", "ns", panel="cancel, 1 million"),
        Column("push back", "100k", "push_back_ns", "ns", panel="push back, 100,000")])
    yield Table("timer", "timers: lateness of firing (negative: before its time)", [
        column for case, title in (("lateness", "set in a callback"), ("lateness_after_work", "after 1 ms of work"))
        for column in (Column(title, case, "late_p50_us", "p50 us", ratios=False),
                       Column("", case, "late_p99_us", "p99 us", ratios=False),
                       Column("", case, "earliest_us", "earliest", ratios=False))])


def _churn():
    yield Table("churn", "watching pipes: an event read and passed on; removing and adding a watcher", [
        Column("100 pipes, 1 active", "100_pipes_1_active", "ns_per_event", "ns", panel="100 pipes, 1 active"),
        Column("1000, 100 active", "1000_pipes_100_active", "ns_per_event", "ns", panel="1,000 pipes, 100 active"),
        Column("remove and add", "reregister", "ns_per_reregistration", "ns", panel="remove and add a watcher")])


def _pollset_latencies(title, case):
    return [Column(title, case, "p50_us", "p50 us", ratios=False),
            Column("", case, "p99_us", "p99 us", ratios=False),
            Column("", case, "p999_us", "p99.9 us", ratios=False)]


def _pollset_calls(case):
    return [Column("", case, f"{what}_per_event", what, ratios=False)
            for what in ("called", "waits", "eventfd", "switches")]


def _pollset():
    yield Table("pollset", "pollsets, one thread: CPU time per event", [
        Column("1 event a turn", "1_event", POLLSET_CPU, "ns", panel="1 thread, 1 event a turn"),
        Column("8 events a turn", "8_events", POLLSET_CPU, "ns", panel="1 thread, 8 events a turn")])
    for threads, sets, fds in ((1, 1, 16), (2, 1, 16), (4, 1, 16), (2, 2, 16), (4, 4, 16), (4, 1, 256)):
        case = f"{threads}x{sets}x{fds}"
        words = (f"{threads} thread{'s' if threads > 1 else ''}, {sets} pollset{'s' if sets > 1 else ''}, {fds} fds")
        yield Table("pollset", f"pollsets, {words}: thousand events per second (more is better), calls per event", [
            Column("events", case, "events_per_ms", "k/s"),
            Column("CPU", case, POLLSET_CPU, "ns", panel=words if case in ("4x1x16", "4x4x16") else ""),
            *_pollset_latencies("until handled", case), *_pollset_calls(case)])
    yield Table("pollset", "pollsets: the others, while one handler sleeps 10 ms", [
        *_pollset_latencies("2 threads", "blocked_2"), *_pollset_latencies("4 threads", "blocked_4")])
    for threads in (2, 8):
        case = f"herd_{threads}"
        yield Table("pollset", f"pollsets: {threads} threads wait, one event comes",
                    [*_pollset_latencies("until handled", case), *_pollset_calls(case)])
    yield Table("pollset", "pollsets, one thread: counts per event (instructions in user space)", [
        column for case, title in (("1_event", "1 event a turn"), ("8_events", "8 events a turn"))
        for column in (Column(title, case, "syscalls_per_event", "syscalls", ratios=False),
                       Column("", case, "user_instructions_per_event", "instr.", ratios=False))])
    traced = (("herd_8", "8 wait, 1 event"), ("4x1x16", "4x1x16"), ("2x2x16", "2x2x16"), ("4x4x16", "4x4x16"))
    yield Table("pollset", "pollsets: calls per event of all threads, under strace", [
        Column(title if what == "futex" else "", case, f"all_{what}_per_event", what, ratios=False)
        for case, title in traced for what in ("futex", "waits", "writes")])


def _small_suites():
    yield Table("spawn", "children, one after the other: /bin/true spawned, ended and reaped", [
        Column("parent of 1 MiB", "1_MiB", "us_per_child", "us", panel="spawned, ended and reaped"),
        Column("parent of 500 MiB", "500_MiB", "us_per_child", "us", panel="by a parent of 500 MiB"),
        Column("500 MiB: the call", "500_MiB", "us_to_spawn", "us")])
    yield Table("signal", "a signal to oneself, until the loop has delivered it", [
        Column("round trip", "round_trip", "ns_per_signal", "ns", panel="round trip")])
    yield Table("share", "two endless streams on one loop, weights 3:1: what the first moved", [
        Column(case.replace("_", " "), case, "share_percent", "%", ratios=False)
        for case in ("watches", "streams", "no_group")])
    yield Table("memory", "memory in user space for each of 2,000 more idle connections", [
        Column("heap", "2000_idle", "heap_bytes_per_connection", "bytes", ratios=False,
               panel="heap of an idle connection"),
        Column("resident", "2000_idle", "resident_bytes_per_connection", "bytes", ratios=False)],
        note="pieces", note_title="allocations of each, with headers; the rest is in blocks that many share:")
    yield Table("await", "a co_await of what is ready", [
        Column("ready", "ready", "ns_per_await", "ns", panel="a co_await of what is ready")])


def _grpc():
    for case, title, words in (
            ("1_at_a_time", "1 thread", "a call at a time, synchronous"),
            ("16_threads", "16 threads", "16 threads with a connection each, synchronous"),
            ("64_in_flight", "64 in flight", "64 calls in flight over 4 connections, asynchronous"),
            ("stream_1_core", "one core", "one message to and fro on a stream, both processes on one core"),
            ("stream_2_cores", "two cores", "one message to and fro on a stream, a core for each process")):
        yield Table("grpc", f"gRPC: {words}", [
            Column(title, case, "calls_per_s", "/s"), Column("", case, "p50_us", "p50 us"),
            Column("", case, "p99_us", "p99 us"), Column("", case, "cpu_us_per_call", "CPU us")])


def _compile():
    yield Table("compile", "compiling an echo server, -O2: time, and memory of the compiler", [
        Column("time", "echo", "wall_s", "s", panel="time"),
        Column("CPU time", "echo", "cpu_s", "s", panel="CPU time"),
        Column("memory", "echo", "peak_mib", "MiB", panel="memory of the compiler")])


@dataclasses.dataclass(frozen=True)
class Growth:
    """A cost that is measured for more and more of something."""
    title: str
    axis: str
    metric: str
    of: str
    counts: dict  # words, and the number

    def case(self, words):
        return f"{words}_{self.of}"


CONNECTIONS = Growth("server CPU per request with more and more connections", "server CPU per request, ns",
                     ECHO_CPU, "connections", {"10": 10, "100": 100, "1k": 1_000, "8k": 8_000})
TIMERS = Growth("a timer cancelled and set again among more and more timers", "cancelling and setting a timer, ns",
                "cancel_and_set_ns", "timers",
                {"1k": 1_000, "10k": 10_000, "100k": 100_000, "1M": 1_000_000, "10M": 10_000_000})


def _growth():
    for growth, more in ((CONNECTIONS, ", 64 B, burst mode"), (TIMERS, "")):
        yield Table("growth", f"growth: {growth.title}{more}", [
            Column(f"{words} {growth.of}", growth.case(words), growth.metric, "ns") for words in growth.counts])


TABLES = [table for tables in (_echo_burst, _echo_counts, _echo_two_core, _spin, _post, _timer, _churn, _pollset,
                               _small_suites, _grpc, _compile, _growth) for table in tables()]
