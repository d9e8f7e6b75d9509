//! Everything a person or another program may see of a session, structured and unrendered.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::board::{Task, TaskView};
use crate::clock::Timestamp;
use crate::config::trust::Content;
use crate::conversation::ToolCall;
use crate::ids::{AgentName, SessionId, TaskId};
use crate::mailbox::Message;
use crate::model::gate::Held;
use crate::policy::Mode;
use crate::process::guard::ShellResult;
use crate::request::Record;
use crate::team::usage::Spent;
use crate::team::{Member, Prices};
use crate::timeline::Event;
use crate::tool::Worktree;
use crate::worktree::snapshot::Differences;

/// Where a session shows itself. Called from the session's loop only; must not block for long.
pub trait Ui: Send {
    /// Shows one item.
    fn show(&mut self, item: Shown);
}

/// Something to see.
#[derive(Debug, Clone)]
pub enum Shown {
    /// The session has begun: the first item.
    Started {
        /// Its id.
        session: SessionId,
        /// The workspace.
        root: PathBuf,
        /// The lead's model, `provider:name`.
        model: String,
        /// Whether an earlier conversation goes on.
        resumed: bool,
    },
    /// What the start found and put in order; not shown when there was nothing.
    Recovered(Account),
    /// Text of the lead's model as it streams; void if [`Shown::Retrying`] or [`Shown::Interrupted`] follows.
    Delta(String),
    /// The whole text of a reply of the lead's model, after its deltas.
    Text(String),
    /// The lead's model starts a tool.
    ToolUse(ToolCall),
    /// A tool of the lead's model has ended.
    ToolResult {
        /// The call.
        call: ToolCall,
        /// What the model is told.
        output: String,
        /// Whether it succeeded.
        ok: bool,
    },
    /// The running turn was cut.
    Interrupted,
    /// A message to the lead or the person that is not control mail.
    Mail(Message),
    /// A task changed, by whomever.
    Task(TaskNews),
    /// A teammate changed.
    Teammate(TeammateNews),
    /// A question or another request was opened; questions are shown in full by [`PromptFor::Question`].
    RequestOpened(Record),
    /// A question that nobody here is asked and another terminal may answer.
    AskedElsewhere(Record),
    /// It got its final state: the record says which, by whom, and the comment.
    RequestClosed(Record),
    /// A model call is tried again after a pause.
    Retrying {
        /// Why.
        why: String,
        /// The pause.
        wait: Duration,
    },
    /// The providers that have asked everybody to wait, when that changes; empty when none does.
    Held(Vec<(String, Held)>),
    /// The lead's model begins or ends its work.
    Working(bool),
    /// The permission mode that is in force: at the start, and when it changes.
    Mode(Mode),
    /// What the team has used, after a call.
    Used(Used),
    /// One line for the person.
    Notice(String),
    /// One line about something that failed.
    Error(String),
    /// The answer to a command of the person.
    View(View),
    /// The person's own command has ended.
    Shell {
        /// As typed, without the `!`.
        command: String,
        /// How it went.
        end: ShellEnd,
    },
    /// Leaving: whom the lead still waits for; empty when all have ended.
    Leaving(Vec<AgentName>),
    /// A line of the person has reached the session: another prompt asks for another line.
    LineTaken,
    /// What the next line will be taken for. Not shown again while it stays the same, except that a question is repeated
    /// after a wrong answer.
    Prompt(PromptFor),
}

/// What the team has used in this session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Used {
    /// Input, output and cache-write tokens of all agents.
    pub tokens: u64,
    /// By the prices in the settings; absent where a model has none.
    pub cost: Option<f64>,
    /// How much of its window the lead's conversation takes, in percent; absent before its first call.
    pub context: Option<u64>,
}

/// What the next line of the person is for. Without a terminal exactly one line may be read after each
/// [`PromptFor::Message`] or [`PromptFor::Question`], and none after [`PromptFor::Nothing`].
#[derive(Debug, Clone, PartialEq)]
pub enum PromptFor {
    /// A message to the lead, or a command.
    Message,
    /// The answer to this question.
    Question(Box<Answering>),
    /// The lead works: a line is queued (terminal), none is read (elsewhere).
    Nothing,
}

