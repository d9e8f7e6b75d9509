//! Ignore rules as they were when a snapshot was made. A rule that came since hides nothing from whoever goes back.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::SnapshotError;
use super::diff::changes;
use super::left_out::is_large;
use super::tree::{Ground, TIME};
use crate::worktree::git::{Git, GitError, nul_separated};

/// Which of `paths`, all from the top of the checkout, the rules of the snapshot `base` ignore.
pub(in crate::worktree) fn ignored_by(
    ground: &Ground,
    base: &str,
    paths: &[PathBuf],
) -> Result<HashSet<PathBuf>, SnapshotError> {
    if paths.is_empty() {
        return Ok(HashSet::new());
    }
    let rules = ground.scratch("rules");
    std::fs::create_dir_all(&rules)?;
    let git = ground
        .git
        .clone()
        .with("GIT_INDEX_FILE", ground.scratch("rules-index"))
        .with("GIT_DIR", &ground.repository.git_dir)
        .with("GIT_WORK_TREE", &rules)
        .standing_in(&rules);
    git.run(&["read-tree", base], TIME)?;
    let listed = git.look(&["ls-files", "-z"])?;
    let files: Vec<PathBuf> = nul_separated(&listed)
        .filter(|path| is_rules(path))
        .collect();
    git.fed(&["checkout-index", "-f", "-z", "--stdin"], &joined(&files))?;
    // Of a path that begins with `./` git takes no sign for magic, which it cannot be told here otherwise.
    let asked: Vec<PathBuf> = paths.iter().map(|path| Path::new(".").join(path)).collect();
    let args = [
        "--no-literal-pathspecs",
        "check-ignore",
        "-z",
        "--stdin",
        "--no-index",
    ];
    let ended = git.end_fed(&args, &joined(&asked), TIME)?;
    match ended.code {
        Some(0) => Ok(nul_separated(&ended.stdout)
            .filter_map(|path| path.strip_prefix(".").map(Path::to_path_buf).ok())
            .collect()),
        // None of them.
        Some(1) => Ok(HashSet::new()),
        _ => Err(ended.failed(&args[1..]).into()),
    }
}

/// Adds to the index of `git` what only rules hide that are not those of `base`; what git said of files that could not be
/// read.
pub(super) fn add_what_new_rules_hide(
    ground: &Ground,
    git: &Git,
    base: &str,
) -> Result<String, SnapshotError> {
    if !have_changed(git, base)? {
        return Ok(String::new());
    }
    let hidden = git.run(
        &[
            "ls-files",
            "-o",
            "-i",
            "-z",
            "--full-name",
            "--exclude-standard",
        ],
        TIME,
    )?;
    let top = git.clone().standing_in(&ground.repository.top);
    let hidden: Vec<PathBuf> = nul_separated(&hidden)
        .filter(|path| {
            !path.as_os_str().as_encoded_bytes().ends_with(b"/") && !is_large(&top, path)
        })
        .collect();
    let ignored = ignored_by(ground, base, &hidden)?;
    let made: Vec<PathBuf> = hidden
        .into_iter()
        .filter(|path| !ignored.contains(path))
        .collect();
    if made.is_empty() {
        return Ok(String::new());
    }
    let args = ["update-index", "--add", "--remove", "-z", "--stdin"];
    match top.fed(&args, &joined(&made)) {
        Ok(_) => Ok(String::new()),
        Err(GitError::Failed { said, .. }) => Ok(said),
        Err(error) => Err(error.into()),
    }
}

fn have_changed(git: &Git, base: &str) -> Result<bool, GitError> {
    let raw = git.look(&[
        "diff-index",
        "--cached",
        "--raw",
        "-z",
        "--no-renames",
        base,
    ])?;
    Ok(changes(&raw).iter().any(|change| is_rules(&change.path)))
}

/// Whether a path names a file with ignore rules.
fn is_rules(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".gitignore")
}

/// As git reads a list of paths with NUL after each.
pub(super) fn joined<P: AsRef<Path>>(paths: &[P]) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    let mut bytes = Vec::new();
    for path in paths {
        bytes.extend_from_slice(path.as_ref().as_os_str().as_bytes());
        bytes.push(0);
    }
    bytes
}
