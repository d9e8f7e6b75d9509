//! Scripts that are nothing but plain git: what the lead may run with the repository of the workspace writable, once the
//! person has agreed (SPEC §10.2).
//!
//! Whatever could make git run another program, or write a file that git does not make by itself, makes a script something
//! else: variables, redirects, options of that kind. So does whatever is not known before it runs. `git mv` is none of them:
//! it moves files through links, into the repository too.

use super::command::Unit;
use super::shell::{Simple, Step, Word, parse};

/// What changes the repository.
const WRITES: [&str; 14] = [
    "add",
    "branch",
    "checkout",
    "cherry-pick",
    "commit",
    "merge",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "switch",
    "tag",
];

/// What may stand beside it.
const READS: [&str; 5] = ["diff", "log", "rev-parse", "show", "status"];

/// Options, also cut short, that name a program or a file to write.
const FORBIDDEN: [&str; 3] = ["--ex", "--ou", "--open"];

/// Whether `text` is a script of plain git commands, of which one at least changes the repository.
pub fn is_plain_git(text: &str) -> bool {
    let script = parse(text);
    let mut writes = false;
    for step in &script.steps {
        match step {
            Step::Enter | Step::Leave => {}
            Step::Write(target) if target.known() == Some("/dev/null") => {}
            Step::Run(simple) if is_plain(simple) => writes |= changes(&simple.words),
            Step::Run(_) | Step::Assign(..) | Step::Loop(..) | Step::Write(_) => return false,
        }
    }
    writes && script.unclear.is_none()
}

fn is_plain(simple: &Simple) -> bool {
    let Some((git, args)) = simple.words.split_first() else {
        return false;
    };
    let Some((name, rest)) = subcommand(args) else {
        return false;
    };
    let is_known = WRITES.contains(&name) || READS.contains(&name);
    simple.assigned.is_empty()
        && git.known() == Some("git")
        && is_known
        && rest.iter().all(|word| is_harmless(name, word))
}

/// The subcommand and what follows it; `None` behind options that say where and with what git works.
fn subcommand(args: &[Word]) -> Option<(&str, &[Word])> {
    let args = match args {
        [first, rest @ ..] if first.known() == Some("--no-pager") => rest,
        args => args,
    };
    let (name, rest) = args.split_first()?;
    Some((name.known()?, rest))
}

fn is_harmless(name: &str, word: &Word) -> bool {
    let Some(text) = word.known().filter(|_| !word.glob && !word.tilde) else {
        return false;
    };
    let into_repository = text
        .split(['/', '=', ':'])
        .any(|part| part.eq_ignore_ascii_case(".git"));
    let letters = text.strip_prefix('-').filter(|_| !text.starts_with("--"));
    let runs = name == "rebase" && letters.is_some_and(|letters| letters.contains('x'));
    !(into_repository || runs || FORBIDDEN.iter().any(|option| text.starts_with(option)))
}

/// Whether `unit` is one of the commands that change the repository, and not to list what is there.
pub(super) fn is_change(unit: &Unit) -> bool {
    unit.name == "git" && changes(&unit.words)
}

fn changes(words: &[Word]) -> bool {
    let Some((name, rest)) = words.get(1..).and_then(subcommand) else {
        return false;
    };
    let given = |options: &[&str]| {
        rest.iter()
            .any(|word| options.contains(&word.known().unwrap_or_default()))
    };
    let first = rest
        .iter()
        .find_map(|word| word.known().filter(|text| !text.starts_with('-')));
    match name {
        "stash" => !matches!(first, Some("list" | "show")),
        "branch" | "tag" => {
            first.is_some() && !given(&["--list", "-l", "--contains", "--merged", "--no-merged"])
        }
        _ => WRITES.contains(&name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_git_commands_that_change_the_repository() {
        for text in [
            "git add -A && git commit -m 'a: b; c'",
            "git add src/x.rs; git status --short; git commit -qm \"two words\" && git log -1",
            "git commit -F - <<'EOF'\nsubject\n\nbody $(not run)\nEOF",
            "git --no-pager stash pop",
            "(git switch -c topic || git switch topic) && git merge --no-ff main 2>&1",
            "git commit -qm x > /dev/null",
            "if git diff --quiet; then git reset --hard HEAD~1; fi",
            "git rebase --onto main a b",
            "git tag v1",
            "git branch -D topic",
            "git cherry-pick -x topic",
            "git restore --source=HEAD~1 -- .gitignore",
        ] {
            assert!(is_plain_git(text), "{text}");
        }
    }

    #[test]
    fn whatever_could_run_something_else_or_only_looks_is_none() {
        for text in [
            "",
            "git status",
            "git stash list",
            "git branch",
            "git branch --list 'x*'",
            "git tag -l",
            "git log -1",
            "git push",
            "git config user.name x",
            "git mv a link/commondir",
            "git worktree add x",
            "git gc",
            "git bisect run sh",
            "git -c core.hooksPath=/x commit -m x",
            "git -ccore.hooksPath=/x commit -m x",
            "git -C .. commit -m x",
            "git --git-dir=x commit -m x",
            "git --exec-path=. commit -m x",
            "GIT_DIR=x git commit -m x",
            "X=1; git commit -m x",
            "export X=1; git commit -m x",
            "./git commit -m x",
            "/usr/bin/git commit -m x",
            "env git commit -m x",
            "sh -c 'git commit -m x'",
            "cd sub && git commit -m x",
            "make && git commit -m x",
            "git log | head; git commit -m x",
            "git commit -m \"$(cat message)\"",
            "git commit -m \"$X\"",
            "git commit -F - <<EOF\n$(touch x)\nEOF",
            "git commit -F <(touch x)",
            "git commit -m x > log",
            "git add *.rs",
            "git add ~/x",
            "git $X; git commit -m x",
            "git rebase -x make main",
            "git rebase -ix make main",
            "git rebase --exec make main",
            "git rebase --exec=make main",
            "git stash show --output=x; git commit -m x",
            "git diff --outp x; git commit -m x",
            "git restore .git/config; git commit -m x",
            "git commit -F .GIT/x",
            "git add a; git x",
            "git() { touch x; }; git commit -m x",
            "git commit -m x &\nwhile true; do touch x; done",
            "for x in a b; do git tag $x; done",
            "git commit -m 'x",
        ] {
            assert!(!is_plain_git(text), "{text}");
        }
    }
}
