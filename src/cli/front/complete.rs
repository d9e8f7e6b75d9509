//! What Tab offers: commands, names, task ids, files.
//!
//! What is wanted is told from the text before the cursor alone; what there is, from the workspace's files at that moment.
//! Answers to questions are not completed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reedline::{Completer, CompletionResult, CompletionStatus, Span, Suggestion};

use super::behind::Behind;
use super::prompt::SharedPrompt;
use crate::agent::joined::open_board;
use crate::board::Status;
use crate::cli::safe::{safe, safe_line};
use crate::lead::{COMMANDS, known_models};
use crate::model::Credentials;
use crate::store::Durability;
use crate::team::{Roster, Session};
use crate::workspace::Workspace;

/// Most suggestions at once; whoever wants more types a letter more.
const MOST: usize = 100;
/// Longest description, in characters.
const MAX_DESCRIPTION: usize = 60;

/// What is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted<'a> {
    /// A command of the session, typed so far.
    Command(&'a str),
    /// A teammate's name.
    Name(&'a str),
    /// An id of a task.
    Task(&'a str),
    /// A model's name.
    Model(&'a str),
    /// A file, from the workspace's root.
    File(&'a str),
}

impl<'a> Wanted<'a> {
    fn typed(&self) -> &'a str {
        let (Self::Command(typed)
        | Self::Name(typed)
        | Self::Task(typed)
        | Self::Model(typed)
        | Self::File(typed)) = self;
        typed
    }
}

/// What the text before the cursor asks for; its last bytes are what was typed of it.
fn wanted(before: &str) -> Option<Wanted<'_>> {
    let last = before.rsplit(char::is_whitespace).next().unwrap_or(before);
    if before.starts_with('/') {
        let line = before[..before.len() - last.len()].trim_end();
        let command = COMMANDS.iter().find(|command| command.call == line);
        return match command.map_or("", |command| command.takes) {
            "NAME" => Some(Wanted::Name(last)),
            "[ID]" => Some(Wanted::Task(last)),
            "[NAME]" => Some(Wanted::Model(last)),
            _ => Some(Wanted::Command(before)),
        };
    }
    match last.strip_prefix('@') {
        Some(name) if last.len() == before.len() => Some(Wanted::Name(name)),
        Some(path) => Some(Wanted::File(path)),
        None if last.starts_with("task_") => Some(Wanted::Task(last)),
        None => None,
    }
}

/// A text to put in, with what it means.
type Offer = (String, Option<String>);

/// The commands that begin so, up to the word that is being typed.
fn commands(typed: &str) -> Vec<Offer> {
    let words = typed.split(' ').count();
    let mut seen = BTreeSet::new();
    COMMANDS
        .iter()
        .filter(|command| command.call.starts_with(typed))
        .filter_map(|command| {
            let words: Vec<&str> = command.call.split(' ').take(words).collect();
            let part = words.join(" ");
            let what = (part == command.call).then(|| command.what.to_owned());
            seen.insert(part.clone()).then_some((part, what))
        })
        .collect()
}

/// The completer of the session's editor.
#[derive(Debug)]
pub struct Known {
    workspace: Workspace,
    credentials: Credentials,
    prompt: SharedPrompt,
    behind: Behind,
    give_way: Arc<AtomicBool>,
}

impl Known {
    /// Over a workspace; silent while `prompt` is a question's. Keys kept `behind` for nothing have the editor give way.
    pub fn new(
        workspace: Workspace,
        credentials: Credentials,
        prompt: SharedPrompt,
        behind: Behind,
        give_way: Arc<AtomicBool>,
    ) -> Self {
        Self {
            workspace,
            credentials,
            prompt,
            behind,
            give_way,
        }
    }

    fn offers(&self, wanted: &Wanted<'_>) -> Vec<Offer> {
        match wanted {
            Wanted::Command(typed) => commands(typed),
            Wanted::Name(typed) => self.names(typed),
            Wanted::Task(typed) => self.tasks(typed),
            Wanted::Model(typed) => self.models(typed),
            Wanted::File(typed) => files(self.workspace.root(), typed),
        }
    }

    fn names(&self, typed: &str) -> Vec<Offer> {
        let typed = typed.to_ascii_lowercase();
        let members = Roster::new(self.workspace.clone(), Durability::Process).list();
        let members = members.unwrap_or_default().into_iter();
        members
            .map(|member| (member.name.to_string(), Some(member.role)))
            .filter(|(name, _)| name.to_ascii_lowercase().starts_with(&typed))
            .collect()
    }

    fn models(&self, typed: &str) -> Vec<Offer> {
        let session = Session::load(&self.workspace);
        let settings = session.and_then(|session| serde_json::from_value(session.settings).ok());
        let known = known_models(&settings.unwrap_or_default(), &self.credentials);
        let begin = known.into_iter().filter(|name| name.starts_with(typed));
        begin.map(|name| (name, None)).collect()
    }

    fn tasks(&self, typed: &str) -> Vec<Offer> {
        let views =
            open_board(&self.workspace, Durability::Process, None).map(|board| board.views());
        let Ok(Ok(views)) = views else {
            return Vec::new();
        };
        let open = |status: &Status| matches!(status, Status::Pending | Status::InProgress);
        let (open, closed): (Vec<_>, Vec<_>) = views
            .into_iter()
            .map(|view| view.task)
            .filter(|task| task.id.as_str().starts_with(typed))
            .partition(|task| open(&task.status));
        open.into_iter()
            .chain(closed)
            .map(|task| (task.id.to_string(), Some(task.subject)))
            .collect()
    }
}

/// The entries of the directory that `typed` has come to; hidden ones only when asked for by their dot.
fn files(root: &Path, typed: &str) -> Vec<Offer> {
    let (dir, begun) = typed
        .rsplit_once('/')
        .map_or(("", typed), |(dir, begun)| (dir, begun));
    let before = if dir.is_empty() && !typed.starts_with('/') {
        String::new()
    } else {
        format!("{dir}/")
    };
    let Ok(entries) = std::fs::read_dir(root.join(PathBuf::from(&before))) else {
        return Vec::new();
    };
    let mut found: Vec<Offer> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let hidden = name.starts_with('.') && !begun.starts_with('.');
            let plain = !name.contains(char::is_whitespace) && safe(&name) == name;
            let slash = if entry.file_type().ok()?.is_dir() {
                "/"
            } else {
                ""
            };
            (name.starts_with(begun) && !hidden && plain)
                .then(|| (format!("{before}{name}{slash}"), None))
        })
        .collect();
    found.sort();
    found
}

