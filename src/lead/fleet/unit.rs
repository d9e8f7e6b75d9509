//! What one teammate's process is up to, and what follows from whatever happens to it: pure.
//!
//! A unit counts its starts; an end that belongs to an earlier start changes nothing. Every phase but the final two is
//! left within a bounded time or waits for the person: a start by its deadline, a stop by ask, TERM, KILL.

use std::time::{Duration, Instant};

use crate::board::Released;
use crate::team::MemberStatus;

/// How long a started process may take to write its status.
pub(in crate::lead) const START_WAIT: Duration = Duration::from_secs(10);
/// From SIGTERM to SIGKILL.
pub(in crate::lead) const KILL_AFTER: Duration = Duration::from_secs(5);
/// The pauses before the first, second and third restart; more than these within [`RESTART_WINDOW`] are not tried.
const PAUSES: [Duration; 3] = [
    Duration::ZERO,
    Duration::from_secs(1),
    Duration::from_secs(3),
];
const RESTART_WINDOW: Duration = Duration::from_mins(1);

/// What ties a teammate's process to this lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lead) enum Tie {
    /// A child of this process.
    Child,
    /// Started by an earlier lead; known by its lock.
    Adopted,
    /// Started by a person: neither stopped nor started again by the lead on its own account.
    Person,
}

/// What a teammate's process is up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lead) enum Phase {
    /// It runs and has not written its status yet; `again` after a crash.
    Starting { deadline: Instant, again: bool },
    /// Its start is given up; its end is awaited.
    Undoing { again: bool, late: bool },
    /// It lives; what its record said last.
    Running(MemberStatus),
    /// It is to end.
    Stopping(Stage),
    /// It is to be started again.
    Restarting { at: Instant },
    /// It ended as asked.
    Stopped,
    /// It ended for good otherwise.
    Failed,
}

/// How far a stop has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lead) enum Stage {
    /// It was asked. At `until` it is terminated (`hard`) or the person is told; `None`: told already.
    Asked { until: Option<Instant>, hard: bool },
    /// SIGTERM was sent.
    Terminated { kill_at: Instant },
    /// SIGKILL was sent.
    Killed,
}

/// One teammate.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::lead) struct Unit {
    pub(in crate::lead) tie: Tie,
    /// Counts the starts of its process by this lead.
    pub(in crate::lead) epoch: u64,
    pub(in crate::lead) phase: Phase,
    restarts: Vec<Instant>,
}

/// What can happen to a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lead) enum Happened {
    /// Its living process wrote this status.
    Reported(MemberStatus),
    /// The process of this start has ended.
    Ended { epoch: u64, how: Ending },
    /// It was asked to stop; see [`Stage::Asked`].
    Asked { until: Instant, hard: bool },
    /// TERM now; the second time KILL.
    Kill,
    /// KILL now.
    KillNow,
    /// Time has passed.
    Tick,
}

/// How a process ended, by its exit code and record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lead) enum Ending {
    /// As asked.
    Stopped,
    /// For good, by its own word.
    Failed,
    /// Without a word.
    Crashed,
}

/// What is to be done about it, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lead) enum Effect {
    /// Its first start has succeeded.
    Ready,
    /// Its first start has failed: undo it; `late` if it wrote no status in time.
    StartFailed { late: bool },
    /// It lives again.
    Back,
    /// Give its task back.
    Release(Released),
    /// Tell of its crash: it is started again after this pause, or given up.
    Crashed { again_in: Option<Duration> },
    /// Start its process for the `epoch`th time.
    Launch { epoch: u64 },
    /// SIGTERM to its group.
    Terminate,
    /// SIGKILL to its group.
    Kill,
    /// Tell the person that it does not stop in time.
    Late,
    /// Tell of its end; `failed` if it was not a clean one.
    Over { failed: bool },
}

/// Decides how a process ended. `code` is its exit code, if it has one; `status` what its record says.
pub(in crate::lead) fn ending(code: Option<i32>, status: Option<MemberStatus>) -> Ending {
    match (status, code) {
        (Some(MemberStatus::Stopped), _) => Ending::Stopped,
        // 1 and 2: failed for good, and wrong settings or arguments (SPEC §5.1).
        (Some(MemberStatus::Failed), _) | (_, Some(1 | 2)) => Ending::Failed,
        (
            None
            | Some(
                MemberStatus::Starting
                | MemberStatus::Working
                | MemberStatus::Idle
                | MemberStatus::WaitingApproval
                | MemberStatus::Stopping,
            ),
            _,
        ) => Ending::Crashed,
    }
}

