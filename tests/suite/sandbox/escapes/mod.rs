//! Ways out of the sandbox, and what comes of each (SPEC §10.2).
//!
//! The table holds one a line behind what is expected of it: `fail`, its exit status says that it did not succeed; `view`,
//! the same where the agent works in the workspace, while in a worktree git's files are a view of its own; `any`, only what
//! is left behind tells. Whatever they are told, nothing but the assignment is another afterwards, no secret was seen, and
//! nobody else was hurt.

mod scene;

use scene::{Place, Scene};

use super::user::again_as_user;

/// Runs every attempt from the assignment's directory, in a shell of its own, one after another, if there is a sandbox at all.
const DRIVE: &str = "[ \"$(cat /proc/1/comm)\" = pitcrew-guard ] || exit 77; PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH; \
    for try in attempts/*; do timeout -k 1 10 bash $try </dev/null >$try.out 2>&1; echo $? >$try.code; done";

/// A line of the table.
#[derive(Debug, Clone, Copy)]
struct Attempt {
    must_fail: bool,
    text: &'static str,
}

fn attempts(place: Place) -> Vec<Attempt> {
    let lines = include_str!("attempts.txt").lines();
    lines
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (expected, text) = line.split_once(' ').unwrap();
            let must_fail = match expected {
                "fail" => true,
                "view" => place == Place::Workspace,
                "any" => false,
                other => panic!("{other}"),
            };
            Attempt { must_fail, text }
        })
        .collect()
}

fn no_way_out(beneath: &str, place: Place) {
    let attempts = attempts(place);
    let mut scene = Scene::new(beneath, place);
    for (number, attempt) in attempts.iter().enumerate() {
        scene.put_attempt(number, attempt.text);
    }
    // What its runtime makes for it is there after a first call.
    scene.run("true").unwrap();
    let before = scene.everything_else();
    let said = scene.run(DRIVE);
    assert!(said.is_ok(), "{said:?}");
    let outcomes: Vec<_> = (0..attempts.len())
        .map(|number| scene.outcome(number))
        .collect();
    let got_out: Vec<String> = attempts
        .iter()
        .zip(&outcomes)
        .filter(|(attempt, outcome)| outcome.succeeded && attempt.must_fail || outcome.saw_secret)
        .map(|(attempt, outcome)| format!("{}\n    {}", attempt.text, outcome.said))
        .collect();
    assert!(got_out.is_empty(), "{place:?}:\n{}", got_out.join("\n"));
    scene.assert_same(&before);
    scene.assert_nobody_hurt();
    // Only its own call.
    assert!(scene.run("kill -9 -1; echo lives").is_err());
    scene.assert_nobody_hurt();
}

#[test]
fn there_is_no_way_out_of_the_workspace() {
    no_way_out("/tmp", Place::Workspace);
}

#[test]
fn there_is_no_way_out_of_a_worktree() {
    no_way_out("/var/tmp", Place::Worktree);
}

#[test]
fn there_is_no_way_out_for_a_user() {
    again_as_user("sandbox::escapes::there_is_no_way_out_of_the_workspace");
    again_as_user("sandbox::escapes::there_is_no_way_out_of_a_worktree");
}
