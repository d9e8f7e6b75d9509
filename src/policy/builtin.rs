//! The built-in deny and ask rules.

use super::command::Unit;
use super::command::git::{runs_settings, uses};
use super::shell::Word;

/// What a built-in rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Final.
    Deny,
    /// Asked about, unless a rule allows it.
    Ask,
}

/// A built-in rule as it is shown.
#[derive(Debug, Clone, Copy)]
pub struct Builtin {
    /// What it says.
    pub effect: Effect,
    /// What it is about.
    pub what: &'static str,
    /// Why.
    pub why: &'static str,
    fits: fn(&Unit) -> bool,
}

/// Rules about paths; they hold for redirects, for the arguments of commands known to write, and for the file tools.
pub const PATH_RULES: [(Effect, &str); 8] = [
    (
        Effect::Deny,
        "destroying the root, the home directory, the system, or the workspace as a whole",
    ),
    (
        Effect::Deny,
        "writing to .tasks, .mailboxes, .team, or what is in .git",
    ),
    (Effect::Deny, "writing to disks and raw memory"),
    (
        Effect::Ask,
        "writing outside the working directory, the agent's temporary directory, and the usual devices",
    ),
    (Effect::Ask, "reading outside with a file tool"),
    (
        Effect::Ask,
        "writing to a path that is only known when the command runs",
    ),
    (
        Effect::Ask,
        "writing the repository of the workspace by a call of nothing but plain git, which only the lead can",
    ),
    (
        Effect::Ask,
        "what cannot be parsed, and commands that are only known when they run",
    ),
];

/// All rules about commands, deny before ask.
pub const COMMAND_RULES: [Builtin; 18] = [
    deny(
        "sudo, doas, su, runuser, sg, pkexec, run0",
        "it takes another user's rights",
        |unit| {
            is(
                unit,
                &[
                    "sudo", "sudoedit", "doas", "su", "runuser", "sg", "pkexec", "run0",
                ],
            )
        },
    ),
    deny("mkfs, fdisk, wipefs, …", "it changes disks", |unit| {
        unit.name.starts_with("mkfs.")
            || is(
                unit,
                &[
                    "mkfs",
                    "mke2fs",
                    "mkswap",
                    "wipefs",
                    "fdisk",
                    "sfdisk",
                    "cfdisk",
                    "gdisk",
                    "sgdisk",
                    "parted",
                    "blkdiscard",
                    "badblocks",
                ],
            )
    }),
    deny(
        "shutdown, reboot, halt, poweroff",
        "it stops the machine",
        stops_machine,
    ),
    deny("kill -- -1", "it ends every process there is", |unit| {
        is(unit, &["kill"])
            && unit.args().len() > 1
            && unit.args().last().and_then(Word::known) == Some("-1")
    }),
    deny(
        "vim, vi, view, nvim without an option",
        "it waits for keys at a terminal, and there is none; use edit_file, or options with which it ends by itself",
        |unit| {
            let mut args = unit.args().iter().map(Word::beginning);
            is(unit, &["vim", "vi", "view", "vimdiff", "nvim"])
                && !args.any(|arg| arg.starts_with(['-', '+']))
        },
    ),
    deny("fork bombs", "it starts itself without end", |_| false),
    ask("rm, unlink, shred", "it removes files", |unit| {
        is(unit, &["rm", "unlink", "shred"])
    }),
    ask("find -delete", "it removes files", |unit| {
        is(unit, &["find"]) && unit.args().iter().any(|arg| arg.known() == Some("-delete"))
            || is(unit, &["fd", "fdfind"])
                && unit
                    .args()
                    .iter()
                    .any(|arg| matches!(arg.known(), Some("-X" | "--exec-batch")))
    }),
    ask("git push", "it changes what others see", |unit| {
        uses(unit, "push")
    }),
    ask("git reset --hard", "it throws changes away", |unit| {
        uses(unit, "reset")
            && unit
                .args()
                .iter()
                .any(|arg| "--hard".starts_with(arg.beginning()) && arg.beginning().len() > 3)
    }),
    ask("git clean", "it removes files", |unit| {
        uses(unit, "clean") && !unit.has('n', "--dry-run")
    }),
    ask(
        "git -c KEY=COMMAND, git config of what git runs",
        "git would run a command from its settings",
        runs_settings,
    ),
    ask(
        "git config --global, --system",
        "it changes settings outside",
        |unit| {
            let given = |options: &[&str]| options.iter().any(|long| unit.has('\0', long));
            uses(unit, "config")
                && given(&["--global", "--system", "--file"])
                && !given(&["--get", "--get-all", "--get-regexp", "--list"])
        },
    ),
    ask(
        "GIT_DIR, GIT_WORK_TREE, LD_PRELOAD, … set for a command",
        "it changes what the command works on or runs",
        |_| false,
    ),
    ask(
        "chmod -R, chown -R, chgrp -R",
        "it changes many files' rights",
        |unit| is(unit, &["chmod", "chown", "chgrp"]) && unit.has('R', "--recursive"),
    ),
    ask(
        "curl, wget, ssh, scp, sftp, nc, telnet, ftp, socat, …",
        "it uses the network",
        |unit| is(unit, &NETWORK),
    ),
    ask(
        "rsync to or from another machine",
        "it uses the network",
        |unit| {
            is(unit, &["rsync"])
                && unit
                    .operands(&["-e"])
                    .iter()
                    .any(|word| word.shown().contains(':'))
        },
    ),
    ask("crontab", "it changes what runs later", |unit| {
        is(unit, &["crontab", "at", "batch"]) && !unit.has('l', "")
    }),
];