impl Completer for Known {
    /// The editor calls this between two batches of keys.
    fn poll_completion(&mut self) -> CompletionStatus {
        if self.behind.batch_is_over() {
            self.give_way.store(true, Ordering::Release);
        }
        CompletionStatus::Idle
    }

    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let asked = line.get(..pos).filter(|_| !self.prompt.is_question());
        let Some(wanted) = asked.and_then(wanted) else {
            return CompletionResult::fresh(Vec::new());
        };
        let span = Span::new(pos - wanted.typed().len(), pos);
        let offers = self.offers(&wanted).into_iter().take(MOST);
        let suggestions: Vec<Suggestion> = offers
            .map(|(value, description)| Suggestion {
                append_whitespace: !value.ends_with('/'),
                value,
                description: description.map(|text| safe_line(&text, MAX_DESCRIPTION)),
                span,
                ..Suggestion::default()
            })
            .collect();
        CompletionResult::fresh(suggestions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_is_told_from_the_text() {
        for (before, expected) in [
            ("/", Some(Wanted::Command("/"))),
            ("/te", Some(Wanted::Command("/te"))),
            ("/team st", Some(Wanted::Command("/team st"))),
            ("/team stop al", Some(Wanted::Name("al"))),
            ("/team stop ", Some(Wanted::Name(""))),
            ("/tasks task_1", Some(Wanted::Task("task_1"))),
            ("/model op", Some(Wanted::Model("op"))),
            ("@al", Some(Wanted::Name("al"))),
            ("@alice look at @src/m", Some(Wanted::File("src/m"))),
            ("what of task_ab", Some(Wanted::Task("task_ab"))),
            ("plain words", None),
            ("", None),
        ] {
            assert_eq!(wanted(before), expected, "{before:?}");
        }
    }

    #[test]
    fn commands_are_offered_a_word_at_a_time() {
        let values = |typed| -> Vec<String> {
            commands(typed)
                .into_iter()
                .map(|(value, _)| value)
                .collect()
        };
        assert_eq!(values("/te"), ["/team"]);
        assert!(values("/team s").contains(&"/team stop".to_owned()));
        assert_eq!(values("/team ki"), ["/team kill"]);
        assert!(values("/x").is_empty());
    }

    #[test]
    fn files_are_those_of_the_directory_and_harmless() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["alpha", "al\u{1b}[2J", "al pha", ".all"] {
            std::fs::File::create(dir.path().join(name)).unwrap();
        }
        std::fs::create_dir(dir.path().join("alps")).unwrap();
        std::fs::File::create(dir.path().join("alps/peak")).unwrap();
        let values = |typed| -> Vec<String> {
            files(dir.path(), typed)
                .into_iter()
                .map(|(value, _)| value)
                .collect()
        };
        assert_eq!(values("al"), ["alpha", "alps/"]);
        assert_eq!(values(".a"), [".all"]);
        assert_eq!(values("alps/"), ["alps/peak"]);
        assert!(values("nowhere/").is_empty());
    }
}
