//! The permission mode, gone round by the person in mid-session: in force for the lead from its next call, for teammates from
//! their next turn.

use super::Shown;
use super::session::Session;
use crate::policy::Mode;

/// The mode after `mode`. A slip of the finger must not lift every question: `bypass` is never come to.
fn next(mode: Mode) -> Mode {
    match mode {
        Mode::Ask => Mode::Confirm,
        Mode::Confirm => Mode::Deny,
        Mode::Deny | Mode::Bypass => Mode::Ask,
    }
}

fn means(mode: Mode) -> &'static str {
    match mode {
        Mode::Ask => "ask; what a rule says to ask about is asked",
        Mode::Confirm => {
            "confirm; every edit and every command is asked about unless an allow rule fits"
        }
        Mode::Deny => "deny; what would be asked about is denied",
        Mode::Bypass => "bypass; what would be asked about is allowed",
    }
}

impl Session {
    /// Shift+Tab.
    pub(super) fn next_mode(&mut self) {
        if self.leaving.is_some() {
            return;
        }
        let before = self.options.settings.permissions.mode;
        let mode = next(before.unwrap_or_default());
        self.options.settings.permissions.mode = Some(mode);
        if let Err(why) = self.put_in_force() {
            self.options.settings.permissions.mode = before;
            return self.ui.show(Shown::Error(format!(
                "the permission mode was not changed; {why}"
            )));
        }
        self.show_mode();
        self.say(format!("permissions: {}", means(mode)));
    }

    /// Says which mode is in force.
    pub(super) fn show_mode(&mut self) {
        let mode = self.options.settings.permissions.mode.unwrap_or_default();
        self.ui.show(Shown::Mode(mode));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_round_leads_through_all_modes_but_bypass_and_out_of_it() {
        let mut mode = Mode::Bypass;
        let round: Vec<Mode> = std::iter::repeat_with(|| {
            mode = next(mode);
            mode
        })
        .take(4)
        .collect();
        assert_eq!(round, [Mode::Ask, Mode::Confirm, Mode::Deny, Mode::Ask]);
    }
}
