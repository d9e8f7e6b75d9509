//! Commands that run other commands: what they run is looked at too.

use super::git::subcommand;
use super::prefixes::{PREFIXES, Prefix};
use super::texts::texts;
use super::unit::Unit;
use crate::policy::shell::{Part, Word};

/// What a command runs besides itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::policy) enum Inner {
    /// A command, perhaps.
    Command(Unit),
    /// Shell text.
    Script(String),
    /// Something that is only known when it runs; why.
    Unknown(&'static str),
}

/// In so many places a `find -exec` is followed.
const MOST_ROOTS: usize = 32;

/// Shells that run what they are given as text or on standard input.
const SHELLS: [&str; 9] = [
    "sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash", "mksh",
];

/// What `unit` runs.
pub(in crate::policy) fn inner(unit: &Unit) -> Vec<Inner> {
    let name = unit.name.as_str();
    if SHELLS.contains(&name) {
        return shell(unit);
    }
    if let Some(prefix) = PREFIXES.iter().find(|prefix| prefix.name == name) {
        return prefixed(unit, prefix);
    }
    match name {
        "eval" => vec![as_script(unit.args())],
        "trap" => trap(unit),
        "alias" => unit.args().iter().filter_map(alias).collect(),
        "source" | "." => sourced(unit),
        "find" | "fd" | "fdfind" => found(unit),
        "parallel" => parallel(unit),
        "git" => git(unit),
        _ => texts(unit).iter().map(single).collect(),
    }
}

fn command(words: &[Word], fed: bool) -> Option<Inner> {
    Unit::new(words.to_vec(), fed).map(Inner::Command)
}

fn prefixed(unit: &Unit, prefix: &Prefix) -> Vec<Inner> {
    let args = unit.args();
    if prefix.name == "command" && (unit.has('v', "") || unit.has('V', "")) {
        return Vec::new();
    }
    if prefix.name == "env" && (unit.has('S', "--split-string")) {
        return vec![Inner::Unknown("env -S splits a text into a command")];
    }
    let (mut at, mut may_be_value) = (0, false);
    while let Some(arg) = args.get(at) {
        let text = arg.beginning();
        if text == "--" {
            at += 1;
            break;
        }
        let assigns = prefix.assigns
            && text
                .split_once('=')
                .is_some_and(|(name, _)| !name.is_empty() && !name.starts_with('-'));
        if !assigns && !(text.starts_with('-') && (text.len() > 1 || prefix.flags.contains(&"-"))) {
            break;
        }
        let takes_next = prefix.with_value.contains(&text);
        may_be_value = !assigns
            && !takes_next
            && !text.contains('=')
            && !prefix.flags.contains(&text)
            && !has_value_attached(text, prefix);
        at += if takes_next { 2 } else { 1 };
    }
    at += prefix.operands;
    let mut found: Vec<Inner> = args
        .get(at..)
        .and_then(|rest| command(rest, unit.fed))
        .into_iter()
        .collect();
    if may_be_value {
        found.extend(args.get(at + 1..).and_then(|rest| command(rest, unit.fed)));
    }
    match prefix.name {
        "xargs" => from_input(unit, &mut found),
        "watch" | "flock" => {
            let texts = unit.values(&["-c", "--command"]);
            found.extend(texts.iter().map(single));
            // Both hand a single word to a shell.
            let words = args.get(at..).unwrap_or_default();
            if prefix.name == "watch" && !words.is_empty() {
                found.push(as_script(words));
            }
        }
        // `coproc NAME command`
        "coproc" => found.extend(args.get(1..).and_then(|rest| command(rest, true))),
        _ => {}
    }
    found
}

/// `-n5`, `-oL`: a letter that takes a value, with it.
fn has_value_attached(text: &str, prefix: &Prefix) -> bool {
    !text.starts_with("--")
        && prefix
            .with_value
            .iter()
            .any(|name| name.len() == 2 && text.starts_with(name))
        || prefix.name == "nice" && text[1..].parse::<i32>().is_ok()
}

/// What xargs runs may be made of what it reads.
fn from_input(unit: &Unit, found: &mut Vec<Inner>) {
    let marks: Vec<String> = unit
        .values(&["-I", "-i", "-J", "--replace"])
        .iter()
        .map(Word::shown)
        .chain(["{}".to_owned()])
        .collect();
    let made = found.iter().any(|inner| match inner {
        Inner::Command(unit) => {
            let first = unit.words[0].shown();
            marks
                .iter()
                .any(|mark| !mark.is_empty() && first.contains(mark.as_str()))
        }
        Inner::Script(_) | Inner::Unknown(_) => false,
    });
    if made {
        found.push(Inner::Unknown("xargs makes the command from what it reads"));
    }
    for inner in found {
        if let Inner::Command(unit) = inner {
            // Its arguments come from the input as well: `xargs sh` runs the files that it reads.
            unit.fed = true;
        }
    }
}

