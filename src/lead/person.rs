//! The person's side: lines, interrupts, the end of input, and what the next line is for.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::inlet::Event;
use super::session::Session;
use super::slash::{self, Line};
use super::submit::{Submissions, Words};
use super::{PromptFor, ShellEnd, Shown};
use crate::cancel::Cancel;
use crate::clock;
use crate::ids::{AgentName, RequestId};
use crate::mailbox::{Kind, Message, Sent};
use crate::process::guard::{self, ShellCall, ShellResult};
use crate::request::RequestKind;

/// A second Ctrl-C within this time leaves.
const TWICE: Duration = Duration::from_secs(2);
/// How long the person's own command may run.
const SHELL_TIME: Duration = Duration::from_mins(10);
/// How much of its output is shown, in characters.
const SHELL_KEEP: usize = 50_000;

/// What is known of the person.
#[derive(Default)]
pub(super) struct Person {
    /// No more lines will come.
    pub(super) input_ended: bool,
    last_interrupt: Option<Instant>,
    /// What was refused last only because nobody could agree to it.
    pub(super) missed: Option<RequestKind>,
    /// Calls that were denied since nobody is asked, each once.
    pub(super) denied: BTreeSet<String>,
    /// What was last said about the next line; `None` after a line was taken.
    prompt: Option<PromptFor>,
    /// The person's own command that runs.
    pub(super) shell: Option<Arc<Cancel>>,
    /// What was last said of the lead's model: whether it works.
    pub(super) sees_work: bool,
    /// How many answers to the person's commands are being looked for.
    pub(super) looking: u32,
    /// Words on their way past the hooks.
    pub(super) submissions: Submissions,
}

impl Person {
    /// The person is told what the next line is for without being shown all of it.
    pub(super) fn sees(&mut self, prompt: PromptFor) {
        self.prompt = Some(prompt);
    }

    /// Whether something that the person asked for is under way.
    pub(super) fn is_served(&self) -> bool {
        self.shell.is_some() || self.looking > 0 || self.submissions.under_way()
    }
}

impl Session {
    /// A line that was read `at`.
    pub(super) fn on_line(&mut self, text: &str, at: Instant) {
        self.take_line();
        if self.questions.is_for(at) && self.may_answer(text) {
            self.answer_line(text);
        } else {
            self.on_words(text);
        }
    }

    /// A line that was entered for `question`.
    pub(super) fn on_reply(&mut self, question: &RequestId, text: &str) {
        self.take_line();
        if !self.may_answer(text) {
            self.on_words(text);
        } else if self.questions.is_shown(question) {
            self.answer_line(text);
        } else {
            self.say(format!("nothing was answered; {question} is closed"));
        }
    }

    fn may_answer(&self, text: &str) -> bool {
        let command = self.options.terminal && text.trim_start().starts_with(['/', '@', '!']);
        self.leaving.is_none() && !self.nobody_answers() && !command
    }

    fn take_line(&mut self) {
        self.person.prompt = None;
        self.ui.show(Shown::LineTaken);
    }

    /// A line that was entered where a message was asked for.
    pub(super) fn on_message_line(&mut self, text: &str) {
        self.take_line();
        self.on_words(text);
    }

    /// A line that answers nothing.
    fn on_words(&mut self, text: &str) {
        if self.leaving.is_some() {
            if let Line::Say(text) = slash::parse(text) {
                self.not_said(&text);
            }
            return;
        }
        match slash::parse(text) {
            Line::Blank => {}
            Line::Say(text) => self.on_message(text),
            Line::Direct(name, text) => self.submit(Words {
                to: Some(name),
                text,
            }),
            Line::Shell(command) => self.run_shell(command),
            Line::Command(command) => self.on_command(command),
            Line::Wrong(why) => self.ui.show(Shown::Error(why)),
        }
    }

    fn on_message(&mut self, text: String) {
        if self.over_limit() {
            let limit = self.limit.clone().unwrap_or_default();
            self.ui.show(Shown::Error(format!(
                "the lead was not asked; the limit of {limit} is reached; leave with /exit and start with a higher one"
            )));
            return;
        }
        self.submit(Words { to: None, text });
    }

    /// Puts words of the person where they are read.
    pub(super) fn send(&mut self, words: Words) {
        let Words { to, text } = words;
        if let Some(name) = to {
            return self.speak_to(&name, text);
        }
        self.mind.said.push_back(text);
        self.person_moves();
        if self.options.terminal && self.mind.thinker.is_busy() {
            self.say("queued; the lead reads it at its next turn");
        }
    }

