//! What an agent may have left in its worktree decides nothing about what git runs for the lead.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use pitcrew::worktree;

use super::repo::{Scratch, commit, git, name, put, with_work, workspace};

/// Calls everything that asks git about worktree `w`, and sees that the planted program did not run.
#[track_caller]
fn nothing_runs(root: &Path, planted: &Path) {
    let space = workspace(root);
    let w = name("w");
    drop(worktree::state(&space, &w));
    drop(worktree::summary(&space, &w));
    drop(worktree::difference(&space, &w));
    drop(worktree::usable(&space, &w));
    drop(worktree::view::settle(&space, &w));
    if let Ok(Some(left)) = worktree::leftovers(&space, &w) {
        drop(left.commit("left"));
    }
    drop(worktree::bring(&space, &w, &w));
    drop(worktree::remove(&space, &w, false));
    drop(worktree::merge(&space, &w));
    assert!(!planted.exists(), "a planted program ran");
}

/// Settings by which git can be made to run a program, each of which would make `planted`.
fn evil_config(planted: &Path) -> String {
    let touch = format!("touch '{}'", planted.display());
    format!(
        "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = \"{touch}\"\n\tpager = \"{touch}\"\n\
         \thooksPath = .\n[diff]\n\texternal = \"{touch}\"\n[filter \"x\"]\n\tclean = \"{touch}\"\n\tsmudge = \"{touch}\"\n\
         [diff \"x\"]\n\ttextconv = \"{touch}\"\n\tcommand = \"{touch}\"\n[merge \"x\"]\n\tdriver = \"{touch}\"\n\
         [gpg]\n\tprogram = \"{touch}\"\n"
    )
}

#[test]
fn a_changed_git_file_is_reported_and_not_followed() {
    let scratch = Scratch::new();
    let (root, path) = with_work(&scratch);
    let planted = scratch.path().join("planted");
    let evil = path.join("evil");
    std::fs::create_dir(&evil).unwrap();
    git(&evil, &["init", "-q", "--bare", "."]);
    put(&evil.join("config"), &evil_config(&planted));
    put(&path.join(".git"), "gitdir: evil\n");
    put(&path.join(".gitattributes"), "* filter=x diff=x merge=x\n");
    nothing_runs(&root, &planted);
    let problem = worktree::state(&workspace(&root), &name("w"))
        .problem
        .unwrap();
    assert!(problem.contains(".git file was changed"), "{problem}");
}

#[test]
fn a_changed_commondir_is_reported_and_not_followed() {
    let scratch = Scratch::new();
    let (root, path) = with_work(&scratch);
    let planted = scratch.path().join("planted");
    let evil = path.join("evil");
    std::fs::create_dir(&evil).unwrap();
    git(&evil, &["init", "-q", "--bare", "."]);
    put(&evil.join("config"), &evil_config(&planted));
    put(
        &root.join(".git/worktrees/w/commondir"),
        &format!("{}\n", evil.display()),
    );
    nothing_runs(&root, &planted);
    let problem = worktree::state(&workspace(&root), &name("w"))
        .problem
        .unwrap();
    assert!(problem.contains("commondir file was changed"), "{problem}");
}

#[test]
fn a_configuration_of_the_worktrees_own_is_reported_and_not_read() {
    let scratch = Scratch::new();
    let (root, path) = with_work(&scratch);
    let planted = scratch.path().join("planted");
    git(&root, &["config", "extensions.worktreeConfig", "true"]);
    put(
        &root.join(".git/worktrees/w/config.worktree"),
        &evil_config(&planted),
    );
    put(&path.join(".gitattributes"), "* filter=x diff=x merge=x\n");
    put(&path.join("a.txt"), "changed\n");
    nothing_runs(&root, &planted);
    let problem = worktree::state(&workspace(&root), &name("w"))
        .problem
        .unwrap();
    assert!(
        problem.contains("config.worktree file was changed"),
        "{problem}"
    );
}