fn shell(unit: &Unit) -> Vec<Inner> {
    let args = unit.args();
    let mut at = 0;
    let (mut given, mut reads) = (false, false);
    while let Some(arg) = args.get(at) {
        let text = arg.beginning();
        if text == "--" || text == "-" || !text.starts_with(['-', '+']) {
            at += usize::from(text == "--" || text == "-");
            break;
        }
        let short = !text.starts_with("--");
        given |= short && text.contains('c');
        reads |= short && text.contains('s');
        // `-euo pipefail`: each of these letters takes the next argument.
        let takes_next = match text {
            "--rcfile" | "--init-file" => 1,
            _ if short => text.matches(['o', 'O']).count(),
            _ => 0,
        };
        at += 1 + takes_next;
    }
    let file = args.get(at);
    if let (true, Some(text)) = (given, file) {
        return vec![single(text)];
    }
    if given && unit.fed || reads || file.is_none() && unit.fed {
        return vec![Inner::Unknown("a shell runs what it reads")];
    }
    file.filter(|file| runs_unknown(file))
        .map(|_| Inner::Unknown("a shell runs what another command prints"))
        .into_iter()
        .collect()
}

/// Whether a script file is no file but something made when it runs.
fn runs_unknown(file: &Word) -> bool {
    let made = |part: &Part| match part {
        Part::Text(_) | Part::Variable(_) => false,
        Part::Printed(_) | Part::Unknown(_) => true,
    };
    file.parts.iter().any(made)
        || ["/dev/stdin", "/dev/fd/", "/proc/self/fd/"]
            .iter()
            .any(|pipe| file.beginning().starts_with(pipe))
}

fn sourced(unit: &Unit) -> Vec<Inner> {
    unit.args()
        .first()
        .filter(|file| runs_unknown(file))
        .map(|_| Inner::Unknown("the shell runs what another command prints"))
        .into_iter()
        .collect()
}

fn single(word: &Word) -> Inner {
    as_script(std::slice::from_ref(word))
}

/// Words that a shell joins and reads again.
fn as_script(words: &[Word]) -> Inner {
    let known: Option<Vec<&str>> = words.iter().map(Word::known).collect();
    known.map_or(
        Inner::Unknown("it runs a text that is only known then"),
        |texts| Inner::Script(texts.join(" ")),
    )
}

fn trap(unit: &Unit) -> Vec<Inner> {
    let args = unit.args();
    let at = args
        .iter()
        .take_while(|arg| arg.known() == Some("--"))
        .count();
    match args.get(at) {
        Some(action) if args.len() > at + 1 && action.known() != Some("-") => {
            vec![single(action)]
        }
        _ => Vec::new(),
    }
}

fn alias(arg: &Word) -> Option<Inner> {
    let (name, _) = arg.beginning().split_once('=')?;
    let value = arg.behind(&format!("{name}="))?;
    Some(single(&value))
}

/// What it is given first is a command, what it reads are that command's arguments, or commands.
fn parallel(unit: &Unit) -> Vec<Inner> {
    let given = unit
        .args()
        .iter()
        .skip_while(|arg| arg.beginning().starts_with('-'))
        .take_while(|arg| !arg.beginning().starts_with(":::"));
    let words: Vec<Word> = given.cloned().collect();
    let unknown = Inner::Unknown("parallel makes its commands from what it reads");
    command(&words, true).into_iter().chain([unknown]).collect()
}

/// `find -exec`: the braces mean the places where it looks.
fn found(unit: &Unit) -> Vec<Inner> {
    let args = unit.args();
    let mut roots = find_roots(unit);
    let mut found = Vec::new();
    if roots.len() > MOST_ROOTS {
        roots.truncate(MOST_ROOTS);
        found.push(Inner::Unknown("it looks in too many places to be judged"));
    }
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        at += 1;
        let runs = matches!(arg.known(), Some("-exec" | "-execdir" | "-ok" | "-okdir"));
        if !runs {
            continue;
        }
        let end = args[at..]
            .iter()
            .position(|arg| matches!(arg.known(), Some(";" | "+")))
            .map_or(args.len(), |length| at + length);
        for root in &roots {
            let words: Vec<Word> = args[at..end]
                .iter()
                .map(|word| match word.known() {
                    Some("{}") => root.clone(),
                    _ => word.replaced("{}", &root.shown()),
                })
                .collect();
            found.extend(command(&words, unit.fed));
        }
        at = end;
    }
    found
}

/// Where a `find` looks, as written.
pub(super) fn find_roots(unit: &Unit) -> Vec<Word> {
    let mut roots: Vec<Word> = unit
        .args()
        .iter()
        .skip_while(|arg| matches!(arg.known(), Some("-H" | "-L" | "-P")))
        .take_while(|arg| !arg.beginning().starts_with(['-', '(', '!']))
        .cloned()
        .collect();
    if roots.is_empty() {
        roots.push(Word::exact("."));
    }
    roots
}

fn git(unit: &Unit) -> Vec<Inner> {
    let words = unit.args();
    let Some(at) = subcommand(unit) else {
        return Vec::new();
    };
    let rest = &words[at + 1..];
    match (words[at].known(), rest.first().and_then(Word::known)) {
        (Some("submodule"), Some("foreach")) => {
            let text: Vec<Word> = rest[1..]
                .iter()
                .skip_while(|word| word.beginning() == "--recursive")
                .cloned()
                .collect();
            vec![as_script(&text)]
        }
        (Some("bisect"), Some("run")) => command(&rest[1..], false).into_iter().collect(),
        _ => texts(unit).iter().map(single).collect(),
    }
}
