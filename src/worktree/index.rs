//! The index of a worktree, which its agent can write with programs of its own: git believes what stands there, also that
//! a file somewhere else is part of the checkout.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::git::{Git, nul_separated};

/// `Err` says in words which path of the index leads out of the checkout: git would read or write there.
pub(super) fn check(git: &Git) -> Result<(), String> {
    let listed = git
        .look(&["ls-files", "-z"])
        .map_err(|error| error.to_string())?;
    match nul_separated(&listed).find(|path| !is_inside(path)) {
        None => Ok(()),
        Some(path) => Err(format!(
            "its index was changed: it names {}, which no checkout can hold; run `git reset` in it",
            path.display()
        )),
    }
}

fn is_inside(path: &Path) -> bool {
    path.as_os_str()
        .as_bytes()
        .split(|byte| *byte == b'/')
        .all(|part| !matches!(part, b"" | b"." | b"..") && !part.eq_ignore_ascii_case(b".git"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_below_the_top_are_inside() {
        for path in ["a", "a/b", "..a/b", ".gitignore", "a/.github/x"] {
            assert!(is_inside(Path::new(path)), "{path}");
        }
        for path in [
            "../a",
            "a/../../b",
            "/etc/passwd",
            ".git/config",
            "a/.GIT/x",
            "a//b",
            "./a",
        ] {
            assert!(!is_inside(Path::new(path)), "{path}");
        }
    }
}
