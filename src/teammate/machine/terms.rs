//! What the machine speaks in: events, effects, and what they carry.

use std::time::Duration;

use crate::board::Released;
use crate::ids::RequestId;
use crate::process::signals::Signal;
use crate::team::MemberStatus;

/// What holds for a teammate's whole life.
#[derive(Debug, Clone, Copy)]
pub struct Config {
    /// Started by a person: it waits for a lead without end.
    pub by_person: bool,
    /// How long it waits for a lost lead.
    pub lead_grace: Duration,
    /// How long a stop may take.
    pub shutdown: Duration,
    /// How long a permission question waits for an answer; without end if unset.
    pub permission_wait: Option<Duration>,
    /// Whether hooks are asked before it becomes idle.
    pub idle_hooks: bool,
}

/// What a teammate finds at its start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, named where they are given"
)]
pub struct Start {
    /// Whether a lead lives.
    pub lead: bool,
    /// There is a prompt that was not told yet.
    pub prompt: bool,
    /// It owns a task, told to its model or not.
    pub task: bool,
    /// Its conversation holds the assignment already.
    pub told: bool,
    /// A round was under way when its predecessor ended.
    pub unfinished: bool,
    /// Mail or a decision waits that was taken in and never put before the model.
    pub news: bool,
    /// Its plan awaits a decision.
    pub plan_pending: bool,
    /// It awaits the answer to a question.
    pub asked: bool,
    /// The words with which its predecessor's last round ended; whether the lead was told them is not known.
    pub last_words: Option<String>,
    /// The text of the round before, if that last round was the reminder's.
    pub reminded: Option<String>,
}

/// A request to stop, by its record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// The record.
    pub request: RequestId,
    /// The lead itself is leaving.
    pub leaving: bool,
}

/// What a look at the files found. A hint but for `stop`, which its record decides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Mail that is to be taken in at rest: it starts a round or belongs to a protocol. So does a decision that was found.
    pub mail: bool,
    /// Some of it is talk that starts a round.
    pub talk: bool,
    /// A task is offered to this teammate.
    pub offered: bool,
    /// It was asked to stop.
    pub stop: Option<Stop>,
}

/// What happens to a teammate.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// It begins.
    Started(Start),
    /// The answer to [`Effect::Look`], or of a look that a notification caused.
    Found(Found),
    /// The answer to [`Effect::TakeMail`]: whether any of it starts a round, and a stop found in it.
    Taken {
        /// Whether anything taken in, or decided meanwhile, starts a round.
        news: bool,
        /// See [`Found::stop`].
        stop: Option<Stop>,
    },
    /// The answer to [`Effect::Claim`]: whether a task was got.
    Claimed(bool),
    /// A tool claimed a task.
    ToolClaimed,
    /// The assignment is no longer this teammate's.
    TaskOver(Outcome),
    /// A question was sent; an answer is awaited.
    Asked,
    /// All tools of a turn have run.
    Boundary,
    /// A round ended.
    RoundOver(RoundEnd),
    /// For how long the round's model call is put off: its provider asked everybody to wait, or it is tried again later.
    /// Zero: it is being made.
    PutOff(Duration),
    /// No hook keeps it from becoming idle.
    Unopposed,
    /// A tool began to wait for a decision.
    WaitBegan(WaitKind),
    /// That wait is over.
    WaitOver,
    /// The plan that was submitted is decided, withdrawn or void.
    PlanSettled,
    /// Whether the team has used up what it may: no model call begins until it may again.
    Limit(bool),
    /// How long all agents of its model's provider are held back from now; zero: not at all.
    HeldBack(Duration),
    /// No lead is alive any more.
    LeadGone,
    /// A lead is there again.
    LeadCame,
    /// A signal.
    Signal(Signal),
    /// A timer set before ran out.
    TimedOut(Timer),
}

/// How a round ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoundEnd {
    /// The model has no more to do; its last text.
    Done(String),
    /// The model refused.
    Declined(String),
    /// The model could not be reached, after all tries.
    Unreachable(String),
    /// It would fail again and again: a bad key.
    Hopeless(String),
    /// The conversation is too long for the model, and cannot be made shorter.
    Full(String),
    /// Cut as asked.
    Interrupted,
}

/// What a tool waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitKind {
    /// The decision on a plan.
    Plan,
    /// The answer to a permission question.
    Permission,
}

