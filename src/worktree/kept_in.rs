//! Where the repository of a workspace is kept, which is not always in the workspace: a linked worktree's is with its main
//! checkout, `--separate-git-dir` puts it anywhere, and a shared clone reads the objects of another.

use std::path::{Path, PathBuf};

use super::repository::{Repository, join, pointer};
use crate::workspace::Workspace;

/// How many repositories may lend objects to each other in a row, as git follows them.
const MAX_LENDERS: usize = 5;

/// The directories that git reads beside the checkout, resolved: its own git directory, the common one, and the objects of
/// repositories that lend theirs. Empty where there is no repository, or none that can be read.
pub fn kept_in(workspace: &Workspace) -> Vec<PathBuf> {
    let Ok(Some(repository)) = Repository::around(workspace.root()) else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = [&repository.git_dir, &repository.common]
        .into_iter()
        .filter_map(|dir| dir.canonicalize().ok())
        .collect();
    add_lenders(&repository.common.join("objects"), MAX_LENDERS, &mut found);
    found.sort();
    found.dedup();
    found
}

/// Whoever may write these objects may name lenders: what is not the objects of a repository is none.
fn add_lenders(objects: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(Some(text)) = pointer(&objects.join("info/alternates")) else {
        return;
    };
    for line in text.lines().filter(|line| !line.starts_with(['#', '"'])) {
        let Ok(lender) = join(objects, line).canonicalize() else {
            continue;
        };
        if !is_objects(&lender) || found.contains(&lender) {
            continue;
        }
        found.push(lender.clone());
        if depth > 0 {
            add_lenders(&lender, depth - 1, found);
        }
    }
}

fn is_objects(dir: &Path) -> bool {
    let git_dir = dir.parent().filter(|_| dir.ends_with("objects"));
    git_dir.is_some_and(|git_dir| git_dir.join("HEAD").is_file() && git_dir.join("refs").is_dir())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make repositories")]
mod tests {
    use std::fs;

    use super::*;

    /// What stands there is enough to be taken for a repository.
    fn repository(git_dir: &Path) {
        for dir in ["refs", "objects/info"] {
            fs::create_dir_all(git_dir.join(dir)).unwrap();
        }
        fs::write(git_dir.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    #[test]
    fn a_repository_is_followed_wherever_its_parts_are() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        let at = |name: &str| top.join(name);
        for name in ["main.git", "lender/.git", "first/.git"] {
            repository(&at(name));
        }
        fs::create_dir_all(at("w")).unwrap();
        fs::create_dir_all(at("secret/objects")).unwrap();
        fs::create_dir_all(at("main.git/worktrees/w")).unwrap();
        fs::write(at("w/.git"), "gitdir: ../main.git/worktrees/w\n").unwrap();
        fs::write(at("main.git/worktrees/w/HEAD"), "ref: refs/heads/w\n").unwrap();
        fs::write(at("main.git/worktrees/w/commondir"), "../..\n").unwrap();
        let lenders = format!(
            "{}\n../../secret/objects\n../..\n",
            at("lender/.git/objects").display()
        );
        fs::write(at("main.git/objects/info/alternates"), lenders).unwrap();
        // One that lends in turn, and in a circle.
        let lenders = "../../../first/.git/objects\n../../../lender/.git/objects\n";
        fs::write(at("lender/.git/objects/info/alternates"), lenders).unwrap();
        let found = kept_in(&Workspace::at(at("w")));
        let expected = [
            "first/.git/objects",
            "lender/.git/objects",
            "main.git",
            "main.git/worktrees/w",
        ];
        assert_eq!(found, expected.map(at));
        assert!(kept_in(&Workspace::at(at("secret"))).is_empty());
    }
}