impl Unit {
    /// A child that has just been started for the first time.
    pub(in crate::lead) fn starting(now: Instant) -> Self {
        Self {
            tie: Tie::Child,
            epoch: 1,
            phase: Phase::Starting {
                deadline: now + START_WAIT,
                again: false,
            },
            restarts: Vec::new(),
        }
    }

    /// One that lives already.
    pub(in crate::lead) fn living(tie: Tie, status: MemberStatus) -> Self {
        Self {
            tie,
            epoch: 0,
            phase: Phase::Running(status),
            restarts: Vec::new(),
        }
    }

    /// One that is to be started again with its transcript, at once.
    pub(in crate::lead) fn reviving(now: Instant) -> Self {
        Self {
            tie: Tie::Child,
            epoch: 0,
            phase: Phase::Restarting { at: now },
            restarts: Vec::new(),
        }
    }

    /// Whether its process counts as living or coming.
    pub(in crate::lead) fn is_there(&self) -> bool {
        !matches!(self.phase, Phase::Stopped | Phase::Failed)
    }

    /// Whether it may still change something without anybody's doing.
    pub(in crate::lead) fn is_moving(&self) -> bool {
        !matches!(
            self.phase,
            Phase::Running(MemberStatus::Idle) | Phase::Stopped | Phase::Failed
        )
    }

