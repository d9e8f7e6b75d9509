//! Tests again as somebody who is not root.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::support::Running;
use crate::support::bed::BINARIES;
use crate::support::program::copy_program;

/// Nobody's on any system that is tested on.
const SOMEBODY: &str = "54321";

const SETPRIV: &str = "/usr/bin/setpriv";

const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// Runs the test of that name in a process of a user without rights; as a user it has run already, as what it is.
pub(super) fn again_as_user(test: &str) {
    if !is_root() {
        return;
    }
    if !Path::new(SETPRIV).exists() {
        eprintln!("left out: without {SETPRIV} nobody becomes a user");
        return;
    }
    let scratch = tempfile::Builder::new()
        .prefix("pitcrew-user-")
        .permissions(PermissionsExt::from_mode(0o755))
        .tempdir_in("/tmp")
        .unwrap();
    let program = std::env::current_exe().unwrap();
    let lead = PathBuf::from(env!("CARGO_BIN_EXE_lead"));
    let teammate = PathBuf::from(env!("CARGO_BIN_EXE_teammate"));
    let mut all = [program, lead, teammate];
    if !all.iter().all(|path| can_run(path)) {
        for path in &mut all {
            let other = scratch.path().join(path.file_name().unwrap());
            // A second name is enough, unless it would lie on another disk or the program itself is closed.
            if std::fs::hard_link(&path, &other).is_err() || !can_run(&other) {
                copy_program(path, &other);
            }
            *path = other;
        }
    }
    let [program, lead, _] = all;
    let mut again = as_somebody(&program);
    again
        .args([test, "--exact", "--include-ignored", "--nocapture"])
        .env_clear()
        .env("PATH", PATH)
        .env(BINARIES, lead.parent().unwrap());
    let done = Running::start(&mut again).wait(Duration::from_mins(3));
    let done = done.expect_code(0);
    assert!(done.stdout.contains("1 passed"), "{}", done.stdout);
}

pub(super) fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

fn as_somebody(program: &Path) -> Command {
    let mut command = Command::new(SETPRIV);
    command
        .args([
            "--reuid",
            SOMEBODY,
            "--regid",
            SOMEBODY,
            "--clear-groups",
            "--",
        ])
        .arg(program)
        .current_dir("/");
    command
}

/// Whether that user can reach and run the program: a checkout may lie in a closed home.
fn can_run(path: &Path) -> bool {
    let mut test = as_somebody(Path::new("test"));
    test.arg("-x").arg(path);
    Running::start(&mut test).wait(Duration::from_mins(1)).code == Some(0)
}
