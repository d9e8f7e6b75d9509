//! The commands of the session, for `/help`, completion and suggestions.

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    /// As typed, without what it takes.
    pub call: &'static str,
    /// What it takes; may be empty.
    pub takes: &'static str,
    /// What it does.
    pub what: &'static str,
    /// A whole line, where it takes something.
    pub example: &'static str,
}

const fn listed(
    call: &'static str,
    takes: &'static str,
    what: &'static str,
    example: &'static str,
) -> Listed {
    Listed {
        call,
        takes,
        what,
        example,
    }
}

/// All of them, in the order in which they are shown.
pub const COMMANDS: [Listed; 22] = [
    listed(
        "@NAME",
        "TEXT",
        "speak to a teammate directly",
        "@alice mind the tests",
    ),
    listed("!COMMAND", "", "run a command of your own", "!git status"),
    listed("/help", "", "show this", ""),
    listed("/team", "", "members and open requests", ""),
    listed("/team messages", "", "messages that wait", ""),
    listed("/team permissions", "", "open permission questions", ""),
    listed("/team plans", "", "open plans", ""),
    listed(
        "/team stop",
        "NAME",
        "ask a teammate to stop",
        "/team stop alice",
    ),
    listed(
        "/team shutdown",
        "NAME",
        "how the last request to stop stands",
        "/team shutdown alice",
    ),
    listed(
        "/team interrupt",
        "NAME",
        "end a teammate's running call",
        "/team interrupt alice",
    ),
    listed(
        "/team kill",
        "NAME",
        "end a teammate's process",
        "/team kill alice",
    ),
    listed(
        "/tasks",
        "[ID]",
        "the board, or one task",
        "/tasks task_1a2b3c4d",
    ),
    listed("/mail", "", "messages that wait", ""),
    listed("/worktrees", "", "worktrees with their tasks", ""),
    listed(
        "/log",
        "[N|ID]",
        "the last events, or one in full: a call, a message, a request",
        "/log 50",
    ),
    listed(
        "/diff",
        "",
        "what has changed since this session's first change",
        "",
    ),
    listed("/usage", "", "tokens and calls of this session", ""),
    listed(
        "/limits",
        "[WHAT VALUE]",
        "what the team may use, or another limit on tokens, turns, time, cost",
        "/limits time 2h",
    ),
    listed(
        "/model",
        "[NAME]",
        "the lead's model, or another from its next turn on",
        "/model openai:gpt-5.4",
    ),
    listed(
        "/trust",
        "[yes]",
        "what the workspace's changed settings and roles say, or agree to what was shown",
        "/trust yes",
    ),
    listed("/compact", "", "sum the conversation up, to make room", ""),
    listed("/exit", "", "stop the team and leave", ""),
];

/// The words that may follow `before`, such as `/` or `/team `; each once.
pub(super) fn words_after(before: &str) -> Vec<&'static str> {
    let mut words = Vec::new();
    for command in &COMMANDS {
        let rest = command.call.strip_prefix(before);
        let Some(word) = rest.and_then(|rest| rest.split(' ').next()) else {
            continue;
        };
        if !word.is_empty() && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_something_has_an_example_of_itself() {
        for command in &COMMANDS {
            let sign = command.call.starts_with(['@', '!']);
            let begins = command.example.starts_with(command.call) || sign;
            assert_eq!(
                command.takes.is_empty() && !sign,
                command.example.is_empty()
            );
            assert!(command.example.is_empty() || begins, "{command:?}");
        }
    }

    #[test]
    fn words_that_may_follow_come_from_the_list() {
        assert!(words_after("/").starts_with(&["help", "team", "tasks"]));
        assert!(words_after("/team ").contains(&"shutdown"));
        assert!(words_after("/x").is_empty());
    }
}
