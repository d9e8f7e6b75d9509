//! The person's words before they are sent: a hook may refuse them (SPEC §10.4). One after another, so that they stay in
//! order.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Shown;
use super::inlet::Event;
use super::session::Session;
use crate::cancel::Cancel;
use crate::ids::AgentName;
use crate::policy::HookEvent;
use crate::tool::hooks::{self, Occasion};

/// Words of the person.
#[derive(Debug)]
pub(super) struct Words {
    /// For whom; `None`: the lead.
    pub(super) to: Option<AgentName>,
    pub(super) text: String,
}

/// Words on their way.
#[derive(Debug, Default)]
pub(super) struct Submissions {
    waiting: VecDeque<Words>,
    /// Ends the hooks that judge the first of them.
    judging: Option<Arc<Cancel>>,
}

impl Submissions {
    /// Whether hooks run.
    pub(super) fn under_way(&self) -> bool {
        self.judging.is_some()
    }

    /// Ends the hooks that run: what they judge is not sent.
    pub(super) fn cancel(&self) {
        if let Some(judging) = &self.judging {
            judging.cancel();
        }
    }
}

impl Session {
    /// Sends `words` unless a hook refuses them.
    pub(super) fn submit(&mut self, words: Words) {
        let hooks = &self.options.settings.hooks;
        if hooks.of(HookEvent::UserPromptSubmit).is_empty() {
            return self.send(words);
        }
        self.person.submissions.waiting.push_back(words);
        self.judge_words();
    }

    fn judge_words(&mut self) {
        let submissions = &mut self.person.submissions;
        if submissions.under_way() {
            return;
        }
        let Some(words) = submissions.waiting.pop_front() else {
            return;
        };
        let cancel = Arc::new(Cancel::new());
        submissions.judging = Some(Arc::clone(&cancel));
        let (inlet, context) = (self.inlet.clone(), Arc::clone(&self.mind.context));
        std::thread::spawn(move || {
            let occasion = Occasion {
                to: words.to.as_ref(),
                text: Some(&words.text),
                ..Occasion::of(HookEvent::UserPromptSubmit)
            };
            let judged = hooks::run(&context, &occasion, &cancel);
            inlet.put(Event::Judged(words, judged));
        });
    }

    /// The hooks for `words` have ended.
    pub(super) fn on_judged(&mut self, words: Words, judged: Result<(), String>) {
        let judging = self.person.submissions.judging.take();
        let cut = judging.is_some_and(|cancel| cancel.is_cancelled());
        match judged {
            _ if self.leaving.is_some() || cut => self.not_said(&words.text),
            Ok(()) => self.send(words),
            Err(why) => self.refused(&why),
        }
        self.judge_words();
    }

    fn refused(&mut self, why: &str) {
        let text = format!("not sent; a hook refuses it: {why}");
        if self.options.goal.is_some() {
            self.failed(text);
        } else {
            self.ui.show(Shown::Error(text));
        }
    }

    /// The session is ending: nothing more is sent.
    pub(super) fn drop_submissions(&mut self) {
        self.person.submissions.cancel();
        for words in std::mem::take(&mut self.person.submissions.waiting) {
            self.not_said(&words.text);
        }
    }
}