    fn speak_to(&mut self, name: &AgentName, text: String) {
        self.person_moves();
        let mut message = Message::new(&AgentName::user(), name, Kind::Instruction, text);
        match self.files.post.send(&mut message, &*self.files.directory) {
            Ok(Sent::Delivered) if self.options.terminal => {
                self.say(format!("{name} reads it at its next turn"));
            }
            Ok(Sent::Delivered) => {}
            Ok(Sent::Kept(state)) => self.say(format!(
                "{name} is {state}; it reads this when it is started again"
            )),
            Err(error) => self.complain(&format!("nothing was sent to {name}"), &error),
        }
    }

    fn run_shell(&mut self, command: String) {
        if self.person.shell.is_some() {
            return self.say("another command of yours still runs; Ctrl-C ends it");
        }
        let workspace = &self.files.workspace;
        let call = ShellCall {
            command: command.clone(),
            dir: workspace.root().to_owned(),
            env: self.options.person_env.clone(),
            timeout: SHELL_TIME,
            spill: workspace.agent_tmp(&AgentName::lead()).join("shell.txt"),
            sandbox: None,
            keep: SHELL_KEEP,
        };
        let cancel = Arc::new(Cancel::new());
        self.person.shell = Some(Arc::clone(&cancel));
        let inlet = self.inlet.clone();
        std::thread::spawn(move || {
            let outcome = guard::run_shell(&call, &cancel);
            inlet.put(Event::Shell { command, outcome });
        });
    }

    pub(super) fn on_shell_end(&mut self, command: String, outcome: std::io::Result<ShellResult>) {
        self.person.shell = None;
        let end = match outcome {
            Ok(result) => ShellEnd::Ran(result),
            Err(error) => ShellEnd::NotRun(error.to_string()),
        };
        self.ui.show(Shown::Shell { command, end });
    }

    /// No more lines: on a terminal the person leaves; elsewhere the session ends as `-p` does.
    pub(super) fn on_end_of_input(&mut self) {
        if self.options.goal.is_some() || self.person.input_ended {
            return;
        }
        if self.options.terminal {
            return self.leave(None, false);
        }
        self.person.input_ended = true;
        if !self.options.yes {
            self.record.unattended = true;
            let saved = self
                .record
                .save(&self.files.workspace, crate::store::Durability::Process);
            if let Err(error) = saved {
                self.complain("the end of input was not recorded", &error);
            }
        }
        self.refuse_all();
    }

    /// Ctrl-C: once cuts what runs, twice leaves.
    pub(super) fn on_interrupt(&mut self) {
        let now = clock::instant();
        let twice = self
            .person
            .last_interrupt
            .is_some_and(|last| now.saturating_duration_since(last) < TWICE);
        self.person.last_interrupt = Some(now);
        if twice || self.leaving.is_some() {
            return self.leave(None, true);
        }
        if let Some(shell) = &self.person.shell {
            shell.cancel();
        } else if self.person.submissions.under_way() {
            self.person.submissions.cancel();
        } else if self.mind.thinker.is_busy() {
            self.cut("the person interrupted you");
        }
        self.say("press Ctrl-C again to leave");
    }

    /// What a person who comes back finds first: the end of the conversation that goes on.
    pub(super) fn say_what_was_last(&mut self) {
        const MOST: usize = 600;
        let last = self.mind.thinker.last_text();
        let Some(text) = last.filter(|_| self.options.terminal) else {
            return;
        };
        let kept: String = text.chars().take(MOST).collect();
        let more = if kept.len() < text.len() {
            " …; /log has it whole"
        } else {
            ""
        };
        self.say(format!("the lead said last: {}{more}", kept.trim_end()));
    }

    /// Says what the next line is for, if that is news.
    pub(super) fn update_prompt(&mut self) {
        self.show_work();
        let next = self.next_prompt();
        if self.person.prompt.as_ref() != Some(&next) {
            self.person.prompt = Some(next.clone());
            self.ui.show(Shown::Prompt(next));
        }
    }

    fn next_prompt(&mut self) -> PromptFor {
        if self.nobody_answers() {
            return PromptFor::Nothing;
        }
        if let Some(question) = self.question() {
            return question;
        }
        if self.mind.thinker.is_busy() || self.person.is_served() || self.wants_round() {
            PromptFor::Nothing
        } else {
            PromptFor::Message
        }
    }

    /// The goal of `-p`, as the person's first word.
    pub(super) fn say_goal(&mut self) {
        if let Some(goal) = &self.options.goal {
            let text = goal.clone();
            self.submit(Words { to: None, text });
        }
    }
}
