//! Each item as lines, and the text that is being streamed.

use std::collections::BTreeMap;
use std::time::Instant;

use super::board::{self, STOPPED};
use super::calls::{self, Ended, tool_call};
use super::prose::{self, indented};
use super::{recovered, requests};
use crate::board::{Status, Task};
use crate::cli::front::flow::Flow;
use crate::cli::front::question::{self, Look};
use crate::cli::front::view;
use crate::cli::safe::{safe, safe_line};
use crate::cli::shell::{self, Style};
use crate::cli::wrap;
use crate::clock;
use crate::conversation::ToolCall;
use crate::ids::{AgentName, RequestId, TaskId};
use crate::lead::{Answering, PromptFor, Shown, TeammateNews, View};
use crate::mailbox::Kind;
use crate::team::MemberStatus;

/// Turns items into lines; remembers what of the streamed text is not printed yet.
#[derive(Debug)]
pub struct Renderer {
    style: Style,
    verbose: bool,
    /// How wide rows may be; `None` gives lines as they are.
    width: fn() -> Option<usize>,
    text: Flow,
    streamed: bool,
    /// The call that runs, where a screen shows it.
    running: Option<Running>,
    /// What was last said of each teammate.
    said: BTreeMap<AgentName, &'static str>,
    /// What a teammate has reported last as its error: the end of its log says the same.
    reported: String,
    /// Why the model is asked again, as last said.
    refused: Option<String>,
    /// The question that stands there.
    asked: Option<RequestId>,
    /// Whether questions are framed on a screen, and then whether keys answer at once.
    frames: Option<bool>,
    /// What the open tasks are about, as far as they were shown.
    subjects: BTreeMap<TaskId, String>,
}

#[derive(Debug)]
struct Running {
    id: String,
    line: String,
    since: Instant,
}

impl Renderer {
    /// Gives lines as they are. Nothing is streamed yet.
    pub fn new(style: Style, verbose: bool) -> Self {
        Self {
            style,
            verbose,
            width: || None,
            text: Flow::new(style),
            streamed: false,
            running: None,
            said: BTreeMap::new(),
            reported: String::new(),
            refused: None,
            asked: None,
            frames: None,
            subjects: BTreeMap::new(),
        }
    }

    /// Questions get a frame where they are seen on a screen; `keys`: some keys answer them at once.
    #[must_use]
    pub fn with_frames(self, keys: bool) -> Self {
        Self {
            frames: Some(keys),
            ..self
        }
    }

    /// For the screen that standard output is, if it is one: rows end between words.
    #[must_use]
    pub fn on_screen(self) -> Self {
        // The last column stays free: a terminal that has filled it is about to wrap.
        self.in_rows(|| shell::width().map(|width| width.saturating_sub(1).max(1)))
    }

    pub(super) fn in_rows(mut self, width: fn() -> Option<usize>) -> Self {
        self.width = width;
        self
    }

    /// The rows that still change: streamed text, at most `most` of them, and the call that runs.
    pub fn open(&self, most: usize) -> Vec<String> {
        let Some(width) = (self.width)() else {
            return Vec::new();
        };
        let mut rows = self.text.open(width, most);
        let running = self.running.as_ref();
        rows.extend(
            running.and_then(|running| wrap::leave(&running.line, width).into_iter().next()),
        );
        rows
    }

    /// The lines of one item; may be none.
    pub fn lines(&mut self, item: &Shown) -> Vec<String> {
        let width = (self.width)();
        match item {
            Shown::Delta(text) => {
                self.refused = None;
                self.streamed = true;
                self.text.push(text, width)
            }
            Shown::Text(text) => {
                self.refused = None;
                let mut lines = Vec::new();
                if !std::mem::take(&mut self.streamed) {
                    lines = self.text.push(text, width);
                }
                lines.extend(self.text.end(width));
                lines
            }
            Shown::Mail(_)
            | Shown::ToolResult { .. }
            | Shown::View(View::Diff(_))
            | Shown::Shell { .. } => self.of(item, width),
            _ => wrap::lines(self.of(item, width), width),
        }
    }

