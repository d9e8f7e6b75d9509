//! What of the repository a command in the workspace sees when it may write it (SPEC §10.2).

use crate::process::sandbox::Bind;
use crate::workspace::Workspace;

/// What stays read-only in there: what decides which programs git runs, and what is somebody else's.
const KEPT: [&str; 6] = [
    "config",
    "config.worktree",
    "hooks",
    "info",
    "modules",
    "worktrees",
];

/// The mounts, in order; `None` where the workspace is not the top of a checkout with a git directory of its own in it.
pub fn committing(workspace: &Workspace) -> Option<Vec<Bind>> {
    let git = workspace.root().canonicalize().ok()?.join(".git");
    let is_dir = git
        .symlink_metadata()
        .is_ok_and(|found| found.file_type().is_dir());
    if !is_dir || !git.join("HEAD").is_file() {
        return None;
    }
    let kept = KEPT.map(|name| git.join(name));
    // Who writes here could lead a read-only part of a link elsewhere.
    let is_link = |path: &std::path::PathBuf| path.is_symlink();
    if kept.iter().any(is_link) {
        return None;
    }
    let kept = kept
        .into_iter()
        .filter(|path| path.exists())
        .map(|path| Bind {
            from: path.clone(),
            at: path,
            writable: false,
        });
    let whole = Bind {
        from: git.clone(),
        at: git,
        writable: true,
    };
    Some(std::iter::once(whole).chain(kept).collect())
}
