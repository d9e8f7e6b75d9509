//! Which call somebody meant who typed a word that is no verb: pure.
//!
//! A verb in the plural or singular, a command of the session, another word for the same thing, the beginning of a verb,
//! or a slip of the fingers: in this order, since what is near in letters is often far in meaning.

use clap::{Command, CommandFactory};

use super::args::Cli;
use crate::ids;
use crate::lead::COMMANDS;

/// Other words where `lead` takes a verb, and the call that they mean.
const OTHER_WORDS: [(&[&str], &str); 29] = [
    (&["help", "commands"], "lead --help"),
    (&["version"], "lead --version"),
    (&["start", "chat", "open"], "lead"),
    (&["run", "goal", "exec"], "lead -p \"GOAL\""),
    (&["resume"], "lead --resume ID"),
    (&["continue"], "lead --continue"),
    (&["watch", "top"], "lead status --watch"),
    (&["ps", "info", "requests", "questions"], "lead status"),
    (
        &[
            "teammate",
            "teammates",
            "member",
            "members",
            "agent",
            "agents",
        ],
        "lead team list",
    ),
    (&["stop", "shutdown"], "lead team stop NAME"),
    (&["kill"], "lead team kill NAME"),
    (&["board", "list", "ls", "todo", "todos"], "lead task list"),
    (&["add", "new", "create"], "lead task add SUBJECT"),
    (&["show"], "lead task show ID"),
    (&["complete", "done"], "lead task complete ID"),
    (&["release", "retry"], "lead task release ID"),
    (&["cancel"], "lead task cancel ID"),
    (
        &["message", "messages", "msg", "msgs", "inbox", "mailbox"],
        "lead mail list",
    ),
    (&["send", "say", "tell"], "lead mail send NAME TEXT"),
    (&["approve"], "lead plan approve REQ"),
    (&["reject"], "lead plan reject REQ"),
    (&["allow"], "lead permission allow REQ"),
    (&["deny"], "lead permission deny REQ"),
    (&["merge"], "lead worktree merge NAME"),
    (&["branch", "branches"], "lead worktree list"),
    (&["cost", "costs", "tokens"], "lead usage"),
    (&["history", "events", "timeline"], "lead log"),
    (&["check", "health", "repair"], "lead doctor"),
    (&["settings", "schema"], "lead config"),
];

/// Other words for a verb below a verb.
const OTHER_VERBS: [(&[&str], &str); 10] = [
    (&["ls", "all"], "list"),
    (&["new", "create"], "add"),
    (&["read", "open", "view", "get"], "show"),
    (&["edit", "change", "set"], "update"),
    (&["done", "finish", "close"], "complete"),
    (&["retry", "reopen", "unclaim"], "release"),
    (&["write", "new", "say", "tell"], "send"),
    (&["shutdown", "end"], "stop"),
    (&["accept", "approve", "allow", "yes"], "approve allow"),
    (&["decline", "reject", "deny", "no"], "reject deny"),
];

/// Other words for what takes something away.
const AWAY: [&str; 4] = ["rm", "delete", "remove", "abort"];

/// The call that `word` means where `command`, such as `lead` or `lead task`, takes a verb; or where the word belongs.
pub fn by(command: &str, word: &str) -> Option<String> {
    let cli = Cli::command();
    let below = command.split(' ').skip(1).try_fold(&cli, |at, verb| {
        at.get_subcommands().find(|below| below.get_name() == verb)
    })?;
    let said = word.trim_start_matches('/').to_lowercase();
    let top = !command.contains(' ');
    if top && said.contains(char::is_whitespace) {
        return Some("`lead -p \"GOAL\"`".to_owned());
    }
    if let Some(verb) = in_another_number(below, &said) {
        return Some(format!("`{command} {verb}`"));
    }
    if let Some(call) = in_other_words(&said).filter(|_| top) {
        return Some(call);
    }
    let verb = verb_in_other_words(below, &said).or_else(|| near(below, &said))?;
    Some(format!("`{command} {verb}`"))
}

/// The verb itself, or its plural or singular: the plural of what has a list means the list.
fn in_another_number(below: &Command, said: &str) -> Option<String> {
    let singular = |word: &str| word.strip_suffix('s').unwrap_or(word).to_owned();
    let found = below
        .get_subcommands()
        .find(|verb| singular(verb.get_name()) == singular(said))?;
    let name = found.get_name();
    if found.find_subcommand("list").is_some() {
        return Some(format!("{name} list"));
    }
    Some(name.to_owned())
}

fn in_other_words(said: &str) -> Option<String> {
    let other = OTHER_WORDS.iter().find(|(words, _)| words.contains(&said));
    if let Some((_, call)) = other {
        return Some(format!("`{call}`"));
    }
    let mut commands = COMMANDS.iter().map(|command| command.call);
    let found = commands.find(|name| {
        let words = name.strip_prefix('/');
        words.and_then(|words| words.split(' ').next_back()) == Some(said)
    })?;
    Some(format!("`{found}` in a session, which `lead` starts"))
}

