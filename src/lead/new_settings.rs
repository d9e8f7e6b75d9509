//! Settings that change while the session goes on (SPEC §13): taken over, or told of and left.
//!
//! Teammates find them in `session.json` at their next look, and judge by them from there on.

use super::session::Session;
use super::start::settle_mode;
use super::ui::{Shown, View};
use crate::config::{News, Settings};
use crate::ids::AgentName;

impl Session {
    /// A settings file, or the record of what the person has agreed to, may have changed.
    pub(super) fn look_at_settings(&mut self) {
        let Some(standing) = &mut self.options.standing else {
            return;
        };
        let News { lines, settled } = standing.look();
        for line in lines {
            tracing::warn!(line, "settings");
            self.say(line);
        }
        if let Some((before, fresh)) = settled {
            self.take_settings(&before, &fresh);
        }
    }

    /// `/trust`: shows in full what the workspace brings along and the person has not agreed to, or agrees to what was shown.
    pub(super) fn trust(&mut self, agrees: bool) {
        let terminal = self.options.terminal;
        let Some(standing) = self.options.standing.as_mut().filter(|_| terminal) else {
            let why = "only a person at a terminal can agree to a workspace's settings; nothing was agreed to; start lead there, \
                       or give --trust";
            return self.ui.show(Shown::Error(why.to_owned()));
        };
        let done = if agrees {
            standing.agree().map(|()| None)
        } else {
            standing.to_agree().map(Some)
        };
        match done {
            Ok(None) => {
                self.say("you have agreed to what was shown");
                self.look_at_settings();
            }
            Ok(Some(Some(content))) => self.ui.show(Shown::View(View::Trust(content))),
            Ok(Some(None)) => self.say("nothing of the workspace waits for your word"),
            Err(error) => self.ui.show(Shown::Error(error.to_string())),
        }
    }

    fn take_settings(&mut self, before: &Settings, fresh: &Settings) {
        let last = self.options.settings.clone();
        let mode = last.permissions.mode;
        let later = self.options.settings.take_over(before, fresh);
        settle_mode(&mut self.options);
        let taken = self.options.settings != last;
        if taken && let Err(why) = self.put_in_force() {
            self.options.settings = last;
            return self.say(format!(
                "the changed settings: {why}; the last good ones stay in force"
            ));
        }
        if self.options.settings.permissions.mode != mode {
            self.show_mode();
        }
        if taken {
            self.say("the changed settings are in force");
        }
        if !later.is_empty() {
            self.say(format!(
                "from the next start of `lead` on hold the changes of: {}",
                later.join(", ")
            ));
        }
    }

    /// Judges and limits by the settings as they are now, and tells the teammates.
    pub(super) fn put_in_force(&mut self) -> Result<(), String> {
        let settings = &self.options.settings;
        let mut models = [&self.options.model, &self.options.teammate_model].into_iter();
        let unpriced = models.find(|model| settings.prices.of(&model.to_string()).is_none());
        if let (Some(_), Some(model)) = (settings.limits.cost, unpriced) {
            return Err(format!("a limit on cost, but {model} has no price"));
        }
        let policy = settings
            .policy(&AgentName::lead())
            .map_err(|error| error.to_string())?;
        let record = serde_json::json!(settings);
        let old = std::mem::replace(&mut self.record.settings, record);
        let saved = self
            .record
            .save(&self.files.workspace, settings.durability());
        if let Err(error) = saved {
            self.record.settings = old;
            return Err(error.to_string());
        }
        self.mind.context.judge_by(policy);
        self.limit = None;
        self.time_ended &= self.time_is_up();
        Ok(())
    }
}
