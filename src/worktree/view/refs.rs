//! References as git keeps them in files, read without git: a view is made before every call of an agent.
//!
//! Whoever wrote the files may have put anything there; what is no reference is passed over.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use crate::store::read::{ReadError, read_followed, read_plain};

/// What each reference leads to: an id, or `ref: <name>`.
pub(super) type Refs = BTreeMap<String, String>;

/// The largest `packed-refs` that is read, in bytes.
const MAX_PACKED: u64 = 256 * 1024 * 1024;
/// The largest file of one reference, in bytes.
const MAX_LOOSE: u64 = 4096;
/// How deep names may be nested.
const MAX_DEPTH: usize = 32;
/// How many links a symbolic reference may go through.
const MAX_LINKS: usize = 5;

/// What belongs to one checkout only, and the person's stash and the runtime's snapshots.
const OWN: [&str; 5] = [
    "refs/bisect/",
    "refs/pitcrew/",
    "refs/rewritten/",
    "refs/stash",
    "refs/worktree/",
];

/// All references in the git directory `dir`.
///
/// Those in files of their own first: git packs one before it removes its file.
pub(super) fn read(dir: &Path) -> io::Result<Refs> {
    let mut refs = Refs::new();
    loose(&dir.join("refs"), "refs", MAX_DEPTH, &mut refs)?;
    for (name, id) in packed(dir)? {
        refs.entry(name).or_insert(id);
    }
    Ok(refs)
}

/// One reference in the git directory `dir`, if it names an object.
pub(in crate::worktree) fn lookup(dir: &Path, name: &str) -> io::Result<Option<String>> {
    match one(&dir.join(name)) {
        Some(value) => Ok(is_id(&value).then_some(value)),
        None => Ok(packed(dir)?.remove(name)),
    }
}

/// Those that a view begins with: each with an id, symbolic ones with that of their target.
pub(super) fn shared(refs: &Refs) -> Refs {
    refs.iter()
        .filter(|(name, _)| !OWN.iter().any(|own| name.starts_with(own)))
        .filter_map(|(name, value)| Some((name.clone(), end(refs, value)?.to_owned())))
        .collect()
}

/// The id that `value` leads to.
fn end<'a>(refs: &'a Refs, mut value: &'a str) -> Option<&'a str> {
    for _ in 0..MAX_LINKS {
        match value.strip_prefix("ref: ") {
            Some(target) => value = refs.get(target.trim())?,
            None => return Some(value),
        }
    }
    None
}

/// What is to be changed in a view (`None`: taken away), so that it follows the repository: whatever the agent has not
/// changed itself since `noted`, when both were last brought together.
pub(super) fn to_follow(
    noted: &Refs,
    view: &Refs,
    real: &Refs,
) -> BTreeMap<String, Option<String>> {
    let names: BTreeSet<&String> = noted.keys().chain(real.keys()).collect();
    names
        .into_iter()
        .filter(|name| view.get(*name) == noted.get(*name))
        .filter(|name| real.get(*name) != noted.get(*name))
        .map(|name| (name.clone(), real.get(name).cloned()))
        .collect()
}

/// The same as a file `packed-refs`; symbolic ones cannot stand there.
pub(super) fn written(refs: &Refs) -> Vec<u8> {
    let mut text = String::from("# pack-refs with: sorted \n");
    for (name, id) in refs.iter().filter(|(_, value)| is_id(value)) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{id} {name}");
    }
    text.into_bytes()
}

/// Those in `packed-refs` of `dir`.
pub(super) fn packed(dir: &Path) -> io::Result<Refs> {
    let path = dir.join("packed-refs");
    // A repository's own may be a link.
    let bytes = read_followed(&path, MAX_PACKED).map_err(words)?;
    Ok(parsed(&bytes.unwrap_or_default()))
}

fn parsed(bytes: &[u8]) -> Refs {
    let text = String::from_utf8_lossy(bytes);
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(id, name)| is_id(id) && is_name(name))
        .map(|(id, name)| (name.to_owned(), id.to_owned()))
        .collect()
}

