//! Which of its arguments a command writes, for the commands that are known to write.

use super::git::subcommand;
use super::unit::Unit;
use super::wrap::find_roots;
use super::writers::{WRITERS, Which};
use crate::policy::shell::Word;

/// A path that a command writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::policy) struct Written {
    pub(in crate::policy) path: Word,
    /// What was there is lost, with everything beneath it.
    pub(in crate::policy) destroys: bool,
}

/// The paths that `unit` is known to write.
pub(in crate::policy) fn written(unit: &Unit) -> Vec<Written> {
    let name = unit.name.as_str();
    let plain = match name {
        "sed" => sed(unit),
        "perl" | "ruby" => in_place(unit),
        "dd" => unit
            .args()
            .iter()
            .filter_map(|arg| arg.behind("of="))
            .collect(),
        "tar" | "bsdtar" => tar(unit),
        "unzip" => unzip(unit),
        "ar" => archiver(unit),
        "find" => find(unit),
        "git" => git(unit),
        _ => by_table(unit),
    };
    let tree = deletes_trees(unit);
    let last = plain.len().saturating_sub(1);
    plain
        .into_iter()
        .enumerate()
        .map(|(place, path)| Written {
            path,
            // What is moved is gone from where it was; where it goes to is only written.
            destroys: tree && (name != "mv" || place != last),
        })
        .collect()
}

fn deletes_trees(unit: &Unit) -> bool {
    match unit.name.as_str() {
        "rm" => unit.has('r', "--recursive") || unit.has('R', ""),
        "chmod" | "chown" | "chgrp" => unit.has('R', "--recursive"),
        "mv" | "shred" => true,
        "find" => unit.args().iter().any(|arg| arg.known() == Some("-delete")) && !filters(unit),
        _ => false,
    }
}

fn by_table(unit: &Unit) -> Vec<Word> {
    let Some(writer) = WRITERS
        .iter()
        .find(|writer| writer.names.contains(&unit.name.as_str()))
    else {
        return Vec::new();
    };
    let operands = unit.operands(writer.with_value);
    let named = unit.values(writer.written);
    let into_named = named.iter().any(|_| writer.which == Which::Last);
    let all_are_made = unit.name == "install" && unit.has('d', "--directory");
    let chosen: Vec<&Word> = match writer.which {
        Which::All => operands,
        Which::Behind if unit.has('\0', "--reference") => operands,
        Which::Behind => operands.into_iter().skip(1).collect(),
        Which::Last if all_are_made => operands,
        Which::Last if into_named || operands.len() < 2 => Vec::new(),
        Which::Last => operands.last().copied().into_iter().collect(),
        Which::First => operands.first().copied().into_iter().collect(),
        Which::None => Vec::new(),
    };
    chosen.into_iter().cloned().chain(named).collect()
}

/// `sed -i`: every operand but the script.
fn sed(unit: &Unit) -> Vec<Word> {
    const WITH_VALUE: [&str; 6] = ["-e", "-f", "-l", "--expression", "--file", "--line-length"];
    if !unit.has('i', "--in-place") {
        return Vec::new();
    }
    let given = !unit
        .values(&["-e", "-f", "--expression", "--file"])
        .is_empty();
    let operands = unit.operands(&WITH_VALUE);
    operands
        .into_iter()
        .skip(usize::from(!given))
        .cloned()
        .collect()
}

/// `perl -i -pe CODE FILE…`
fn in_place(unit: &Unit) -> Vec<Word> {
    let letters = |arg: &Word, letter: char| {
        let text = arg.beginning();
        text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
    };
    if !unit.args().iter().any(|arg| letters(arg, 'i')) {
        return Vec::new();
    }
    let mut files = Vec::new();
    let mut args = unit.args().iter();
    while let Some(arg) = args.next() {
        if letters(arg, 'e') {
            args.next();
        } else if !arg.beginning().starts_with('-') {
            files.push(arg.clone());
        }
    }
    files
}

fn tar(unit: &Unit) -> Vec<Word> {
    let mut all = unit.values(&["-C", "--directory"]);
    let first = unit.args().first().map(Word::beginning).unwrap_or_default();
    let letters = first.trim_start_matches('-');
    let makes = !first.starts_with("--") && letters.contains(['c', 'r', 'u'])
        || ["--create", "--append", "--update"]
            .iter()
            .any(|long| unit.has('\0', long));
    if makes {
        let clustered = letters.ends_with('f') && !first.starts_with("--");
        let archive = if clustered {
            unit.args().get(1).cloned()
        } else {
            None
        };
        all.extend(archive.filter(|word| word.known() != Some("-")));
        all.extend(
            unit.values(&["--file", "-f"])
                .into_iter()
                .filter(|word| word.known() != Some("-")),
        );
    }
    let takes_out = !makes && (letters.contains('x') || unit.has('\0', "--extract"));
    if takes_out && all.is_empty() {
        all.push(Word::exact("."));
    }
    all
}

fn unzip(unit: &Unit) -> Vec<Word> {
    let mut all = unit.values(&["-d"]);
    let only_looks = ['l', 'p', 't', 'v', 'Z', 'z'].iter();
    if all.is_empty() && !only_looks.into_iter().any(|letter| unit.has(*letter, "")) {
        all.push(Word::exact("."));
    }
    all
}

