//! Options whose value is shell text that the program runs.

use super::git::subcommand;
use super::unit::Unit;
use crate::policy::shell::Word;

/// Options of programs; of git's by subcommand.
const OPTIONS: [(&str, &[&str]); 9] = [
    ("script", &["--command"]),
    (
        "tar",
        &[
            "-I",
            "-F",
            "--use-compress-program",
            "--to-command",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
        ],
    ),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("git rebase", &["-x", "--exec"]),
    ("git difftool", &["-x", "--extcmd"]),
    ("git clone", &["-u", "--upload-pack"]),
    ("git grep", &["-O", "--open-files-in-pager"]),
    ("git archive", &["--exec"]),
    (
        "git filter-branch",
        &[
            "--setup",
            "--env-filter",
            "--tree-filter",
            "--index-filter",
            "--parent-filter",
            "--msg-filter",
            "--commit-filter",
            "--tag-name-filter",
        ],
    ),
];

/// What every git command that talks to another repository takes.
const OF_GIT: [&str; 2] = ["--upload-pack", "--receive-pack"];

/// The texts that `unit` is given to run.
pub(super) fn texts(unit: &Unit) -> Vec<Word> {
    let name = match subcommand(unit) {
        Some(at) if unit.name == "git" => format!("git {}", unit.args()[at].shown()),
        _ => unit.name.clone(),
    };
    let own = OPTIONS.iter().find(|(program, _)| *program == name);
    let mut found = own.map_or_else(Vec::new, |(_, options)| unit.values(options));
    match name.as_str() {
        "script" => found.extend(behind_letter(unit, 'c')),
        "tar" => found.extend(
            unit.values(&["--checkpoint-action"])
                .iter()
                .filter_map(|action| action.behind("exec=")),
        ),
        // `clone` has told its own already.
        _ if unit.name == "git" && name != "git clone" => found.extend(unit.values(&OF_GIT)),
        _ => {}
    }
    found
}

/// The value of an option of one letter that may stand behind others: `-qc TEXT`, `-qcTEXT`.
fn behind_letter(unit: &Unit, letter: char) -> Vec<Word> {
    let mut found = Vec::new();
    let mut args = unit.args().iter();
    while let Some(arg) = args.next() {
        let text = arg.beginning();
        let Some(at) = text.find(letter).filter(|_| is_short(text)) else {
            continue;
        };
        let whole = arg.known().is_some_and(|text| text.len() == at + 1);
        found.extend(if whole {
            args.next().cloned()
        } else {
            arg.behind(&text[..=at])
        });
    }
    found
}

fn is_short(text: &str) -> bool {
    text.starts_with('-') && !text.starts_with("--")
}
