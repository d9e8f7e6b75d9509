//! git that takes and gives files byte by byte, whatever line endings, encodings and filters the repository is set up for.
//!
//! It works through a git directory of our own, whose attributes stand above all others and switch every conversion off.
//! Settings, ignore rules and objects are the repository's.

use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::left_out::{LARGEST, LeftOut};
use super::rules::joined;
use super::tree::{TIME, quoted};
use crate::worktree::git::{Git, GitError, nul_separated};
use crate::worktree::repository::Repository;

/// An encoding can only be left unspecified.
const ATTRIBUTES: &str = "* -text !eol -filter -ident !working-tree-encoding\n";

/// What a path has that nothing is done to: by attributes alone, and whatever the settings say.
const AS_IT_IS: [&str; 2] = [
    ":(exclude,attr:!text !eol !crlf !filter !ident !working-tree-encoding)",
    ":(exclude,attr:-text !filter !ident !working-tree-encoding)",
];

/// The same as `git`, byte by byte; its own git directory is made at `dir`.
pub(super) fn exact(git: &Git, repository: &Repository, dir: &Path) -> Result<Git, GitError> {
    let format = git.text(&["rev-parse", "--show-object-format"])?;
    make(repository, dir, &format).map_err(GitError::Own)?;
    Ok(git
        .clone()
        .with("GIT_DIR", dir)
        .with("GIT_WORK_TREE", &repository.top)
        .with("GIT_OBJECT_DIRECTORY", repository.common.join("objects")))
}

#[expect(clippy::disallowed_methods, reason = "it is ours and gone afterwards")]
fn make(repository: &Repository, dir: &Path, format: &str) -> io::Result<()> {
    for part in ["refs", "info"] {
        std::fs::create_dir_all(dir.join(part))?;
    }
    std::fs::write(dir.join("HEAD"), "ref: refs/heads/none\n")?;
    std::fs::write(dir.join("info/attributes"), ATTRIBUTES)?;
    let mut config = b"[core]\nrepositoryFormatVersion = 1\n[extensions]\nobjectFormat = ".to_vec();
    config.extend_from_slice(format.as_bytes());
    let own = repository.git_dir.join("config.worktree");
    for settings in [repository.common.join("config"), own] {
        config.extend_from_slice(b"\n[include]\npath = ");
        config.extend_from_slice(
            quoted(&std::path::absolute(settings)?)
                .as_os_str()
                .as_bytes(),
        );
    }
    // Whoever reads an index of ours shall find it whole.
    config.extend_from_slice(b"\n[core]\nsplitIndex = false\n");
    std::fs::write(dir.join("config"), config)?;
    symlink(
        repository.common.join("info/exclude"),
        dir.join("info/exclude"),
    )?;
    let sparse = "info/sparse-checkout";
    symlink(repository.git_dir.join(sparse), dir.join(sparse))?;
    // An index may be in two parts.
    for entry in std::fs::read_dir(&repository.git_dir)? {
        let name = entry?.file_name();
        if name.as_bytes().starts_with(b"sharedindex.") {
            symlink(repository.git_dir.join(&name), dir.join(&name))?;
        }
    }
    Ok(())
}

/// Has the index of `git`, which is like the repository's, forget what it took to be unchanged in files that are converted,
/// so that `exact` reads them. What is too large to be held as it is, is left alone and returned.
pub(super) fn forget_converted(
    git: &Git,
    exact: &Git,
    repository: &Repository,
) -> Result<LeftOut, GitError> {
    let below = git
        .dir()
        .strip_prefix(&repository.top)
        .unwrap_or(Path::new(""));
    let (mut lines, mut left_out) = (Vec::new(), LeftOut::default());
    for (entry, path) in converted(git)? {
        let there = std::fs::symlink_metadata(git.dir().join(&path));
        if there.is_ok_and(|meta| meta.is_file() && meta.len() > LARGEST) {
            left_out.large.push(path);
            continue;
        }
        lines.extend(entry);
        lines.push(b'\t');
        lines.extend_from_slice(below.join(path).as_os_str().as_bytes());
        lines.push(0);
    }
    if !lines.is_empty() {
        exact.fed_for(&["update-index", "-z", "--index-info"], &lines, TIME)?;
    }
    if !left_out.large.is_empty() {
        let args = ["update-index", "--skip-worktree", "-z", "--stdin"];
        exact.fed(&args, &joined(&left_out.large))?;
    }
    Ok(left_out)
}

/// The files that git knows and converts: each entry of the index without its path, and the path.
fn converted(git: &Git) -> Result<Vec<(Vec<u8>, PathBuf)>, GitError> {
    let kept = git.text(&["config", "--get", "core.autocrlf"]);
    let by_settings = kept.is_ok_and(|value| {
        !["", "false", "no", "off", "0"].contains(&value.to_lowercase().as_str())
    });
    let mut args = vec!["--no-literal-pathspecs", "ls-files", "-s", "-z", "--", "."];
    args.extend(&AS_IT_IS[usize::from(by_settings)..]);
    let listed = git.run(&args, TIME)?;
    Ok(nul_separated(&listed)
        .filter_map(|line| {
            let mut line = line.into_os_string().into_vec();
            let at = line.iter().position(|byte| *byte == b'\t')?;
            let path = std::ffi::OsString::from_vec(line.split_off(at + 1));
            line.pop();
            let is_whole_file = line.starts_with(b"100") && line.ends_with(b" 0");
            is_whole_file.then(|| (line, PathBuf::from(path)))
        })
        .collect())
}
