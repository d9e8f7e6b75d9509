//! What words mean where they stand: the directory and the variables of a shell, as far as a script itself sets them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::decide::Scope;
use super::shell::{Part, Word};
use super::spot::{Spot, normal, spot};

/// What a variable holds.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Known(String),
    /// One of the names in a list that the script walks through.
    Listed,
    Unknown,
}

/// What a word names as a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// This, absolute and normal.
    Path(PathBuf),
    /// Something in a list that the script walks through, taken for a path of the working directory.
    Listed,
    /// Nobody can say.
    Unknown,
}

/// A shell between two commands.
#[derive(Debug)]
pub(super) struct Shell<'a> {
    pub(super) scope: &'a Scope,
    /// `None`: a directory that is only known when it runs.
    dir: Option<PathBuf>,
    variables: HashMap<String, Value>,
    /// What to set back at the end of each subshell: a mark (the directory before), then the changes since.
    undo: Vec<Undo>,
}

#[derive(Debug)]
enum Undo {
    Mark(Option<PathBuf>),
    Variable(String, Option<Value>),
}

impl<'a> Shell<'a> {
    pub(super) fn new(scope: &'a Scope) -> Self {
        let mut variables = HashMap::new();
        let mut know = |name: &str, path: &Path| {
            let path = path.to_string_lossy().into_owned();
            variables.insert(name.to_owned(), Value::Known(path));
        };
        know("TMPDIR", &scope.tmp);
        if let Some(home) = &scope.home {
            know("HOME", home);
        }
        Self {
            scope,
            dir: Some(scope.dir.clone()),
            variables,
            undo: Vec::new(),
        }
    }

    /// Where the next command runs.
    pub(super) fn dir(&self) -> Option<&Path> {
        self.dir.as_deref()
    }

    pub(super) fn enter(&mut self) {
        self.undo.push(Undo::Mark(self.dir.clone()));
    }

    pub(super) fn leave(&mut self) {
        while let Some(undo) = self.undo.pop() {
            match undo {
                Undo::Mark(dir) => {
                    self.dir = dir;
                    return;
                }
                Undo::Variable(name, Some(value)) => {
                    self.variables.insert(name, value);
                }
                Undo::Variable(name, None) => {
                    self.variables.remove(&name);
                }
            }
        }
    }

    pub(super) fn assign(&mut self, name: &str, value: &Word) {
        let value = match self.text(value) {
            Ok(text) => Value::Known(text),
            Err(unknown) => unknown,
        };
        self.set(name, value);
    }

    /// Of several words the one that leads farthest stands for all.
    pub(super) fn walk(&mut self, name: &str, words: &[Word]) {
        let texts: Option<Vec<String>> = words.iter().map(|word| self.text(word).ok()).collect();
        let value = texts.map_or(Value::Listed, |texts| {
            let leads_out = |text: &&String| {
                self.target(&Word::exact(text)) == Target::Unknown || !self.is_inside(text)
            };
            let farthest = texts.iter().find(leads_out).or(texts.first());
            farthest.map_or(Value::Listed, |text| Value::Known(text.clone()))
        });
        self.set(name, value);
    }

    fn is_inside(&self, text: &str) -> bool {
        match self.target(&Word::exact(text)) {
            Target::Path(path) => spot(&path, self.scope) == Spot::Inside,
            Target::Listed | Target::Unknown => false,
        }
    }

    /// `read NAME…`: whatever comes, name by name.
    pub(super) fn read_into(&mut self, names: &[&Word]) {
        for name in names {
            self.set(&name.shown(), Value::Listed);
        }
    }

    fn set(&mut self, name: &str, value: Value) {
        let before = self.variables.insert(name.to_owned(), value);
        self.undo.push(Undo::Variable(name.to_owned(), before));
    }

    /// `cd` with its operands.
    pub(super) fn change_dir(&mut self, to: Option<&Word>) {
        self.dir = match to {
            None => self.scope.home.clone(),
            Some(word) if word.known() == Some("-") => None,
            Some(word) => match self.target(word) {
                Target::Path(path) => Some(path),
                Target::Listed | Target::Unknown => None,
            },
        };
    }

    /// The directory changes to one that nobody knows.
    pub(super) fn lose_dir(&mut self) {
        self.dir = None;
    }

    /// What `word` names as a path from here.
    pub(super) fn target(&self, word: &Word) -> Target {
        match self.text(word) {
            Err(Value::Listed) => Target::Listed,
            Err(Value::Known(_) | Value::Unknown) => Target::Unknown,
            Ok(text) if Path::new(&text).is_absolute() => {
                Target::Path(normal(Path::new("/"), Path::new(&text)))
            }
            Ok(text) => match &self.dir {
                Some(dir) => Target::Path(normal(dir, Path::new(&text))),
                None => Target::Unknown,
            },
        }
    }

    /// What `word` says. What is unknown behind its beginning stands as `?`: it cannot lead a path anywhere else.
    fn text(&self, word: &Word) -> Result<String, Value> {
        let mut text = String::new();
        for part in &word.parts {
            let value = match part {
                Part::Text(more) => {
                    text.push_str(more);
                    continue;
                }
                Part::Variable(name) => self.variable(name),
                Part::Printed(command) => self.printed(command),
                Part::Unknown(_) => Value::Unknown,
            };
            match value {
                Value::Known(more) => text.push_str(&more),
                unknown if text.is_empty() => return Err(unknown),
                Value::Listed | Value::Unknown => text.push('?'),
            }
        }
        if word.tilde {
            return self.with_home(&text).ok_or(Value::Unknown);
        }
        Ok(text)
    }

    fn with_home(&self, text: &str) -> Option<String> {
        let (user, rest) = text.split_at(text.find('/').unwrap_or(text.len()));
        let home = match user {
            "~" => self.scope.home.as_deref()?,
            "~+" => self.dir()?,
            // Another's home: outside, wherever it is.
            _ => Path::new("/home"),
        };
        Some(format!("{}{rest}", home.display()))
    }

    fn variable(&self, name: &str) -> Value {
        match name {
            "PWD" => known(self.dir()),
            _ => self.variables.get(name).cloned().unwrap_or(Value::Unknown),
        }
    }

    /// Commands whose output is known well enough.
    fn printed(&self, command: &str) -> Value {
        let mut words = command.split_ascii_whitespace();
        match (words.next(), command) {
            (Some("mktemp"), _)
                if words.all(|word| word.starts_with('-') && !word.contains(['p', '='])) =>
            {
                known(Some(&self.scope.tmp.join("?")))
            }
            (_, "pwd" | "pwd -P") => known(self.dir()),
            (_, "git rev-parse --show-toplevel") => known(Some(&self.scope.dir)),
            _ => Value::Unknown,
        }
    }
}

fn known(path: Option<&Path>) -> Value {
    path.map_or(Value::Unknown, |path| {
        Value::Known(path.to_string_lossy().into_owned())
    })
}
