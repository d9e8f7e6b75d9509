//! The repository of a workspace and its registered worktrees, found by reading git's own files.
//!
//! Only what stands beneath the common directory is believed: an agent can write its checkout, so the `.git` file in
//! there is compared with the registration, never followed.

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::store::read::{ReadError, read_plain};

/// Longest pointer file (`.git`, `commondir`, `gitdir`, `HEAD`) that is read, in bytes.
const MAX_POINTER: u64 = 64 * 1024;

/// The repository that a directory is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repository {
    /// The top of the checkout.
    pub(super) top: PathBuf,
    /// This checkout's own git directory.
    pub(super) git_dir: PathBuf,
    /// The directory shared by all worktrees of the repository.
    pub(super) common: PathBuf,
}

/// What git has noted about one worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Registration {
    /// `<common>/worktrees/<id>`: the git directory of that worktree.
    pub(super) git_dir: PathBuf,
}

impl Repository {
    /// The repository around `dir`, if there is one.
    pub(super) fn around(dir: &Path) -> io::Result<Option<Self>> {
        for top in dir.ancestors() {
            if let Some(found) = Self::at(top)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The repository whose checkout has its top at `top`.
    pub(super) fn at(top: &Path) -> io::Result<Option<Self>> {
        let marker = top.join(".git");
        let git_dir = match std::fs::metadata(&marker) {
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(error),
            Ok(meta) if meta.is_dir() => marker,
            Ok(_) => match pointer(&marker)?.as_deref().and_then(gitdir_line) {
                Some(target) => join(top, target),
                None => return Ok(None),
            },
        };
        if !git_dir.join("HEAD").is_file() {
            return Ok(None);
        }
        let common = match pointer(&git_dir.join("commondir"))? {
            Some(text) => join(&git_dir, text.trim_end()),
            None => git_dir.clone(),
        };
        Ok(Some(Self {
            top: top.to_path_buf(),
            git_dir,
            common,
        }))
    }

    /// Whether refs are kept in tables, which only git reads.
    pub(super) fn has_reftable(&self) -> bool {
        self.common.join("reftable").is_dir()
    }

    /// The registration whose checkout is at `path` (absolute and resolved), whether or not anything is there.
    pub(super) fn registration_of(&self, path: &Path) -> io::Result<Option<Registration>> {
        let all = self.registrations()?;
        Ok(all
            .into_iter()
            .find(|(checkout, _)| checkout == path)
            .map(|(_, registration)| registration))
    }

    /// All that git has registered besides the main checkout, each with the place of its checkout.
    pub(super) fn registrations(&self) -> io::Result<Vec<(PathBuf, Registration)>> {
        let entries = match std::fs::read_dir(self.common.join("worktrees")) {
            Err(error) if is_absence(&error) => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let git_dir = entry?.path();
            let Ok(Some(text)) = pointer(&git_dir.join("gitdir")) else {
                continue;
            };
            let marker = join(&git_dir, text.trim_end_matches('\n'));
            if let (Some(checkout), Some(".git")) = (
                marker.parent(),
                marker.file_name().and_then(std::ffi::OsStr::to_str),
            ) {
                found.push((checkout.to_path_buf(), Registration { git_dir }));
            }
        }
        Ok(found)
    }
}

impl Registration {
    /// Why it is locked, if it is; git itself notes `initializing` while it makes one.
    pub(super) fn locked(&self) -> Option<String> {
        let reason = pointer(&self.git_dir.join("locked")).ok().flatten()?;
        Some(reason.trim().to_owned())
    }

    /// Whether git was ended while it made it.
    pub(super) fn is_half_made(&self) -> bool {
        self.locked().as_deref() == Some("initializing")
    }
}

/// The text of a pointer file; `None` if it is missing.
pub(super) fn pointer(path: &Path) -> io::Result<Option<String>> {
    match read_plain(path, MAX_POINTER) {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| io::Error::other(format!("{} is not UTF-8", path.display()))),
        Err(ReadError::Store(error)) => Err(error.source),
        Err(error @ (ReadError::NotPlain { .. } | ReadError::TooLarge { .. })) => {
            Err(io::Error::other(error.to_string()))
        }
    }
}

/// What a `.git` file points to.
pub(super) fn gitdir_line(text: &str) -> Option<&str> {
    text.strip_prefix("gitdir:")
        .map(|rest| rest.trim_start().trim_end_matches(['\n', '\r']))
        .filter(|target| !target.is_empty())
}

/// `path` seen from `base`, with `.` and `..` taken away by their text alone.
pub(super) fn join(base: &Path, path: impl AsRef<Path>) -> PathBuf {
    let mut out = PathBuf::new();
    for part in base.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    out
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_read_as_git_writes_them() {
        assert_eq!(gitdir_line("gitdir: /a b/.git\n"), Some("/a b/.git"));
        assert_eq!(gitdir_line("gitdir:../x"), Some("../x"));
        assert_eq!(gitdir_line("gitdir: \n"), None);
        assert_eq!(gitdir_line("hello"), None);
        assert_eq!(join(Path::new("/a/b"), "../../c"), Path::new("/c"));
        assert_eq!(join(Path::new("/a/b"), "/x/./y"), Path::new("/x/y"));
    }
}
