//! Keeping the runtime's directories out of git, without touching a file that git tracks.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::repository::Repository;
use crate::store::read::read_followed;
use crate::store::{Durability, StoreError, atomic};
use crate::workspace::Workspace;

/// What is kept out, relative to the workspace's root.
pub(super) const DIRECTORIES: [&str; 4] = [".tasks/", ".mailboxes/", ".worktrees/", ".team/state/"];

/// Largest list of what git leaves out that is read, in bytes.
const MAX_EXCLUDE: u64 = 16 * 1024 * 1024;

/// Adds the runtime's directories to `$GIT_COMMON_DIR/info/exclude` if the workspace is in a git checkout and they are not
/// there yet; a file that git tracks is never touched. No checkout: nothing happens.
pub fn exclude_runtime_files(workspace: &Workspace) -> Result<(), StoreError> {
    let failed = |action: &'static str, path: &Path| {
        let path = path.to_path_buf();
        move |source: io::Error| StoreError {
            action,
            path,
            source,
        }
    };
    let root = workspace.root();
    let Some(repository) = Repository::around(root).map_err(failed("read", &root.join(".git")))?
    else {
        return Ok(());
    };
    let listed = repository.common.join("info/exclude");
    let Some(file) = outside_the_checkout(&listed, &repository.top) else {
        return Ok(());
    };
    let before = read_followed(&file, MAX_EXCLUDE)
        .map_err(|error| failed("read", &file)(io::Error::other(error.why())))?
        .unwrap_or_default();
    let Some(after) = with_lines(&before, &patterns(root, &repository.top)) else {
        return Ok(());
    };
    if let Some(parent) = file.parent() {
        atomic::ensure_dir(parent)?;
    }
    let mode = std::fs::metadata(&file).map_or(0o644, |meta| meta.permissions().mode() & 0o7777);
    atomic::replace_with_mode(&file, &after, mode, Durability::Process)
}

/// The file that `listed` is, through links; `None` if it is one that the checkout itself holds.
fn outside_the_checkout(listed: &Path, top: &Path) -> Option<PathBuf> {
    let is_link = std::fs::symlink_metadata(listed).is_ok_and(|meta| meta.is_symlink());
    if !is_link {
        return Some(listed.to_path_buf());
    }
    let target = listed.canonicalize().ok()?;
    (!target.starts_with(top)).then_some(target)
}

/// The patterns as git reads them at the top of the checkout.
fn patterns(root: &Path, top: &Path) -> Vec<String> {
    let below = root.strip_prefix(top).ok().and_then(Path::to_str);
    let prefix = match below {
        None | Some("") => String::new(),
        Some(below) => format!("/{}/", escaped(below)),
    };
    DIRECTORIES
        .iter()
        .map(|dir| format!("{prefix}{dir}"))
        .collect()
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for ch in text.chars() {
        if matches!(ch, '*' | '?' | '[' | ']' | '\\' | '!' | '#' | ' ') {
            out.push('\\');
        }
        out.push(ch);
    }
    out
}

/// `before` with those of `lines` that it lacks; `None` if it has them all.
fn with_lines(before: &[u8], lines: &[String]) -> Option<Vec<u8>> {
    let has = |line: &str| {
        before
            .split(|byte| *byte == b'\n')
            .any(|have| have.trim_ascii_end() == line.as_bytes())
    };
    let missing: Vec<&String> = lines.iter().filter(|line| !has(line)).collect();
    if missing.is_empty() {
        return None;
    }
    let mut after = before.to_vec();
    if !after.is_empty() && !after.ends_with(b"\n") {
        after.push(b'\n');
    }
    for line in missing {
        after.extend_from_slice(line.as_bytes());
        after.push(b'\n');
    }
    Some(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_missing_lines_are_added_and_others_stay_as_they_are() {
        let lines = patterns(Path::new("/w"), Path::new("/w"));
        let once = with_lines(b"# mine\n*.log", &lines).unwrap();
        let text = String::from_utf8(once.clone()).unwrap();
        assert!(text.starts_with("# mine\n*.log\n.tasks/\n"), "{text}");
        assert_eq!(text.lines().count(), 6);
        assert_eq!(with_lines(&once, &lines), None);
        let crlf = text.replace('\n', "\r\n");
        assert_eq!(with_lines(crlf.as_bytes(), &lines), None);
    }

    #[test]
    fn a_workspace_below_the_top_names_its_own_directories_only() {
        let lines = patterns(Path::new("/w/a [1]"), Path::new("/w"));
        assert_eq!(lines[0], "/a\\ \\[1\\]/.tasks/");
        assert_eq!(lines[3], "/a\\ \\[1\\]/.team/state/");
    }
}
