//! What a git command does: its subcommand, what it runs from settings, whether it changes anything.

use super::unit::Unit;

/// The place of git's subcommand among its arguments.
pub(in crate::policy) fn subcommand(unit: &Unit) -> Option<usize> {
    const WITH_VALUE: [&str; 7] = [
        "-C",
        "-c",
        "--git-dir",
        "--work-tree",
        "--namespace",
        "--exec-path",
        "--config-env",
    ];
    let mut at = 0;
    loop {
        let text = unit.args().get(at)?.beginning();
        if !text.starts_with('-') {
            return Some(at);
        }
        at += if WITH_VALUE.contains(&text) { 2 } else { 1 };
    }
}

/// Whether `unit` is `git SUBCOMMAND`.
pub(in crate::policy) fn uses(unit: &Unit, name: &str) -> bool {
    unit.name == "git" && subcommand(unit).is_some_and(|at| unit.args()[at].known() == Some(name))
}

/// A setting given on the line, or kept by `git config`, that names a command.
pub(in crate::policy) fn runs_settings(unit: &Unit) -> bool {
    if unit.name != "git" {
        return false;
    }
    let at = subcommand(unit).unwrap_or(unit.args().len());
    let said = unit.said_args();
    let (before, rest) = said.split_at(at);
    let set_on_line = before
        .windows(2)
        .any(|pair| pair[0] == "-c" && names_command(&pair[1]));
    let other = before
        .iter()
        .any(|arg| arg.starts_with("--config-env") || arg.starts_with("--exec-path="));
    let kept = rest.first().is_some_and(|name| name == "config")
        && rest[1..].iter().any(|arg| names_command(arg))
        && rest.len() > 2;
    set_on_line || other || kept
}

/// Whether the setting `key` or `key=value` makes git run something.
fn names_command(setting: &str) -> bool {
    const WHOLE: [&str; 12] = [
        "core.hookspath",
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshcommand",
        "core.gitproxy",
        "core.askpass",
        "core.alternaterefscommand",
        "sequence.editor",
        "gpg.program",
        "credential.helper",
        "diff.external",
    ];
    const BEGINNINGS: [&str; 8] = [
        "alias.",
        "include",
        "filter.",
        "pager.",
        "merge.",
        "difftool.",
        "mergetool.",
        "protocol.",
    ];
    const ENDS: [&str; 9] = [
        ".cmd",
        ".command",
        ".program",
        ".helper",
        ".textconv",
        ".driver",
        ".process",
        ".uploadpack",
        ".receivepack",
    ];
    let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
    let key = key.to_ascii_lowercase();
    let merge_style = key == "merge.conflictstyle" || key == "merge.ff" || key == "merge.renames";
    value.starts_with('!')
        || !merge_style
            && (WHOLE.contains(&key.as_str())
                || BEGINNINGS
                    .iter()
                    .any(|beginning| key.starts_with(beginning))
                || ENDS.iter().any(|end| key.ends_with(end)))
}

/// Whether `unit` is a git command that changes something.
pub(in crate::policy) fn changes(unit: &Unit) -> bool {
    const READS: [&str; 38] = [
        "status",
        "log",
        "diff",
        "show",
        "ls-files",
        "ls-tree",
        "ls-remote",
        "rev-parse",
        "rev-list",
        "blame",
        "grep",
        "describe",
        "cat-file",
        "shortlog",
        "merge-base",
        "merge-tree",
        "for-each-ref",
        "name-rev",
        "reflog",
        "remote",
        "help",
        "version",
        "count-objects",
        "check-ignore",
        "check-attr",
        "diff-tree",
        "diff-index",
        "diff-files",
        "var",
        "whatchanged",
        "show-ref",
        "show-branch",
        "fsck",
        "verify-commit",
        "archive",
        "range-diff",
        "cherry",
        "branch",
    ];
    unit.name == "git"
        && subcommand(unit).is_some_and(|at| {
            let name = unit.args()[at].known();
            let listing = name != Some("branch")
                || unit.args().len() == at + 1
                || unit.has('a', "--list")
                || unit.has('v', "--show-current");
            !(name.is_some_and(|name| READS.contains(&name)) && listing)
        })
}
