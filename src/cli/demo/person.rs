//! The person of the demo: says the goal, answers questions or lets the real person answer, and ends it when all have stopped.

use std::collections::BTreeSet;

use crate::cli::front::prompt_line::PromptLine;
use crate::cli::front::pull::Pull;
use crate::cli::front::question;
use crate::cli::front::render::Renderer;
use crate::cli::shell::{self, Style};
use crate::cli::wrap;
use crate::ids::{AgentName, RequestId};
use crate::lead::{Inlet, PromptFor, Shown, Ui};
use crate::request::{Record, RequestKind, RequestStatus};
use crate::team::MemberStatus;

const GOAL: &str = "The suite of tally fails. Please repair it, explain how tally is used, and throw out the old cache.";
const TEAM: usize = 3;

/// How far the person is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Has not said the goal.
    Silent,
    /// Answers what is asked.
    Waiting,
    /// Says no more.
    Over,
}

/// Shows the session and takes the person's part.
#[derive(Debug)]
pub(super) struct Person {
    style: Style,
    renderer: Renderer,
    prompt: PromptLine,
    inlet: Inlet,
    /// The real person's lines; `None` if the answers are scripted.
    lines: Option<Pull>,
    stage: Stage,
    at_rest: bool,
    rejections: usize,
    declined: bool,
    stopped: BTreeSet<AgentName>,
    /// What the real person was asked last.
    asked: Option<RequestId>,
}

impl Person {
    /// With `scripted` the answers come from here.
    pub(super) fn new(style: Style, inlet: Inlet, scripted: bool) -> Self {
        let prompt = PromptLine::undisturbed();
        Self {
            style,
            renderer: Renderer::new(style, false).on_screen().with_frames(false),
            lines: (!scripted).then(|| Pull::start(inlet.clone(), prompt.open())),
            prompt,
            inlet,
            stage: Stage::Silent,
            at_rest: false,
            rejections: 0,
            declined: false,
            stopped: BTreeSet::new(),
            asked: None,
        }
    }

    fn say(&self, text: &str) {
        shell::out_line(&format!("{} {text}", self.style.bold("you>")));
        self.inlet.line(text);
    }

    fn prompted(&mut self, prompt: &PromptFor) {
        self.at_rest = *prompt == PromptFor::Message;
        match prompt {
            PromptFor::Message if self.stage == Stage::Silent => {
                self.stage = Stage::Waiting;
                self.say(GOAL);
            }
            PromptFor::Question(open) => self.asked(&open.record),
            PromptFor::Message | PromptFor::Nothing => {}
        }
    }

    fn asked(&mut self, record: &Record) {
        let suggested = self.scripted_answer(record.kind);
        match &mut self.lines {
            None => self.say(suggested),
            Some(lines) => {
                let hint = format!("(the script's person would say: {suggested})");
                let hint = wrap::lines(vec![self.style.dim(&hint)], shell::width());
                self.asked = Some(record.request_id.clone());
                self.prompt.ask(&hint, &question::prompt(record));
                lines.ask();
            }
        }
    }

    fn scripted_answer(&self, kind: RequestKind) -> &'static str {
        match kind {
            RequestKind::PlanApproval if self.rejections == 0 => {
                "n say first what it starts from: all numbers may be negative"
            }
            RequestKind::Permission => "a it is only the old cache",
            RequestKind::Team
            | RequestKind::PlanApproval
            | RequestKind::Shutdown
            | RequestKind::PlanWish => "y",
        }
    }

    fn note(&mut self, item: &Shown) {
        match item {
            Shown::Teammate(news) => {
                if matches!(
                    news.member.status,
                    MemberStatus::Stopped | MemberStatus::Failed
                ) {
                    self.stopped.insert(news.member.name.clone());
                }
            }
            Shown::RequestClosed(record) => {
                if self.asked.as_ref() == Some(&record.request_id) {
                    self.prompt.close();
                }
                match record.status {
                    RequestStatus::Rejected => self.rejections += 1,
                    RequestStatus::Declined => self.declined = true,
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// The script goes on only if the team was agreed to and one of two plans was approved.
    fn is_over(&self) -> bool {
        self.stopped.len() >= TEAM || self.declined || self.rejections > 1
    }
}

impl Ui for Person {
    fn show(&mut self, item: Shown) {
        self.prompt.print(&self.renderer.lines(&item));
        self.note(&item);
        if let (Shown::LineTaken, Some(lines)) = (&item, &mut self.lines) {
            lines.taken();
        }
        if let Shown::Prompt(prompt) = &item {
            self.prompted(prompt);
        }
        if self.stage == Stage::Waiting && self.at_rest && self.is_over() {
            self.stage = Stage::Over;
            self.inlet.end_of_input();
        }
    }
}