/// Those that are noted in the directory `home` of a view.
pub(super) fn noted(home: &Path) -> io::Result<Refs> {
    let bytes = read_plain(&home.join("refs"), MAX_PACKED).map_err(words)?;
    Ok(parsed(&bytes.unwrap_or_default()))
}

fn loose(dir: &Path, prefix: &str, depth: usize, into: &mut Refs) -> io::Result<()> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().map(|name| format!("{prefix}/{name}")) else {
            continue;
        };
        if !is_name(&name) {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() && depth > 0 {
            loose(&entry.path(), &name, depth - 1, into)?;
        } else if kind.is_file()
            && let Some(value) = one(&entry.path())
        {
            into.insert(name, value);
        }
    }
    Ok(())
}

fn one(path: &Path) -> Option<String> {
    let bytes = read_plain(path, MAX_LOOSE).ok()??;
    let text = String::from_utf8(bytes).ok()?;
    let value = text.trim_end();
    let is_value = is_id(value) || value.strip_prefix("ref: ").is_some_and(is_name);
    is_value.then(|| value.to_owned())
}

/// Whether `text` is the id of an object in one of git's formats.
pub(in crate::worktree) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64)
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether it is a name that git could have given, and no way out of a directory.
fn is_name(name: &str) -> bool {
    name.starts_with("refs")
        && name.split('/').all(|part| {
            !part.is_empty() && !part.starts_with('.') && part.strip_suffix(".lock").is_none()
        })
        && !name
            .bytes()
            .any(|byte| byte <= b' ' || byte == 0x7f || b"~^:?*[\\".contains(&byte))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "used as a function of map_err"
)]
fn words(error: ReadError) -> io::Error {
    io::Error::other(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refs(pairs: &[(&str, &str)]) -> Refs {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn packed_references_are_read_as_git_writes_them_and_written_so() {
        let (a, b) = ("a".repeat(40), "b".repeat(64));
        let text = format!(
            "# pack-refs with: peeled fully-peeled sorted \n{a} refs/heads/x\n{b} refs/tags/t\n^{a}\n{a} refs/../../x\nx y\n"
        );
        let found = parsed(text.as_bytes());
        assert_eq!(found, refs(&[("refs/heads/x", &a), ("refs/tags/t", &b)]));
        assert_eq!(parsed(&written(&found)), found);
    }

    #[test]
    fn names_that_lead_elsewhere_or_are_locks_are_no_references() {
        for name in [
            "refs/../x",
            "refs/heads/.x",
            "refs/heads/x.lock",
            "refs//x",
            "refs/heads/a b",
            "HEAD",
        ] {
            assert!(!is_name(name), "{name}");
        }
        assert!(is_name("refs/heads/wt/a-b_c.d"));
    }

    #[test]
    fn a_view_follows_what_its_agent_has_not_changed() {
        let noted = refs(&[("a", "1"), ("b", "1"), ("c", "1"), ("d", "1")]);
        let view = refs(&[("a", "1"), ("b", "2"), ("c", "1"), ("own", "5")]);
        let real = refs(&[("a", "3"), ("b", "3"), ("d", "3"), ("new", "4")]);
        let changes = to_follow(&noted, &view, &real);
        let wanted = [
            ("a".to_owned(), Some("3".to_owned())),
            ("c".to_owned(), None),
            ("new".to_owned(), Some("4".to_owned())),
        ];
        assert_eq!(changes, BTreeMap::from(wanted));
    }

    #[test]
    fn symbolic_ones_are_shared_as_what_they_lead_to_and_private_ones_are_not() {
        let all = refs(&[
            ("refs/heads/main", "1"),
            ("refs/remotes/origin/HEAD", "ref: refs/heads/main"),
            ("refs/heads/round", "ref: refs/heads/round"),
            ("refs/stash", "2"),
            ("refs/pitcrew/ses_1", "3"),
            ("refs/bisect/bad", "4"),
        ]);
        let wanted = refs(&[("refs/heads/main", "1"), ("refs/remotes/origin/HEAD", "1")]);
        assert_eq!(shared(&all), wanted);
    }
}
