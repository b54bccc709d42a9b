// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "faults/attempt.hpp"
#include "kernel/call.hpp"
#include "support/engine_fixture.hpp"

#include <eddy/base/report.hpp>
#include <eddy/ex/execution.hpp>
#include <eddy/io/bytes.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace eddy::test {

namespace ex = eddy::ex;
using eddy::bytes;

/// What is tried, and on what.
struct fault_subject {
    std::string name;
    /// Ends by itself: when all has happened, or something has failed, or at the limit. Then
    /// nothing of it is left.
    std::function<void(attempt&)> scenario;
    /// Lets what is on its way end. Returns how much is still held: leases, operations.
    std::function<std::uint64_t()> settle;
    /// False for messages, which would be cut, and on epoll for TCP: see kernel::shorten().
    bool may_shorten_sockets = true;
    /// False for records, of a signalfd for example, which the kernel never cuts.
    bool may_shorten_reads = true;
    /// The kinds whose first call must be told about when it fails, although other scenarios, and
    /// later calls, may lack anybody to tell. Errors that pass are left out.
    std::span<const kernel::call> tells{};
};

/// Runs the scenario with each fault that it can meet: each kind of call, with each error that is
/// documented, once and from then on, at the nth call up to `nth_max`; and with transfers that are
/// short. Each time it must end, say what was injected or succeed if the table says that it may,
/// and lose nothing; and then the same scenario must succeed. EDDY_FAULT in the environment, as a
/// failure prints it, has only that fault tried.
void with_every_fault(const fault_subject& subject, unsigned nth_max);

/// Fails the first call of each kind that the table says is reached by the scenario of that name
/// when it runs on `subject.name`. A kind that fires nowhere would be tried nowhere, and nobody
/// would notice.
void with_the_faults_of(const char* scenario, const fault_subject& subject);

/// What is not tried on loops of an engine, in words: faults of operations that only the kernel
/// performs, where it cannot be asked for their results. Null: nothing.
const char* left_out_on(engine_kind engine, bool can_inject_results) noexcept;

/// A scenario on a loop.
struct loop_scenario {
    void (*run)(loop&, attempt&);
    bool messages = false;                  ///< its sockets keep the boundaries of messages
    bool tcp = true;                        ///< its sockets, if any, are of TCP
    bool records = false;                   ///< what is read are records of a signalfd or a timerfd
    std::span<const kernel::call> tells{};  ///< see fault_subject
    /// Says why the scenario cannot run on this kernel; null if it can.
    const char* (*obstacle)() = nullptr;
};

/// A loop of each engine, whose waits give up soon.
class FaultTest : public EngineTest {
protected:
    void SetUp() override;
    void TearDown() override;
    void with_every_fault(const loop_scenario& scenario, unsigned nth_max);
    void with_the_faults_of(const char* name, const loop_scenario& scenario);
    /// A test of the scenario itself.
    void without_faults(const loop_scenario& scenario);

private:
    fault_subject subject_of(const loop_scenario& scenario);
    void name_what_was_left_out() const;
    report_handler before_ = nullptr;
};

inline constexpr unsigned first_three = 3;
inline constexpr unsigned all_of_them = UINT32_MAX;

/// The suites of a scenario: in ./test it runs as it is, in ./test --full with the first three
/// faults of each kind, in ./test --long with all.
#define EDDY_SCENARIO(name, scenario) EDDY_SCENARIO_ON(EDDY_ON_EVERY_ENGINE, name, scenario)
#define EDDY_SCENARIO_ON(engines, name, scenario)                                   \
    class Scenario##name : public ::eddy::test::FaultTest {};                       \
    TEST_P(Scenario##name, SucceedsTwice) { without_faults(scenario); }             \
    TEST_P(Scenario##name, MeetsItsFaults) { with_the_faults_of(#name, scenario); } \
    engines(Scenario##name);                                                        \
    class FullFaults##name : public ::eddy::test::FaultTest {};                     \
    TEST_P(FullFaults##name, AreToldAndLoseNothing) {                               \
        with_every_fault(scenario, ::eddy::test::first_three);                      \
    }                                                                               \
    engines(FullFaults##name);                                                      \
    class LongFaults##name : public ::eddy::test::FaultTest {};                     \
    TEST_P(LongFaults##name, AreToldAndLoseNothing) {                               \
        with_every_fault(scenario, ::eddy::test::all_of_them);                      \
    }                                                                               \
    engines(LongFaults##name)

}  // namespace eddy::test
