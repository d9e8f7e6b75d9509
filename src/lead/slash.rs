//! What a line means outside of a question: pure.

use super::limits::{self, Limit};
use super::listed;
use super::look_back::{self, Part};
use crate::ids::{AgentName, nearest};

/// A line of the person.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    /// Nothing.
    Blank,
    /// To the lead's model.
    Say(String),
    /// `@name text`: to a teammate.
    Direct(AgentName, String),
    /// `!command`: the person's own.
    Shell(String),
    /// `/command`
    Command(Command),
    /// Not understood; why, and what would be.
    Wrong(String),
}

/// A command of the session.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Command {
    /// `/help`
    Help,
    /// `/team …`
    Team(TeamCommand),
    /// `/tasks [ID]`
    Tasks(Option<String>),
    /// `/mail`
    Mail,
    /// `/worktrees`
    Worktrees,
    /// `/diff`
    Diff,
    /// `/usage`
    Usage,
    /// `/limits [WHAT VALUE]`
    Limits(Option<Limit>),
    /// `/log [N|ID]`
    Log(Part),
    /// `/model [NAME]`
    Model(Option<String>),
    /// `/trust [yes]`: whether it agrees
    Trust(bool),
    /// `/compact`
    Compact,
    /// `/exit`
    Exit,
}

/// A command about the team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TeamCommand {
    /// Members and open requests.
    List,
    /// Open permission questions.
    Permissions,
    /// Open plans.
    Plans,
    /// Ask to stop.
    Stop(AgentName),
    /// The state of the last request to stop.
    Shutdown(AgentName),
    /// End the running call.
    Interrupt(AgentName),
    /// End the process.
    Kill(AgentName),
}

/// Reads a line.
pub(super) fn parse(line: &str) -> Line {
    let line = line.trim();
    let mut chars = line.chars();
    match chars.next() {
        None => Line::Blank,
        Some('@') => direct(chars.as_str()),
        Some('!') if chars.as_str().trim().is_empty() => {
            Line::Wrong("no command; ! runs the rest of the line; such as !git status".into())
        }
        Some('!') => Line::Shell(chars.as_str().trim().to_owned()),
        Some('/') => command(chars.as_str()),
        Some(_) => Line::Say(line.to_owned()),
    }
}