#[test]
fn settings_that_git_copies_into_a_worktree_leave_it_usable() {
    let scratch = Scratch::new();
    let root = scratch.repository("r");
    git(&root, &["config", "extensions.worktreeConfig", "true"]);
    git(&root, &["config", "--worktree", "user.name", "Mine"]);
    git(
        &root,
        &["config", "--worktree", "core.sparseCheckout", "true"],
    );
    put(&root.join(".git/info/sparse-checkout"), "/*\n");
    let space = workspace(&root);
    worktree::create(&space, &name("w")).unwrap();
    let file = root.join(".git/worktrees/w/config.worktree");
    assert!(file.exists(), "git copies it");
    assert_eq!(worktree::usable(&space, &name("w")), Ok(()));
    git(
        &space.worktree(&name("w")),
        &["sparse-checkout", "set", "--cone", "sub"],
    );
    assert_eq!(worktree::usable(&space, &name("w")), Ok(()));
}

#[test]
fn a_repository_inside_the_worktree_is_not_entered() {
    let scratch = Scratch::new();
    let (root, path) = with_work(&scratch);
    let planted = scratch.path().join("planted");
    let sub = path.join("sub");
    std::fs::create_dir(&sub).unwrap();
    git(&sub, &["init", "-q"]);
    git(&sub, &["config", "user.name", "T"]);
    git(&sub, &["config", "user.email", "t@e"]);
    put(&sub.join(".gitattributes"), "* filter=x diff=x\n");
    commit(&sub, "file", "one\n");
    put(
        &path.join(".gitmodules"),
        "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n",
    );
    git(&path, &["-c", "advice.addEmbeddedRepo=false", "add", "."]);
    git(&path, &["commit", "-q", "-m", "sub"]);
    let config = std::fs::read_to_string(sub.join(".git/config")).unwrap();
    put(&sub.join(".git/config"), &(config + &evil_config(&planted)));
    // Of the same length: git has to read it, through the filter, to see that it differs.
    put(&sub.join("file"), "two\n");
    nothing_runs(&root, &planted);
}

#[test]
fn what_stands_in_a_worktrees_git_directory_is_neither_run_nor_followed() {
    let programs: &[(&str, &str)] = &[
        ("rebase-merge/git-rebase-todo", "exec touch 'PLANTED'\n"),
        ("rebase-merge/head-name", "refs/heads/wt/w\n"),
        ("sequencer/todo", "exec touch 'PLANTED'\n"),
        ("hooks/post-checkout", "#!/bin/sh\ntouch 'PLANTED'\n"),
        (
            "hooks/reference-transaction",
            "#!/bin/sh\ntouch 'PLANTED'\n",
        ),
        ("objects/info/alternates", "ELSEWHERE\n"),
        ("info/attributes", "* filter=x diff=x merge=x\n"),
        ("config", "[include]\n\tpath = ELSEWHERE\n"),
    ];
    let settings: &[(&str, &str)] = &[(
        "config.worktree",
        "[include]\n\tpath = ELSEWHERE\n[includeIf \"gitdir:**\"]\n\tpath = ELSEWHERE\n",
    )];
    for files in [programs, &programs[3..], settings] {
        let scratch = Scratch::new();
        let (root, path) = with_work(&scratch);
        let (planted, evil) = (scratch.path().join("planted"), scratch.path().join("evil"));
        put(&evil, &evil_config(&planted));
        git(&root, &["config", "extensions.worktreeConfig", "true"]);
        for (file, text) in files {
            let place = root.join(".git/worktrees/w").join(file);
            let text = text
                .replace("PLANTED", &planted.to_string_lossy())
                .replace("ELSEWHERE", &evil.to_string_lossy());
            put(&place, &text);
            std::fs::set_permissions(&place, PermissionsExt::from_mode(0o755)).unwrap();
        }
        put(&path.join(".gitattributes"), "* filter=x diff=x merge=x\n");
        put(&path.join("a.txt"), "changed\n");
        commit(&root, "ours.txt", "ours\n");
        nothing_runs(&root, &planted);
    }
}