fn verb_in_other_words<'a>(below: &'a Command, said: &str) -> Option<&'a str> {
    let has = |verb: &str| Some(below.find_subcommand(verb)?.get_name());
    if AWAY.contains(&said) {
        return ["cancel", "remove", "kill"].into_iter().find_map(has);
    }
    OTHER_VERBS
        .iter()
        .filter(|(words, _)| words.contains(&said))
        .flat_map(|(_, verbs)| verbs.split(' '))
        .find_map(has)
}

/// The one verb that begins so, else the nearest in letters.
fn near<'a>(below: &'a Command, said: &str) -> Option<&'a str> {
    let names = || below.get_subcommands().map(Command::get_name);
    let mut begun = names().filter(|name| name.starts_with(said));
    match (begun.next(), begun.next()) {
        (Some(only), None) if said.len() > 1 => Some(only),
        _ => ids::nearest(said, names()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every command with verbs below it, with its words.
    fn groups<'a>(command: &'a Command, words: &str, found: &mut Vec<(String, &'a Command)>) {
        if command.has_subcommands() {
            found.push((words.to_owned(), command));
        }
        for below in command.get_subcommands() {
            groups(below, &format!("{words} {}", below.get_name()), found);
        }
    }

    #[test]
    fn every_verb_is_found_in_plural_singular_and_with_a_slash() {
        let cli = Cli::command();
        let mut found = Vec::new();
        groups(&cli, "lead", &mut found);
        assert!(found.len() > 5);
        for (words, command) in found {
            for name in command.get_subcommands().map(Command::get_name) {
                let single = name.strip_suffix('s').unwrap_or(name);
                for said in [format!("{single}s"), single.to_owned(), format!("/{name}")] {
                    let meant = by(&words, &said).unwrap_or_default();
                    let wanted = format!("`{words} {name}");
                    assert!(meant.starts_with(&wanted), "{words} {said}: {meant}");
                }
            }
        }
    }

    #[test]
    fn every_command_of_a_session_leads_to_its_verb_or_back_to_the_session() {
        for command in COMMANDS {
            let Some(name) = command.call.strip_prefix("/") else {
                continue;
            };
            let name = name.split(' ').next().unwrap();
            for said in [name.to_owned(), format!("/{name}")] {
                let meant = by("lead", &said).unwrap_or_default();
                assert!(meant.contains("`lead"), "{said}: {meant}");
            }
        }
    }

    #[test]
    fn other_words_mean_calls_that_are_understood_and_are_no_verbs_themselves() {
        for (words, call) in OTHER_WORDS {
            let args: Vec<&str> = call.split(' ').collect();
            let read = <Cli as clap::Parser>::try_parse_from(args);
            let wrong = read.is_err_and(|error| error.use_stderr());
            assert!(!wrong, "{words:?}: {call}");
            for word in words {
                assert!(
                    Cli::command().find_subcommand(word).is_none(),
                    "{word} is a verb"
                );
            }
        }
    }

    #[test]
    fn words_that_people_try_mean_what_they_think() {
        for (command, said, wanted) in [
            ("lead", "tasks", "`lead task list`"),
            ("lead", "teammates", "`lead team list`"),
            ("lead", "teams", "`lead team list`"),
            ("lead", "logs", "`lead log`"),
            ("lead", "msgs", "`lead mail list`"),
            ("lead", "permissions", "`lead permission list`"),
            ("lead", "session", "`lead sessions`"),
            ("lead", "statsu", "`lead status`"),
            ("lead", "taks", "`lead task`"),
            ("lead", "perm", "`lead permission`"),
            ("lead", "Fix the tests", "`lead -p \"GOAL\"`"),
            ("lead", "kill", "`lead team kill NAME`"),
            (
                "lead",
                "interrupt",
                "`/team interrupt` in a session, which `lead` starts",
            ),
            ("lead", "/exit", "`/exit` in a session, which `lead` starts"),
            ("lead task", "ls", "`lead task list`"),
            ("lead task", "new", "`lead task add`"),
            ("lead task", "done", "`lead task complete`"),
            ("lead task", "rm", "`lead task cancel`"),
            ("lead mail", "read", "`lead mail show`"),
            ("lead mail", "new", "`lead mail send`"),
            ("lead plan", "allow", "`lead plan approve`"),
            ("lead plan", "deny", "`lead plan reject`"),
            ("lead permission", "approve", "`lead permission allow`"),
            ("lead permission", "reject", "`lead permission deny`"),
            ("lead team", "shutdown", "`lead team stop`"),
            ("lead worktree", "rm", "`lead worktree remove`"),
        ] {
            assert_eq!(
                by(command, said).as_deref(),
                Some(wanted),
                "{command} {said}"
            );
        }
        for (command, said) in [("lead", "frobnicate"), ("lead task", "xyzzy"), ("lead", "")] {
            assert_eq!(by(command, said), None, "{said}");
        }
    }
}