    /// When [`Happened::Tick`] will do something.
    pub(in crate::lead) fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Starting { deadline, .. } => Some(deadline),
            Phase::Restarting { at } => Some(at),
            Phase::Stopping(Stage::Asked { until, .. }) => until,
            Phase::Stopping(Stage::Terminated { kill_at }) => Some(kill_at),
            Phase::Undoing { .. }
            | Phase::Running(_)
            | Phase::Stopping(Stage::Killed)
            | Phase::Stopped
            | Phase::Failed => None,
        }
    }

    /// The unit after `what`, and what is to be done.
    pub(in crate::lead) fn step(mut self, what: Happened, now: Instant) -> (Self, Vec<Effect>) {
        if let Happened::Ended { epoch, .. } = what
            && epoch != self.epoch
        {
            return (self, Vec::new());
        }
        let effects = match self.phase {
            Phase::Starting { deadline, again } => self.starting_step(what, deadline, again, now),
            Phase::Undoing { again, late } => self.undoing_step(what, again, late, now),
            Phase::Running(_) => self.running_step(what, now),
            Phase::Stopping(stage) => self.stopping_step(what, stage, now),
            Phase::Restarting { at } => self.restarting_step(what, at, now),
            Phase::Stopped | Phase::Failed => Vec::new(),
        };
        (self, effects)
    }

    fn starting_step(
        &mut self,
        what: Happened,
        deadline: Instant,
        again: bool,
        now: Instant,
    ) -> Vec<Effect> {
        match what {
            Happened::Reported(MemberStatus::Starting) => Vec::new(),
            Happened::Reported(status) => {
                let effect = if again { Effect::Back } else { Effect::Ready };
                self.becomes(Phase::Running(status), [effect])
            }
            Happened::Ended { .. } if !again => {
                self.becomes(Phase::Failed, [Effect::StartFailed { late: false }])
            }
            Happened::Ended { how, .. } => self.ended(how, now),
            Happened::Tick if now < deadline => Vec::new(),
            Happened::Tick => self.becomes(Phase::Undoing { again, late: true }, [Effect::Kill]),
            Happened::Asked { .. } | Happened::Kill | Happened::KillNow if again => {
                self.becomes(Phase::Stopping(Stage::Killed), [Effect::Kill])
            }
            Happened::Asked { .. } | Happened::Kill | Happened::KillNow => {
                self.becomes(Phase::Undoing { again, late: false }, [Effect::Kill])
            }
        }
    }

    fn undoing_step(
        &mut self,
        what: Happened,
        again: bool,
        late: bool,
        now: Instant,
    ) -> Vec<Effect> {
        match what {
            Happened::Ended { .. } if again => self.crash(now),
            Happened::Ended { .. } => self.becomes(Phase::Failed, [Effect::StartFailed { late }]),
            Happened::Reported(_)
            | Happened::Asked { .. }
            | Happened::Kill
            | Happened::KillNow
            | Happened::Tick => Vec::new(),
        }
    }

    fn restarting_step(&mut self, what: Happened, at: Instant, now: Instant) -> Vec<Effect> {
        match what {
            Happened::Tick if now >= at => self.relaunch(now),
            Happened::Asked { .. } | Happened::Kill | Happened::KillNow => {
                self.becomes(Phase::Stopped, [Effect::Over { failed: false }])
            }
            Happened::Tick | Happened::Reported(_) | Happened::Ended { .. } => Vec::new(),
        }
    }

    fn running_step(&mut self, what: Happened, now: Instant) -> Vec<Effect> {
        match what {
            Happened::Reported(status) => self.becomes(Phase::Running(status), []),
            Happened::Ended { how, .. } => self.ended(how, now),
            Happened::Asked { until, hard } => self.becomes(
                Phase::Stopping(Stage::Asked {
                    until: Some(until),
                    hard,
                }),
                [],
            ),
            Happened::Kill => self.terminate(now),
            Happened::KillNow => self.becomes(Phase::Stopping(Stage::Killed), [Effect::Kill]),
            Happened::Tick => Vec::new(),
        }
    }

    fn stopping_step(&mut self, what: Happened, stage: Stage, now: Instant) -> Vec<Effect> {
        match (what, stage) {
            (Happened::Ended { how, .. }, _) => {
                let failed = how != Ending::Stopped;
                let phase = if failed {
                    Phase::Failed
                } else {
                    Phase::Stopped
                };
                self.becomes(
                    phase,
                    [Effect::Release(Released::Orderly), Effect::Over { failed }],
                )
            }
            (
                Happened::Asked { until, hard },
                Stage::Asked {
                    until: had,
                    hard: was,
                },
            ) => {
                let until = if was {
                    had.unwrap_or(until).min(until)
                } else {
                    until
                };
                let stage = Stage::Asked {
                    until: Some(until),
                    hard: hard || was,
                };
                self.becomes(Phase::Stopping(stage), [])
            }
            (Happened::Kill, Stage::Asked { .. }) => self.terminate(now),
            (Happened::Kill | Happened::KillNow, Stage::Terminated { .. })
            | (Happened::KillNow, Stage::Asked { .. }) => {
                self.becomes(Phase::Stopping(Stage::Killed), [Effect::Kill])
            }
            (
                Happened::Tick,
                Stage::Asked {
                    until: Some(until),
                    hard,
                },
            ) if now >= until => {
                if hard {
                    self.terminate(now)
                } else {
                    let stage = Stage::Asked { until: None, hard };
                    self.becomes(Phase::Stopping(stage), [Effect::Late])
                }
            }
            (Happened::Tick, Stage::Terminated { kill_at }) if now >= kill_at => {
                self.becomes(Phase::Stopping(Stage::Killed), [Effect::Kill])
            }
            (
                Happened::Reported(_)
                | Happened::Asked { .. }
                | Happened::Kill
                | Happened::KillNow
                | Happened::Tick,
                _,
            ) => Vec::new(),
        }
    }

    fn ended(&mut self, how: Ending, now: Instant) -> Vec<Effect> {
        match how {
            Ending::Stopped => self.becomes(
                Phase::Stopped,
                [
                    Effect::Release(Released::Orderly),
                    Effect::Over { failed: false },
                ],
            ),
            Ending::Failed => self.becomes(
                Phase::Failed,
                [
                    Effect::Release(Released::Failed),
                    Effect::Over { failed: true },
                ],
            ),
            Ending::Crashed => self.crash(now),
        }
    }

    fn crash(&mut self, now: Instant) -> Vec<Effect> {
        self.restarts
            .retain(|at| now.saturating_duration_since(*at) < RESTART_WINDOW);
        let pause = PAUSES
            .get(self.restarts.len())
            .copied()
            .filter(|_| self.tie != Tie::Person);
        let told = [
            Effect::Release(Released::Failed),
            Effect::Crashed { again_in: pause },
        ];
        let Some(pause) = pause else {
            return self.becomes(Phase::Failed, told);
        };
        self.restarts.push(now);
        if pause.is_zero() {
            return told.into_iter().chain(self.relaunch(now)).collect();
        }
        self.becomes(Phase::Restarting { at: now + pause }, told)
    }

    fn relaunch(&mut self, now: Instant) -> Vec<Effect> {
        self.tie = Tie::Child;
        self.epoch += 1;
        let epoch = self.epoch;
        let phase = Phase::Starting {
            deadline: now + START_WAIT,
            again: true,
        };
        self.becomes(phase, [Effect::Launch { epoch }])
    }

    fn terminate(&mut self, now: Instant) -> Vec<Effect> {
        let stage = Stage::Terminated {
            kill_at: now + KILL_AFTER,
        };
        self.becomes(Phase::Stopping(stage), [Effect::Terminate])
    }

    fn becomes<const N: usize>(&mut self, phase: Phase, effects: [Effect; N]) -> Vec<Effect> {
        self.phase = phase;
        effects.into()
    }
}
