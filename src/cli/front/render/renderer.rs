//! Each item as lines, and the text that is being streamed.

use std::collections::BTreeMap;

use super::board::{self, STOPPED};
use super::calls::{self, tool_call};
use super::prose::{self, indented};
use super::{recovered, requests};
use crate::cli::front::flow::Flow;
use crate::cli::front::{question, view};
use crate::cli::safe::{safe, safe_line};
use crate::cli::shell::{self, Style};
use crate::cli::wrap;
use crate::conversation::ToolCall;
use crate::ids::AgentName;
use crate::lead::{PromptFor, Shown, TeammateNews, View};
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
    /// What was last said of each teammate.
    said: BTreeMap<AgentName, &'static str>,
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
            said: BTreeMap::new(),
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

    /// The rows of streamed text that still change, at most `most` of them.
    pub fn open(&self, most: usize) -> Vec<String> {
        let width = (self.width)();
        width.map_or_else(Vec::new, |width| self.text.open(width, most))
    }

    /// The lines of one item; may be none.
    pub fn lines(&mut self, item: &Shown) -> Vec<String> {
        let width = (self.width)();
        match item {
            Shown::Delta(text) => {
                self.streamed = true;
                self.text.push(text, width)
            }
            Shown::Text(text) => {
                let mut lines = Vec::new();
                if !std::mem::take(&mut self.streamed) {
                    lines = self.text.push(text, width);
                }
                lines.extend(self.text.end(width));
                lines
            }
            Shown::Mail(_) | Shown::View(View::Diff(_)) | Shown::Shell { .. } => {
                self.of(item, width)
            }
            _ => wrap::lines(self.of(item, width), width),
        }
    }

    fn of(&mut self, item: &Shown, width: Option<usize>) -> Vec<String> {
        let style = self.style;
        match item {
            Shown::Started {
                session,
                model,
                resumed,
            } => {
                let how = if *resumed { "goes on" } else { "begins" };
                vec![style.dim(&safe_line(
                    &format!("session {session} {how}; the lead is {model}"),
                    400,
                ))]
            }
            Shown::Recovered(account) => recovered::recovered(style, account),
            Shown::ToolUse(call) => vec![style.dim(&format!("→ {}", tool_call(call)))],
            Shown::ToolResult { call, output, ok } => self.tool_result(call, output, *ok),
            Shown::Interrupted => self.void(style.warn("interrupted"), width),
            Shown::Retrying { why, wait } => {
                let line = format!(
                    "the model is asked again in {:.1} s: {why}",
                    wait.as_secs_f64()
                );
                self.void(style.warn(&safe_line(&line, 400)), width)
            }
            Shown::Mail(message) => prose::mail(style, message, width),
            Shown::Task(news) => board::task(style, news),
            Shown::Teammate(news) => self.teammate(news),
            Shown::RequestOpened(record) => requests::opened(style, record),
            Shown::RequestClosed(record) => vec![requests::closed(style, record)],
            Shown::Notice(text) => safe(text).lines().map(|line| style.dim(line)).collect(),
            Shown::Error(text) => vec![style.bad(&format!("error: {}", safe_line(text, 4000)))],
            Shown::View(shown) => view::lines(style, shown),
            Shown::Shell { command, end } => calls::shell(style, command, end),
            Shown::Leaving(names) => self.leaving(names),
            Shown::Prompt(PromptFor::Question(open)) => {
                question::lines(style, &open.record, open.behind, open.again.as_deref())
            }
            Shown::Delta(_)
            | Shown::Text(_)
            | Shown::Working(_)
            | Shown::Mode(_)
            | Shown::Used(_)
            | Shown::LineTaken
            | Shown::Prompt(PromptFor::Message | PromptFor::Nothing) => Vec::new(),
        }
    }

    /// What was streamed does not count: it stays visible, marked.
    fn void(&mut self, line: String, width: Option<usize>) -> Vec<String> {
        self.streamed = false;
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

    fn tool_result(&self, call: &ToolCall, output: &str, ok: bool) -> Vec<String> {
        let style = self.style;
        let name = safe_line(&call.name, 80);
        match (ok, self.verbose) {
            (true, false) => Vec::new(),
            (true, true) => indented(output)
                .iter()
                .map(|line| style.dim(line))
                .collect(),
            (false, _) => {
                let mut lines = vec![style.bad(&format!("✗ {name}"))];
                lines.extend(indented(output).iter().map(|line| style.dim(line)));
                lines
            }
        }
    }
}