/// Why a wait ends without its decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitEnd {
    /// Other mail came: the plan's decision is told later.
    StillPending,
    /// Nobody answered a permission question in time.
    Unanswered,
    /// The teammate stops or is cut: the request is withdrawn.
    Stopping,
}

/// What became of an assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Completed.
    Completed,
    /// Given back by this teammate.
    Released,
    /// Released, cancelled or completed by somebody else.
    TakenAway,
    /// The round was interrupted; the task is still this teammate's.
    Interrupted,
    /// Nothing of the kind: it still holds its task, or had none.
    None,
}

impl Outcome {
    /// As written in `metadata.outcome`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Released => "released",
            Self::TakenAway => "taken_away",
            Self::Interrupted => "interrupted",
            Self::None => "none",
        }
    }
}

/// Why a teammate is idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Its work is done.
    Done,
    /// It could not do its task.
    Blocked,
    /// It awaits an answer or a decision.
    Waiting,
    /// Its model failed.
    Error,
}

impl Reason {
    /// As written in `metadata.reason`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Blocked => "blocked",
            Self::Waiting => "waiting",
            Self::Error => "error",
        }
    }
}

/// What the one idle notice says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Announcement {
    /// Why it is idle.
    pub reason: Reason,
    /// What became of its last task.
    pub outcome: Outcome,
}

/// What a round begins with, besides mail and decisions that wait: those are always put before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The prompt it was started with.
    Prompt,
    /// Its predecessor ended in mid-round.
    Restarted,
    /// Its assignment.
    Assignment,
    /// Its assignment is still open.
    Reminder,
    /// It was asked to stop.
    WrapUp,
}

/// Deadlines. Setting one that runs starts it anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// A turn may go on for so long after a request to stop.
    StopTurn,
    /// The whole stop may take so long.
    StopAll,
    /// So long a lost lead is waited for.
    LeadGrace,
    /// So long what was cut may take to end.
    Cut,
    /// So long a permission question waits for its answer.
    Answer,
    /// So long no task is claimed after the model could not be reached.
    CoolDown,
    /// So long the model's provider is not asked by anybody.
    HeldBack,
}

/// How it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Final {
    /// As asked.
    Stopped,
    /// As asked, but the wrap-up failed.
    WrapUpFailed,
    /// No lead came back.
    LeadLost,
    /// For good.
    Failed(String),
    /// By a signal.
    Signalled(Signal),
}

/// What is to be done, in this order.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Write the status.
    Status(MemberStatus),
    /// Look at mailbox, board and requests; answered by [`Event::Found`].
    Look,
    /// Take the mail in; answered by [`Event::Taken`].
    TakeMail,
    /// Claim the first offered task that can be had; answered by [`Event::Claimed`].
    Claim,
    /// Begin a round at rest.
    Begin(Vec<Part>),
    /// Go on at a boundary with the mail taken in.
    NextTurn,
    /// Ask the hooks for idleness: [`Event::Unopposed`], or a boundary, or an interrupted round follows.
    ConsultIdle,
    /// End the round at a boundary without another call.
    RestAtBoundary,
    /// Cut what runs; the text goes to the model.
    Interrupt(&'static str),
    /// End what a tool waits for.
    EndWait(WaitEnd),
    /// Send the round's text to the lead.
    Result(String),
    /// Send the text of a round of its predecessor to the lead, unless it was sent.
    LateResult(String),
    /// Keep the text of the round before while the reminder's round runs.
    Keep(String),
    /// Send the last words: this text, else the last text said and the open task.
    Farewell(Option<String>),
    /// Tell the lead of a failure.
    ErrorReport(String),
    /// Send the idle notice.
    Announce(Announcement),
    /// Give the task back.
    Release {
        /// Whether the attempt counts.
        why: Released,
        /// Becomes the task's result.
        note: Option<String>,
    },
    /// Forget the assignment, its directory included; its plan gate closes.
    CloseAssignment,
    /// Mark the request to stop as heard.
    Acknowledge,
    /// From here on no tool works in the workspace.
    WrapUpMode,
    /// Take in what is left in the mailbox.
    Drain,
    /// Answer the request to stop and close its record.
    AnswerStop {
        /// Whether it was a clean farewell.
        clean: bool,
    },
    /// Start a timer.
    SetTimer(Timer, Duration),
    /// Stop a timer.
    ClearTimer(Timer),
    /// Say that there is no lead.
    SayNoLead,
    /// End the process.
    End(Final),
}
