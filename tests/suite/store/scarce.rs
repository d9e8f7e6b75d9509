//! Scarce for real: a full disk, a disk that may not be written, too few descriptors. Each in a process of its own, since
//! they hold for all of it; the disk is a small one, mounted where only that process sees it.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use pitcrew::workspace::Workspace;

use super::act::{Act, look};
use super::actor::{Outcome, assert_whole, outcome, scratch};
use crate::support::again::{again, said, say, told};
use crate::support::{DEADLINE, Done, Running};

const DISK: &str = "PITCREW_TEST_SMALL_DISK";
/// What a process says when it came to its end, with how many acts failed.
const FAILED: &str = "FAILED ACTS";

/// Runs an ignored test of this binary on a disk of 1 MiB; `None`, and a word on standard error, where that may not be
/// mounted.
fn on_small_disk(test: &str) -> Option<Done> {
    let disk = tempfile::tempdir().unwrap();
    let process = again(test);
    let mount = "mount -t tmpfs -o size=1m,mode=700 small \"$0\" && exec \"$@\"";
    let as_root = nix::unistd::geteuid().is_root();
    let namespaces = if as_root { "-m" } else { "-rm" };
    let mut command = Command::new("unshare");
    command
        .args([namespaces, "sh", "-c", mount])
        .arg(disk.path())
        .arg(process.get_program())
        .args(process.get_args())
        .env(DISK, disk.path());
    let done = unshare_is_there().then(|| Running::start(&mut command).wait(DEADLINE))?;
    if !done.stdout.contains("running 1 test") {
        eprintln!("skipped: {test}: no disk can be mounted: {}", done.stderr);
        return None;
    }
    Some(done.expect_code(0))
}

#[expect(clippy::disallowed_methods, reason = "a test owns its children")]
fn unshare_is_there() -> bool {
    let there = Command::new("unshare").arg("--help").output().is_ok();
    if !there {
        eprintln!("skipped: there is no unshare to mount a small disk with");
    }
    there
}

#[track_caller]
fn failures(done: &Done) -> usize {
    said(&done.stderr, FAILED).pop().unwrap().parse().unwrap()
}

fn told_disk() -> Option<Workspace> {
    Some(Workspace::at(Path::new(&told(DISK)?).join("work")))
}

#[test]
fn a_full_disk_costs_nothing_that_was_there() {
    if let Some(done) = on_small_disk("store::scarce::process_on_a_full_disk") {
        assert!(failures(&done) >= 2 * Act::ALL.len(), "{}", done.stderr);
    }
}

#[test]
#[ignore = "a process that other tests start"]
fn process_on_a_full_disk() {
    let Some(workspace) = told_disk() else {
        return;
    };
    let mut failed = 0;
    for act in Act::ALL {
        for pages in 0..12 {
            std::fs::create_dir(workspace.root()).unwrap();
            act.prepare(&workspace);
            let before = look(&workspace);
            let filler = workspace.root().join("filler");
            fill(&filler, pages);
            let outcome = outcome(act, &workspace);
            assert_readable(&workspace);
            failed += usize::from(outcome != Outcome::Done);
            std::fs::remove_file(filler).unwrap();
            assert_whole(act, &workspace, &before, &outcome);
            std::fs::remove_dir_all(workspace.root()).unwrap();
        }
    }
    say(&format!("{FAILED} {failed}"));
}

/// Fills the disk but for so many pages.
fn fill(path: &Path, pages: u64) {
    let mut file = File::create(path).unwrap();
    let page = [b'x'; 4096];
    let mut length = 0;
    while let Ok(written @ 1..) = file.write(&page) {
        length += written as u64;
    }
    file.set_len(length.saturating_sub(pages * page.len() as u64))
        .unwrap();
}

/// Reading goes on, and the verbs that change something say why not.
fn assert_readable(workspace: &Workspace) {
    let root = workspace.root().to_str().unwrap();
    let listed = lead(&["--root", root, "task", "list", "--json"]).expect_code(0);
    assert!(listed.json().as_array().unwrap().len() >= 3);
    drop(lead(&["--root", root, "status", "--json"]).expect_code(0));
}

fn lead(args: &[&str]) -> Done {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lead"));
    command.args(args).env_remove("PITCREW_ROOT");
    Running::start(&mut command).wait(DEADLINE)
}

#[test]
fn a_disk_that_may_not_be_written_is_read_and_said_so() {
    if let Some(done) = on_small_disk("store::scarce::process_on_a_read_only_disk") {
        assert_eq!(failures(&done), Act::ALL.len(), "{}", done.stderr);
    }
}

#[test]
#[ignore = "a process that other tests start"]
fn process_on_a_read_only_disk() {
    let Some(workspace) = told_disk() else {
        return;
    };
    let disk = workspace.root().parent().unwrap().to_path_buf();
    let mut failed = 0;
    for act in Act::ALL {
        std::fs::create_dir(workspace.root()).unwrap();
        act.prepare(&workspace);
        let before = look(&workspace);
        remount(&disk, "ro");
        let outcome = outcome(act, &workspace);
        assert_readable(&workspace);
        let root = workspace.root().to_str().unwrap();
        for args in [
            &["task", "add", "One more"][..],
            &["task", "complete", "task_00000003"],
            &["mail", "send", "lead", "hello"],
        ] {
            let done = lead(&[&["--root", root], args].concat()).expect_code(1);
            assert!(done.stderr.contains(root), "{}", done.stderr);
            assert_eq!(done.stdout, "");
        }
        remount(&disk, "rw");
        failed += usize::from(outcome != Outcome::Done);
        assert_whole(act, &workspace, &before, &outcome);
        std::fs::remove_dir_all(workspace.root()).unwrap();
    }
    say(&format!("{FAILED} {failed}"));
}

fn remount(disk: &Path, how: &str) {
    let mut command = Command::new("mount");
    command
        .arg("-o")
        .arg(format!("remount,bind,{how}"))
        .arg(disk);
    drop(Running::start(&mut command).wait(DEADLINE).expect_code(0));
}

#[test]
fn too_few_descriptors_are_an_error_and_no_half_change() {
    let mut command = again("store::scarce::process_with_few_descriptors");
    command.env(DISK, "none");
    let done = Running::start(&mut command).wait(DEADLINE).expect_code(0);
    assert!(failures(&done) >= 2 * Act::ALL.len(), "{}", done.stderr);
}

#[test]
#[ignore = "a process that other tests start"]
fn process_with_few_descriptors() {
    if told_disk().is_none() {
        return;
    }
    let (usual, most) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    let mut failed = 0;
    for act in Act::ALL {
        for spare in 0..8 {
            let (_scratch, workspace) = scratch();
            act.prepare(&workspace);
            let before = look(&workspace);
            let next = File::open("/").unwrap();
            let next = u64::try_from(std::os::fd::AsRawFd::as_raw_fd(&next)).unwrap();
            setrlimit(Resource::RLIMIT_NOFILE, next + spare, most).unwrap();
            let outcome = outcome(act, &workspace);
            setrlimit(Resource::RLIMIT_NOFILE, usual, most).unwrap();
            failed += usize::from(outcome != Outcome::Done);
            assert_whole(act, &workspace, &before, &outcome);
        }
    }
    say(&format!("{FAILED} {failed}"));
}
