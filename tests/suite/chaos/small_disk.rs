//! A small file system of its own for one run, where the system lets us mount one.

use std::process::Command;
use std::time::Duration;

use crate::support::Running;

/// Which seed the inner half has.
pub(super) const SEED: &str = "PITCREW_CHAOS_SEED";
/// Set if its temporary directory is small.
pub(super) const MOUNTED: &str = "PITCREW_CHAOS_MOUNTED";

/// How long one run may take, at the very most.
const LONGEST: Duration = Duration::from_mins(10);

/// Mounts and goes on as the test; where that fails, without the mount. What failed is copied out of the namespace.
const IN_NAMESPACE: &str = r#"
    mount -t tmpfs -o size=64m pitcrew-chaos "$0/disk" || exit 97
    TMPDIR="$0/disk" PITCREW_CHAOS_MOUNTED=1 "$@"
    code=$?
    [ $code = 0 ] || cp -a "$0"/disk/. "$0/kept"
    exit $code"#;

/// Runs one seed in a process of its own.
#[track_caller]
pub(super) fn run(seed: u64) {
    let scratch = tempfile::Builder::new()
        .prefix("pitcrew-chaos-")
        .tempdir()
        .unwrap();
    for dir in ["disk", "kept"] {
        std::fs::create_dir(scratch.path().join(dir)).unwrap();
    }
    let mut unshare = Command::new("unshare");
    unshare
        .args([
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            IN_NAMESPACE,
        ])
        .arg(scratch.path());
    let can = std::fs::exists("/usr/bin/unshare").unwrap_or(false);
    let done = can.then(|| Running::start(inner(&mut unshare, seed)).wait(LONGEST));
    let done = done.filter(|done| done.code != Some(97) && !done.stderr.contains("unshare:"));
    let done = done.unwrap_or_else(|| {
        eprintln!("no file system can be mounted here; the disk is not filled");
        Running::start(inner(&mut Command::new("env"), seed)).wait(LONGEST)
    });
    eprintln!("{}", done.stderr);
    if done.code != Some(0) {
        let kept = scratch.keep();
        panic!("seed {seed}; see {}\n{}", kept.display(), done.stdout);
    }
}

fn inner(command: &mut Command, seed: u64) -> &mut Command {
    let test = ["chaos::one_run", "--exact", "--ignored", "--nocapture"];
    command
        .arg(std::env::current_exe().unwrap())
        .args(test)
        .env(SEED, seed.to_string())
}