/// `ar OPERATION ARCHIVE FILE…`
fn archiver(unit: &Unit) -> Vec<Word> {
    let args = unit.args();
    match args
        .first()
        .map(|word| word.beginning().trim_start_matches('-'))
    {
        Some(letters) if letters.contains('x') => vec![Word::exact(".")],
        Some(letters) if letters.contains(['r', 'q', 'd', 's', 'm']) => {
            args.get(1).cloned().into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn find(unit: &Unit) -> Vec<Word> {
    let mut all = unit.values(&["-fprint", "-fprintf", "-fls", "-fprint0"]);
    if unit.args().iter().any(|arg| arg.known() == Some("-delete")) {
        all.extend(find_roots(unit));
    }
    all
}

/// Whether a `find` picks out some of what it finds.
fn filters(unit: &Unit) -> bool {
    const TESTS: [&str; 14] = [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-regex",
        "-iregex",
        "-newer",
        "-mtime",
        "-mmin",
        "-size",
        "-empty",
        "-user",
        "-perm",
    ];
    unit.args()
        .iter()
        .any(|arg| TESTS.contains(&arg.beginning()))
}

/// Where git makes new directories and files.
fn git(unit: &Unit) -> Vec<Word> {
    let Some(at) = subcommand(unit) else {
        return Vec::new();
    };
    let args = unit.args();
    let operands: Vec<&Word> = args[at + 1..]
        .iter()
        .filter(|arg| !arg.beginning().starts_with('-'))
        .collect();
    let made = match (
        args[at].known(),
        operands.first().and_then(|word| word.known()),
    ) {
        (Some("clone"), _) if operands.len() > 1 => operands.last().copied(),
        (Some("init"), Some(_)) => operands.last().copied(),
        (Some("worktree"), Some("add")) | (Some("bundle"), Some("create")) => {
            operands.get(1).copied()
        }
        _ => None,
    };
    let named: &[&str] = match args[at].known() {
        Some("archive" | "bugreport") => &["-o", "--output"],
        Some("format-patch") => &["-o", "--output-directory", "--output"],
        Some("checkout-index") => &["--prefix"],
        _ => &["--output"],
    };
    made.cloned()
        .into_iter()
        .chain(unit.values(named))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::shell::{Step, parse};

    fn paths(text: &str) -> String {
        let Some(Step::Run(simple)) = parse(text).steps.into_iter().next() else {
            panic!("{text}");
        };
        let unit = Unit::new(simple.words, false).unwrap();
        let all: Vec<String> = written(&unit)
            .iter()
            .map(|written| {
                let mark = if written.destroys { "!" } else { "" };
                format!("{mark}{}", written.path.shown())
            })
            .collect();
        all.join(" ")
    }

    #[test]
    fn written_paths_are_told_from_other_arguments() {
        for (text, expected) in [
            ("rm a b", "a b"),
            ("rm -rf a", "!a"),
            ("rm -fR -- -a", "!-a"),
            ("mv a b", "!a b"),
            ("mv a b -t c", "!a !b c"),
            ("cp a b c", "c"),
            ("cp -r a c", "c"),
            ("cp -t c a b", "c"),
            ("cp --target-directory=c a", "c"),
            ("install -m 755 a c", "c"),
            ("install -d a b", "a b"),
            ("ln -s ../x link", "link"),
            ("ln -s ../x", ""),
            ("mkdir -p -m 700 a", "a"),
            ("touch -r x a", "a"),
            ("tee -a a b", "a b"),
            ("chmod +x a", "a"),
            ("chmod -R 755 a b", "!a !b"),
            ("chown me:me a", "a"),
            ("sed -i s/a/b/ f g", "f g"),
            ("sed -i.bak -e s/a/b/ f", "f"),
            ("sed --in-place -f script f", "f"),
            ("sed -n 1,5p /etc/x", ""),
            ("sed -E -i '/a/d' f", "f"),
            ("perl -pi -e 's/a/b/' f", "f"),
            ("perl -e 'print' f", ""),
            ("dd if=/dev/zero of=out bs=1M", "out"),
            ("tar czf a.tgz src", "a.tgz"),
            ("tar -c -f a.tar src", "a.tar"),
            ("tar xzf a.tgz -C d", "d"),
            ("tar xzf a.tgz", "."),
            ("tar tzf a.tgz", ""),
            ("tar -x -f a.tar", "."),
            ("unzip a.zip", "."),
            ("unzip -l a.zip", ""),
            ("ar rcs a.a b.o", "a.a"),
            ("ar x a.a", "."),
            ("ar t a.a", ""),
            ("uniq a", ""),
            ("uniq a b", "b"),
            ("openssl rand -out a 8", "a"),
            ("zstd a -o b", "a b"),
            ("git archive -o a.tar HEAD", "a.tar"),
            ("git diff --output=a", "a"),
            ("git bundle create a HEAD", "a"),
            ("git format-patch -o d HEAD", "d"),
            ("git log", ""),
            ("tar czf - src", ""),
            ("unzip -o a.zip -d d", "d"),
            ("find a b -name x -delete", "a b"),
            ("find / -delete", "!/"),
            ("find -delete", "!."),
            ("find . -name x -fprint out", "out"),
            ("find . -fprintf out %p", "out"),
            ("git clone u d", "d"),
            ("git clone u", ""),
            ("git worktree add ../x main", "../x"),
            ("sort -o out in", "out"),
            ("gcc -c a.c -o a.o", "a.o"),
            ("gcc -M a.c -MF a.d", "a.d"),
            ("cat a b", ""),
            ("grep -o x f", ""),
        ] {
            assert_eq!(paths(text), expected, "{text}");
        }
    }
}