    fn of(&mut self, item: &Shown, width: Option<usize>) -> Vec<String> {
        let style = self.style;
        match item {
            Shown::Started {
                session,
                root,
                model,
                resumed,
            } => {
                let how = if *resumed { "goes on" } else { "begins" };
                vec![style.dim(&safe_line(
                    &format!(
                        "session {session} {how} in {}; the lead is {model}",
                        root.display()
                    ),
                    400,
                ))]
            }
            Shown::Recovered(account) => {
                self.subjects.extend(account.open.iter().cloned());
                recovered::recovered(style, account)
            }
            Shown::ToolUse(call) => self.tool_use(call, width),
            Shown::ToolResult { call, output, ok } => {
                let took = self.running.take().filter(|running| running.id == call.id);
                let took =
                    took.map(|running| clock::instant().saturating_duration_since(running.since));
                let ended = Ended {
                    call,
                    output,
                    ok: *ok,
                    took,
                };
                self.tool_result(&ended, width)
            }
            Shown::Interrupted => self.void(style.warn("interrupted"), width),
            Shown::Retrying { why, wait } => {
                let known = self.refused.replace(why.clone()).as_ref() == Some(why);
                let line = format!(
                    "the model is asked again in {:.1} s: {}",
                    wait.as_secs_f64(),
                    if known { "the same" } else { why }
                );
                self.void(style.warn(&safe_line(&line, 400)), width)
            }
            Shown::Mail(message) => {
                if message.kind == Kind::ErrorReport {
                    self.reported.clone_from(&message.content);
                }
                prose::mail(style, message, width)
            }
            Shown::Task(news) => {
                self.learn(&news.task);
                board::task(style, news)
            }
            Shown::Teammate(news) => self.teammate(news),
            Shown::RequestOpened(record) => requests::opened(style, record),
            Shown::AskedElsewhere(record) => vec![requests::elsewhere(record)],
            Shown::RequestClosed(record) => vec![requests::closed(style, record)],
            Shown::Notice(text) => safe(text).lines().map(|line| style.dim(line)).collect(),
            Shown::Error(text) => vec![style.bad(&format!("error: {}", safe_line(text, 4000)))],
            Shown::View(shown) => view::lines(style, shown, width),
            Shown::Shell { command, end } => calls::shell(style, command, end),
            Shown::Leaving(names) => self.leaving(names),
            Shown::Prompt(PromptFor::Question(open)) => self.question(open, width),
            Shown::Delta(_)
            | Shown::Text(_)
            | Shown::Working(_)
            | Shown::Mode(_)
            | Shown::Used(_)
            | Shown::Held(_)
            | Shown::LineTaken
            | Shown::Prompt(PromptFor::Message | PromptFor::Nothing) => Vec::new(),
        }
    }

    fn learn(&mut self, task: &Task) {
        let open = matches!(task.status, Status::Pending | Status::InProgress);
        if open {
            self.subjects.insert(task.id.clone(), task.subject.clone());
        } else {
            self.subjects.remove(&task.id);
        }
    }

    /// One that stands there already is not shown again because others have come behind it.
    fn question(&mut self, open: &Answering, width: Option<usize>) -> Vec<String> {
        let id = &open.record.request_id;
        let known = self.asked.replace(id.clone()).as_ref() == Some(id);
        match &open.again {
            Some(why) => vec![self.style.bad(&safe_line(why, 400))],
            None if known => question::behind(self.style, open.behind),
            None => {
                let subject = open
                    .record
                    .task_id
                    .as_ref()
                    .and_then(|id| self.subjects.get(id));
                let look = match (width, self.frames) {
                    (Some(width), Some(keys)) => Look::Framed { width, keys },
                    _ => Look::Plain,
                };
                let subject = subject.map(String::as_str);
                question::lines(self.style, &open.record, subject, open.behind, look)
            }
        }
    }

    /// What was streamed does not count: it stays visible, marked.
    fn void(&mut self, line: String, width: Option<usize>) -> Vec<String> {
        self.streamed = false;
        self.running = None;
        let mut lines = self.text.end(width);
        lines.push(line);
        lines
    }

    /// A status is said once; what is known besides of one that stopped as asked is nothing new.
    fn teammate(&mut self, news: &TeammateNews) -> Vec<String> {
        let member = &news.member;
        let status = board::status_of(news);
        let mut lines = Vec::new();
        let before = self.said.insert(member.name.clone(), status);
        if before != Some(status) {
            lines.push(format!(
                "● {} {status}",
                self.style.name(member.name.as_str())
            ));
        }
        if let Some(note) = &news.note
            && member.status != MemberStatus::Stopped
            && !self.reported.contains(note.trim())
        {
            lines.extend(indented(note).iter().map(|line| self.style.dim(line)));
        }
        lines
    }

    /// Whose stop was shown is not waited for any more, though its process may take a moment longer.
    fn leaving(&self, names: &[AgentName]) -> Vec<String> {
        let waits = |name: &&AgentName| self.said.get(*name) != Some(&STOPPED);
        let waiting: Vec<&str> = names.iter().filter(waits).map(AgentName::as_str).collect();
        if names.is_empty() {
            vec![self.style.dim("the team has stopped")]
        } else if waiting.is_empty() {
            Vec::new()
        } else {
            let line = format!("waiting for {} to stop", waiting.join(", "));
            vec![self.style.dim(&line)]
        }
    }

    /// On a screen a call is seen while it runs, and said when it has ended; elsewhere it is said when it begins.
    fn tool_use(&mut self, call: &ToolCall, width: Option<usize>) -> Vec<String> {
        let line = self.style.dim(&format!("→ {}", tool_call(call)));
        if width.is_none() {
            return vec![line];
        }
        self.running = Some(Running {
            id: call.id.clone(),
            line,
            since: clock::instant(),
        });
        Vec::new()
    }

    fn tool_result(&self, ended: &Ended<'_>, width: Option<usize>) -> Vec<String> {
        let style = self.style;
        if width.is_some() && !(ended.ok && self.verbose) {
            return calls::folded(style, ended, width);
        }
        let Ended {
            call, output, ok, ..
        } = *ended;
        let name = safe_line(&call.name, 80);
        match (ok, self.verbose) {
            (true, false) => Vec::new(),
            (true, true) => {
                let mut lines = match width {
                    Some(_) => calls::folded(style, ended, width),
                    None => Vec::new(),
                };
                lines.extend(indented(output).iter().map(|line| style.dim(line)));
                lines
            }
            (false, _) => {
                let mut lines = vec![style.bad(&format!("✗ {name}"))];
                lines.extend(indented(output).iter().map(|line| style.dim(line)));
                lines
            }
        }
    }
}
