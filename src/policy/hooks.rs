//! Commands of the person's own that run when something happens, and what the end of one means (SPEC §10.4): pure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::process::guard::End;

/// The exit code that blocks.
const BLOCKS: i32 = 2;

/// What hooks are for. Serialised as in the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum HookEvent {
    /// The person has entered a line; it is not sent if blocked.
    UserPromptSubmit,
    /// A tool is about to be judged and run; it is refused if blocked.
    PreToolUse,
    /// A tool has run; a block's text is added to its result.
    PostToolUse,
    /// The model has ended its round; the round goes on if blocked.
    Stop,
    /// A teammate is about to become idle; its round goes on if blocked.
    TeammateIdle,
    /// A task is about to be completed; it stays in progress if blocked.
    TaskCompleted,
}

impl HookEvent {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::UserPromptSubmit,
        Self::PreToolUse,
        Self::PostToolUse,
        Self::Stop,
        Self::TeammateIdle,
        Self::TaskCompleted,
    ];

    /// As in the settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::Stop => "Stop",
            Self::TeammateIdle => "TeammateIdle",
            Self::TaskCompleted => "TaskCompleted",
        }
    }
}

/// Shell commands by event; those of one event run in order until one blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase", default)]
pub struct Hooks {
    /// Before a line of the person is sent.
    pub user_prompt_submit: Vec<String>,
    /// Before a tool is judged and run.
    pub pre_tool_use: Vec<String>,
    /// After a tool has run.
    pub post_tool_use: Vec<String>,
    /// When the model has ended its round.
    pub stop: Vec<String>,
    /// Before a teammate becomes idle.
    pub teammate_idle: Vec<String>,
    /// Before a task counts as completed.
    pub task_completed: Vec<String>,
}

impl Hooks {
    /// The commands for `event`.
    pub fn of(&self, event: HookEvent) -> &[String] {
        match event {
            HookEvent::UserPromptSubmit => &self.user_prompt_submit,
            HookEvent::PreToolUse => &self.pre_tool_use,
            HookEvent::PostToolUse => &self.post_tool_use,
            HookEvent::Stop => &self.stop,
            HookEvent::TeammateIdle => &self.teammate_idle,
            HookEvent::TaskCompleted => &self.task_completed,
        }
    }

    /// Adds those of another layer behind these.
    pub fn extend(&mut self, more: &Self) {
        for (commands, more) in [
            (&mut self.user_prompt_submit, &more.user_prompt_submit),
            (&mut self.pre_tool_use, &more.pre_tool_use),
            (&mut self.post_tool_use, &more.post_tool_use),
            (&mut self.stop, &more.stop),
            (&mut self.teammate_idle, &more.teammate_idle),
            (&mut self.task_completed, &more.task_completed),
        ] {
            commands.extend_from_slice(more);
        }
    }
}

/// What the end of a hook means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookVerdict {
    /// Nothing.
    GoOn,
    /// It blocks, with this text for whoever is blocked.
    Block(String),
    /// It counts for nothing; what the person is shown.
    Ignored(String),
}

/// Judges how `command` ended for `event`; `errors` is what it wrote to standard error, `seconds` its time limit.
pub fn judge(
    event: HookEvent,
    command: &str,
    end: &End,
    errors: &str,
    seconds: u64,
) -> HookVerdict {
    let errors = errors.trim();
    let how = match end {
        End::Exited(0) | End::Cancelled => return HookVerdict::GoOn,
        End::Exited(BLOCKS) if errors.is_empty() => {
            return HookVerdict::Block(format!(
                "a hook of the person's ({}) blocks this and says no reason",
                event.as_str()
            ));
        }
        End::Exited(BLOCKS) => return HookVerdict::Block(errors.to_owned()),
        End::Exited(code) => format!("ended with status {code}"),
        End::Signalled(number) => format!("was ended by signal {number}"),
        End::TimedOut => format!("took more than {seconds} s and was ended"),
    };
    HookVerdict::Ignored(ignored(event, command, &how, errors))
}

/// What the person is told of a hook that counts for nothing.
pub fn ignored(event: HookEvent, command: &str, how: &str, errors: &str) -> String {
    let mut text = format!(
        "the {} hook {how} and is ignored ({command})",
        event.as_str()
    );
    if !errors.is_empty() {
        text.extend([": ", errors]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_status_2_blocks_and_only_0_is_silent() {
        for event in HookEvent::ALL {
            let judged = |end: End, errors: &str| judge(event, "check", &end, errors, 60);
            for end in [End::Exited(0), End::Cancelled] {
                assert_eq!(judged(end, "words"), HookVerdict::GoOn);
            }
            let block = judged(End::Exited(2), "not so\n");
            assert_eq!(block, HookVerdict::Block("not so".into()));
            let HookVerdict::Block(text) = judged(End::Exited(2), " \n") else {
                panic!("it does not block");
            };
            assert!(text.contains(event.as_str()), "{text}");
            for (end, how) in [
                (End::Exited(1), "ended with status 1"),
                (End::Exited(127), "ended with status 127"),
                (End::Signalled(9), "was ended by signal 9"),
                (End::TimedOut, "took more than 60 s and was ended"),
            ] {
                let HookVerdict::Ignored(text) = judged(end, "why") else {
                    panic!("{how} counts");
                };
                for part in [how, event.as_str(), "(check): why"] {
                    assert!(text.contains(part), "{part}: {text}");
                }
            }
        }
    }

    #[test]
    fn each_event_has_commands_of_its_own_and_layers_add_up() {
        let mut hooks = Hooks::default();
        for _layer in 0..2 {
            for event in HookEvent::ALL {
                let json = serde_json::json!({ event.as_str(): [event.as_str()] });
                hooks.extend(&serde_json::from_value(json).unwrap());
            }
        }
        for event in HookEvent::ALL {
            assert_eq!(hooks.of(event), [event.as_str(); 2]);
            assert_eq!(serde_json::to_value(event).unwrap(), event.as_str());
        }
    }
}
