//! Every act, killed at every point that it passes.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use super::{answer, changes, leases, mail, start, trees, turn};
use crate::store::fault::{self, Point};

const ACT: &str = "PITCREW_TEST_ACT";
const ROOT: &str = "PITCREW_TEST_ROOT";
const PLACE: &str = "PITCREW_TEST_PLACE";

/// Something that changes files in several steps.
pub(super) struct Act {
    pub(super) name: &'static str,
    /// Makes a workspace ready; what it gives looks at it when the process is gone.
    pub(super) prepare: fn(&Path) -> Check,
    /// What the process does.
    pub(super) perform: fn(&Path, &Victim),
    /// Whether it is killed at such a point; others have acts of their own.
    pub(super) covers: fn(Point) -> bool,
}

/// Looks whether all is well, given what the process said was done.
pub(super) type Check = Box<dyn FnOnce(&[String])>;

/// What the process knows of its fate.
pub(super) struct Victim {
    due: Option<(Point, usize)>,
    root: PathBuf,
}

impl Victim {
    /// From here on it may be killed.
    pub(super) fn begin(&self) {
        fault::begin(self.due);
    }

    /// Says what was reported done.
    pub(super) fn say(&self, what: &str) {
        append(&beside(&self.root, "said"), what);
    }
}

pub(super) fn anywhere(_: Point) -> bool {
    true
}

fn acts() -> Vec<Act> {
    [
        changes::acts(),
        mail::acts(),
        answer::acts(),
        leases::acts(),
        turn::acts(),
        start::acts(),
        trees::acts(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The process that is killed. Without its surroundings it does nothing.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a test's process has no other way to be told"
)]
fn victim() {
    let given = |name: &str| std::env::var(name).ok();
    let (Some(act), Some(root)) = (given(ACT), given(ROOT)) else {
        return;
    };
    let due = given(PLACE).map(|place| {
        let (point, nth) = place.split_once(':').unwrap();
        (Point::named(point).unwrap(), nth.parse().unwrap())
    });
    let root = PathBuf::from(root);
    let act = acts().into_iter().find(|known| known.name == act).unwrap();
    let victim = Victim {
        due,
        root: root.clone(),
    };
    (act.perform)(&root, &victim);
    for point in fault::passed() {
        append(&beside(&root, "passed"), &format!("{point:?}"));
    }
}

fn append(path: &Path, line: &str) {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn beside(root: &Path, name: &str) -> PathBuf {
    root.with_file_name(name)
}

fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Carries `act` out in a process of its own; answers whether that was killed.
#[expect(clippy::disallowed_methods, reason = "a test owns its children")]
pub(super) fn run(act: &str, root: &Path, place: Option<&str>) -> bool {
    let log = File::create(beside(root, "log")).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "killed::steps::victim", "--nocapture"])
        .env(ACT, act)
        .env(ROOT, root)
        .env("PITCREW_ROOT", root)
        .env("HOME", root.with_file_name("home"))
        .stdin(std::process::Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log);
    match place {
        Some(place) => command.env(PLACE, place),
        None => command.env_remove(PLACE),
    };
    let status = command.status().unwrap();
    assert!(
        status.success() || status.signal() == Some(9),
        "{act} at {place:?}: {status}\n{}",
        lines(&beside(root, "log")).join("\n")
    );
    !status.success()
}

/// Prepares a workspace, carries `act` out, and checks; answers whether the process was killed, and what it passed.
fn carry_out(act: &Act, place: Option<&str>) -> (bool, Vec<Point>) {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().canonicalize().unwrap().join("work");
    std::fs::create_dir(&root).unwrap();
    let check = (act.prepare)(&root);
    let killed = run(act.name, &root, place);
    check(&lines(&beside(&root, "said")));
    let passed = lines(&beside(&root, "passed"));
    let named = |name: &String| Point::named(name).unwrap();
    (killed, passed.iter().map(named).collect())
}

/// Kills `act` at each point that it passes; answers with these.
fn kill_everywhere(act: &Act) -> Vec<Point> {
    let (killed, mut passed) = carry_out(act, None);
    assert!(!killed, "{} was killed by somebody else", act.name);
    passed.retain(|point| (act.covers)(*point));
    for (at, point) in passed.iter().enumerate() {
        let nth = passed[..=at].iter().filter(|other| *other == point).count();
        let place = format!("{point:?}:{nth}");
        let killed = thread::scope(|scope| {
            let tried = scope.spawn(|| carry_out(act, Some(&place)).0).join();
            tried.unwrap_or_else(|_| panic!("{} killed at {place}", act.name))
        });
        assert!(killed, "{} never came to {place} again", act.name);
    }
    passed
}

#[test]
fn no_kill_at_any_step_loses_or_doubles_anything() {
    let acts = acts();
    let reached: Vec<Point> = thread::scope(|scope| {
        let each: Vec<_> = acts
            .iter()
            .map(|act| scope.spawn(|| kill_everywhere(act)))
            .collect();
        each.into_iter()
            .flat_map(|act| act.join().unwrap())
            .collect()
    });
    for point in Point::ALL {
        assert!(reached.contains(point), "no act passes {point:?}");
    }
}