/// An open question of the person.
#[derive(Debug, Clone, PartialEq)]
pub struct Answering {
    /// Its record: the proposal, plan, or call is in the payload as the type that the tool layer defines.
    pub record: Record,
    /// How many others wait behind it.
    pub behind: usize,
    /// Why the last line was no answer to it.
    pub again: Option<String>,
}

/// A change of a task.
#[derive(Debug, Clone)]
pub struct TaskNews {
    /// The task now.
    pub task: Box<Task>,
    /// Who changed it, as the journal says.
    pub by: String,
    /// What changed: `{"status": {"old": …, "new": …}, …}`.
    pub change: serde_json::Value,
}

/// A member as `/team` shows it.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Its record.
    pub member: Member,
    /// Whether its process lives.
    pub alive: bool,
    /// Since when it is lost, if it is.
    pub lost: Option<Timestamp>,
}

/// A change of a teammate.
#[derive(Debug, Clone)]
pub struct TeammateNews {
    /// Its record now.
    pub member: Box<Member>,
    /// Whether its process lives.
    pub alive: bool,
    /// What happened beyond a change of status, such as the end of its log after a crash.
    pub note: Option<String>,
}

/// The answer to a command of the person.
#[derive(Debug, Clone)]
pub enum View {
    /// `/help`
    Help,
    /// `/team`: members, and the open requests.
    Team(Vec<Seen>, Vec<Record>),
    /// `/team permissions`, `/team plans`, `/team shutdown NAME`.
    Requests(Vec<Record>),
    /// `/tasks`
    Tasks(Vec<TaskView>),
    /// `/tasks ID`
    Task(Box<TaskView>),
    /// `/mail`: messages that wait, by mailbox.
    Mail(BTreeMap<AgentName, Vec<Message>>),
    /// `/worktrees`
    Worktrees(Vec<Worktree>),
    /// `/diff`
    Diff(Differences),
    /// `/log`: the last events.
    Log(Vec<Event>),
    /// `/log ID`: everything that bears the id, in full.
    Whole(Vec<Event>),
    /// `/model`
    Models {
        /// The lead's.
        speaks: String,
        /// The teammates' where nothing else is said.
        teammates: String,
        /// Those that can be named, as far as is known.
        known: Vec<String>,
    },
    /// `/trust`: what waits for the person's word.
    Trust(Content),
    /// `/usage` in this session.
    Usage(BTreeMap<AgentName, Spent>, Prices),
    /// `/limits`: each with what is used of it, a line each.
    Limits(Vec<String>),
}

/// How the person's own command ended.
#[derive(Debug, Clone)]
pub enum ShellEnd {
    /// It ran.
    Ran(ShellResult),
    /// It could not be started.
    NotRun(String),
}

/// What the start found and put in order (SPEC §15).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Account {
    /// Teammates that live and were taken over.
    pub adopted: Vec<AgentName>,
    /// Teammates whose process is gone.
    pub lost: Vec<Lost>,
    /// Tasks of dead owners, given back: id, subject, former owner.
    pub released: Vec<(TaskId, String, AgentName)>,
    /// Starts that a crash cut short, undone.
    pub undone: Vec<AgentName>,
    /// Requests of dead askers, withdrawn.
    pub withdrawn: Vec<Record>,
    /// Open questions that are shown again.
    pub questions: Vec<Record>,
    /// Open tasks by id and subject, at most 50.
    pub open: Vec<(TaskId, String)>,
    /// How many open tasks there are besides.
    pub more_open: usize,
    /// Worktrees that an open task cannot be done in, those to which no task is bound, and those whose work was not taken
    /// over; what is wrong with each.
    pub worktrees: Vec<String>,
    /// Damaged files of the board.
    pub damaged: Vec<String>,
    /// How many processes that commands of an earlier run had left running were ended.
    pub leftovers: usize,
    /// Messages that had been taken in but not put before the model.
    pub mail: usize,
}

/// A teammate whose process is gone without having stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct Lost {
    /// Its name.
    pub name: AgentName,
    /// Its role.
    pub role: String,
    /// Why, as far as known, such as `lead lost`.
    pub why: String,
}