fn direct(rest: &str) -> Line {
    let (name, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let text = text.trim();
    match AgentName::parse(name.trim_end_matches([',', ':'])) {
        Err(why) => Line::Wrong(why.to_string()),
        Ok(_) if text.is_empty() => {
            Line::Wrong(format!("no text for {name}; write @{name} and what to say"))
        }
        Ok(name) if name.is_lead() => Line::Say(text.to_owned()),
        Ok(name) => Line::Direct(name, text.to_owned()),
    }
}

fn command(rest: &str) -> Line {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let (name, args) = words.split_first().map_or(("", &[][..]), |(n, a)| (*n, a));
    let plain = |command: Command| match args {
        [] => Line::Command(command),
        _ => Line::Wrong(format!("/{name} takes nothing; write /{name} alone")),
    };
    match name {
        "help" | "?" => plain(Command::Help),
        "mail" => plain(Command::Mail),
        "worktrees" => plain(Command::Worktrees),
        "diff" => plain(Command::Diff),
        "usage" => plain(Command::Usage),
        "limits" => match limits::parse(args) {
            Ok(limit) => Line::Command(Command::Limits(limit)),
            Err(why) => Line::Wrong(why),
        },
        "trust" => match args {
            [] => Line::Command(Command::Trust(false)),
            ["yes"] => Line::Command(Command::Trust(true)),
            _ => Line::Wrong(
                "/trust takes yes or nothing; alone it shows what waits for your word; write /trust or /trust yes".into(),
            ),
        },
        "compact" => plain(Command::Compact),
        "exit" | "quit" => plain(Command::Exit),
        "tasks" => match args {
            [] => Line::Command(Command::Tasks(None)),
            [id] => Line::Command(Command::Tasks(Some((*id).to_owned()))),
            _ => Line::Wrong(
                "too many words; /tasks takes one id; such as /tasks task_1a2b3c4d".into(),
            ),
        },
        "team" => team(args),
        "log" => match look_back::parse(args) {
            Ok(part) => Line::Command(Command::Log(part)),
            Err(why) => Line::Wrong(why),
        },
        // A script's path may have blanks.
        "model" => Line::Command(Command::Model(
            (!args.is_empty()).then(|| rest.trim_start_matches(name).trim().to_owned()),
        )),
        _ => Line::Wrong(unknown("/", name)),
    }
}

fn team(args: &[&str]) -> Line {
    /// What is done to one teammate.
    const VERBS: [&str; 4] = ["stop", "shutdown", "interrupt", "kill"];
    let (verb, name) = match args {
        [] | ["list"] => return Line::Command(Command::Team(TeamCommand::List)),
        ["messages"] => return Line::Command(Command::Mail),
        ["permissions"] => return Line::Command(Command::Team(TeamCommand::Permissions)),
        ["plans"] => return Line::Command(Command::Team(TeamCommand::Plans)),
        [verb] if VERBS.contains(verb) => {
            return Line::Wrong(format!(
                "/team {verb} whom; it takes a name; such as /team {verb} alice"
            ));
        }
        [verb, name] if VERBS.contains(verb) => (*verb, *name),
        [verb, ..] if listed::words_after("/team ").contains(verb) || *verb == "list" => {
            return Line::Wrong(format!("too many words after /team {verb}; see /help"));
        }
        [verb, ..] => return Line::Wrong(unknown("/team ", verb)),
    };
    let name = match AgentName::parse_teammate(name.trim_start_matches('@')) {
        Ok(name) => name,
        Err(why) => return Line::Wrong(why.to_string()),
    };
    Line::Command(Command::Team(match verb {
        "stop" => TeamCommand::Stop(name),
        "shutdown" => TeamCommand::Shutdown(name),
        "interrupt" => TeamCommand::Interrupt(name),
        _ => TeamCommand::Kill(name),
    }))
}

fn unknown(before: &str, given: &str) -> String {
    let known = listed::words_after(before);
    let there_are = known.join(", ");
    match nearest(given, known) {
        Some(near) => format!(
            "there is no {before}{given}; did you mean {before}{near}? There are {there_are}"
        ),
        None => format!("there is no {before}{given}; there are {there_are}; see /help"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> AgentName {
        AgentName::parse(text).unwrap()
    }

    #[test]
    fn lines_are_told_apart_by_their_first_sign() {
        for (line, wanted) in [
            ("  ", Line::Blank),
            (" make it so ", Line::Say("make it so".into())),
            (
                "@alice  look at this",
                Line::Direct(name("alice"), "look at this".into()),
            ),
            ("@alice: hi", Line::Direct(name("alice"), "hi".into())),
            ("@lead hi", Line::Say("hi".into())),
            ("!git status", Line::Shell("git status".into())),
            ("/help", Line::Command(Command::Help)),
            ("/trust", Line::Command(Command::Trust(false))),
            ("/trust yes", Line::Command(Command::Trust(true))),
            ("/compact", Line::Command(Command::Compact)),
            ("/exit ", Line::Command(Command::Exit)),
            ("/worktrees", Line::Command(Command::Worktrees)),
            ("/diff", Line::Command(Command::Diff)),
            ("/log 5", Line::Command(Command::Log(Part::Last(5)))),
            ("/model", Line::Command(Command::Model(None))),
            (
                "/model  script:a b.json ",
                Line::Command(Command::Model(Some("script:a b.json".into()))),
            ),
            ("/tasks", Line::Command(Command::Tasks(None))),
            (
                "/tasks task_1",
                Line::Command(Command::Tasks(Some("task_1".into()))),
            ),
            ("/team", Line::Command(Command::Team(TeamCommand::List))),
            ("/team messages", Line::Command(Command::Mail)),
            (
                "/team stop Alice",
                Line::Command(Command::Team(TeamCommand::Stop(name("alice")))),
            ),
            (
                "/team kill @bob",
                Line::Command(Command::Team(TeamCommand::Kill(name("bob")))),
            ),
        ] {
            assert_eq!(parse(line), wanted, "{line:?}");
        }
    }

    #[test]
    fn what_is_not_understood_says_what_would_be() {
        for (line, hint) in [
            ("/exot", "/exit"),
            ("/taem", "/team"),
            ("/team shutdwon alice", "shutdown"),
            ("/team stop", "/team stop alice"),
            ("/team stop a b", "/help"),
            ("/team kill lead", "reserved"),
            ("/team kill ../x", "would do"),
            ("/", "/help"),
            ("/usage now", "alone"),
            ("/log a b", "/log 50"),
            ("/modle", "/model"),
            ("/tasks a b", "one id"),
            ("@alice", "what to say"),
            ("@al/ice hi", "would do"),
            ("!", "git status"),
        ] {
            let Line::Wrong(text) = parse(line) else {
                panic!("{line:?} was understood")
            };
            assert!(text.contains(hint), "{line:?}: {text}");
        }
    }

    /// Only what may have blanks takes any number of words.
    #[test]
    fn every_command_refuses_more_than_it_takes() {
        for command in listed::COMMANDS
            .iter()
            .filter(|command| command.call.starts_with('/'))
        {
            let line = format!("{} one two three four", command.call);
            let wrong = matches!(parse(&line), Line::Wrong(_));
            assert_eq!(wrong, command.call != "/model", "{line}");
        }
    }
}
