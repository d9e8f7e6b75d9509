//! One command as it would run: its name without its directory, and its arguments.

use std::path::Path;

use crate::policy::shell::Word;

/// A command of a script, or one that another command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::policy) struct Unit {
    /// `rm` for `rm`, `/bin/rm`, `./rm`; empty if it is only known when it runs.
    pub(in crate::policy) name: String,
    /// The command and its arguments; never empty.
    pub(in crate::policy) words: Vec<Word>,
    /// Something is put into its standard input.
    pub(in crate::policy) fed: bool,
}

impl Unit {
    /// `None` without any word.
    pub(in crate::policy) fn new(words: Vec<Word>, fed: bool) -> Option<Self> {
        let first = words.first()?;
        let name = match first.known() {
            Some(text) if !first.glob => base_name(text),
            _ => String::new(),
        };
        Some(Self { name, words, fed })
    }

    /// All words but the command.
    pub(in crate::policy) fn args(&self) -> &[Word] {
        &self.words[1..]
    }

    /// The arguments as they say, unknown parts as written.
    pub(in crate::policy) fn said_args(&self) -> Vec<String> {
        self.args().iter().map(Word::shown).collect()
    }

    /// Whether an option is given: `short` alone or among others behind one dash, or `long` (with its dashes), also cut
    /// short as GNU programs take it.
    pub(in crate::policy) fn has(&self, short: char, long: &str) -> bool {
        self.args()
            .iter()
            .map(Word::beginning)
            .take_while(|arg| *arg != "--")
            .any(|arg| is_option(arg, short, long))
    }

    /// The arguments that are neither options nor the values of the options `with_value`.
    pub(in crate::policy) fn operands(&self, with_value: &[&str]) -> Vec<&Word> {
        let mut found = Vec::new();
        let mut args = self.args().iter();
        while let Some(arg) = args.next() {
            let text = arg.beginning();
            if text == "--" && arg.known().is_some() {
                found.extend(args);
                break;
            }
            if with_value.contains(&text) && arg.known().is_some() {
                args.next();
            } else if !(text.starts_with('-') && text.len() > 1) {
                found.push(arg);
            }
        }
        found
    }

    /// The values of options: the next argument, or what follows `=` or (one dash, one letter) directly.
    pub(in crate::policy) fn values(&self, names: &[&str]) -> Vec<Word> {
        let mut found = Vec::new();
        let mut args = self.args().iter();
        while let Some(arg) = args.next() {
            if names.iter().any(|name| arg.known() == Some(name)) {
                found.extend(args.next().cloned());
                continue;
            }
            found.extend(names.iter().find_map(|name| match name.len() {
                2 => arg.behind(name),
                _ => arg.behind(&format!("{name}=")),
            }));
        }
        found
    }
}

fn base_name(text: &str) -> String {
    let name = Path::new(text)
        .file_name()
        .map_or_else(|| text.into(), |name| name.to_string_lossy().into_owned());
    if cfg!(target_os = "macos") {
        name.to_lowercase()
    } else {
        name
    }
}

fn is_option(arg: &str, short: char, long: &str) -> bool {
    if arg.starts_with("--") {
        let name = arg.split('=').next().unwrap_or(arg);
        return long.len() > 2 && name.len() > 3 && long.starts_with(name);
    }
    arg.strip_prefix('-')
        .is_some_and(|letters| letters.contains(short))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::shell::{Step, parse};

    fn unit(text: &str) -> Unit {
        match parse(text).steps.into_iter().next() {
            Some(Step::Run(simple)) => Unit::new(simple.words, false).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_command_is_known_by_its_last_part() {
        for (text, name) in [
            ("/bin/rm x", "rm"),
            (r"r\m x", "rm"),
            ("./rm", "rm"),
            ("~/bin/tool", "tool"),
            ("$X", ""),
            ("/bin/r?", ""),
            ("rm$X", ""),
        ] {
            assert_eq!(unit(text).name, name, "{text}");
        }
    }

    #[test]
    fn options_are_found_together_apart_and_cut_short() {
        for (text, expected) in [
            ("rm -rf x", true),
            ("rm -fr x", true),
            ("rm x -r", true),
            ("rm --recursive x", true),
            ("rm --recur x", true),
            (r"rm \-r x", true),
            ("rm -r$X x", true),
            ("rm -f x", false),
            ("rm -- -r", false),
            ("rm --no-preserve-root x", false),
        ] {
            assert_eq!(unit(text).has('r', "--recursive"), expected, "{text}");
        }
    }

    #[test]
    fn operands_and_values() {
        let unit = unit("cp -t d -S .x --backup=y a -- -b");
        let operands: Vec<String> = unit
            .operands(&["-t", "-S"])
            .into_iter()
            .map(Word::shown)
            .collect();
        assert_eq!(operands, ["a", "-b"]);
        let values: Vec<String> = unit
            .values(&["-t", "--backup"])
            .iter()
            .map(Word::shown)
            .collect();
        assert_eq!(values, ["d", "y"]);
    }
}