const NETWORK: [&str; 22] = [
    "curl",
    "wget",
    "wget2",
    "ssh",
    "scp",
    "sftp",
    "nc",
    "ncat",
    "netcat",
    "telnet",
    "ftp",
    "tftp",
    "lftp",
    "socat",
    "aria2c",
    "http",
    "https",
    "xh",
    "rclone",
    "sshfs",
    "ssh-copy-id",
    "mosh",
];

/// Variables that make a command work elsewhere or run something else.
const TELLING: [&str; 17] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_INDEX_FILE",
    "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "LD_PRELOAD",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "BASH_ENV",
    "PROMPT_COMMAND",
    "PS4",
];

const fn deny(what: &'static str, why: &'static str, fits: fn(&Unit) -> bool) -> Builtin {
    Builtin {
        effect: Effect::Deny,
        what,
        why,
        fits,
    }
}

const fn ask(what: &'static str, why: &'static str, fits: fn(&Unit) -> bool) -> Builtin {
    Builtin {
        effect: Effect::Ask,
        what,
        why,
        fits,
    }
}

/// The rules that fit `unit`.
pub(super) fn fitting(unit: &Unit) -> impl Iterator<Item = &'static Builtin> {
    COMMAND_RULES.iter().filter(|rule| (rule.fits)(unit))
}

/// Whether a variable set for a command, or exported, is to be asked about.
pub(super) fn is_telling(variable: &str) -> bool {
    TELLING.contains(&variable)
}

fn is(unit: &Unit, names: &[&str]) -> bool {
    names.contains(&unit.name.as_str())
}

fn stops_machine(unit: &Unit) -> bool {
    const VERBS: [&str; 11] = [
        "poweroff",
        "reboot",
        "halt",
        "kexec",
        "suspend",
        "hibernate",
        "hybrid-sleep",
        "rescue",
        "emergency",
        "exit",
        "soft-reboot",
    ];
    let first = unit.operands(&[]).first().map(|word| word.shown());
    let first = first.as_deref();
    match unit.name.as_str() {
        "shutdown" | "reboot" | "halt" | "poweroff" | "telinit" => true,
        "init" => matches!(first, Some("0" | "1" | "6" | "S" | "s")),
        "systemctl" | "loginctl" => first.is_some_and(|verb| VERBS.contains(&verb)),
        _ => false,
    }
}
