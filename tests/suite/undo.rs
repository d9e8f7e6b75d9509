//! The way back, with real processes: a snapshot before anybody can change the workspace, `lead diff` and `lead undo`.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::lead::scripts::*;
use crate::support::{Bed, DEADLINE, Running, wait_until};

/// A workspace with something of the person's in it that is in no commit.
fn bed() -> Bed {
    let bed = Bed::git();
    bed.write("notes.md", "mine\n");
    bed
}

fn write(name: &str, text: &str) -> Value {
    tool("write_file", json!({"path": name, "content": text}))
}

/// A lead that writes a file itself, and ann, who changes one of the person's and makes another.
fn team(lead_writes: bool) -> Value {
    let mut lead = Vec::new();
    if lead_writes {
        lead.push(turn(vec![write("lead.md", "of the lead\n")]));
    }
    lead.extend([
        turn(vec![proposal(&["ann"])]),
        tasks(1),
        turn(vec![spawn("ann", Some("t1"))]),
        json!({"text": "ann is at work."}),
    ]);
    let ann = vec![
        turn(vec![
            tool("bash", json!({"command": "echo changed > notes.md"})),
            write("out/new.txt", "new\n"),
            tool("complete_task", json!({"task_id": "${task}"})),
        ]),
        json!({"text": "Done."}),
    ];
    script_of(lead, ann)
}

fn snapshots(bed: &Bed) -> Vec<String> {
    let listed = bed.run_git(&["for-each-ref", "--format=%(refname)", "refs/pitcrew"]);
    listed.lines().map(str::to_owned).collect()
}

#[test]
fn what_a_team_did_is_told_and_taken_back() {
    for (lead_writes, tmp) in [(true, "/tmp"), (false, "/nowhere")] {
        let bed = bed().with_env("TMPDIR", tmp);
        let index = std::fs::read(bed.root().join(".git/index")).unwrap();
        let config = std::fs::read(bed.root().join(".git/config")).unwrap();
        drop(run(&bed, &team(lead_writes), &["--yes"]).expect_code(0));
        let session = bed.json(".team/state/session.json").unwrap();
        let name = format!("refs/pitcrew/{}", session["id"].as_str().unwrap());
        assert_eq!(snapshots(&bed), [name]);

        let patch = bed.lead(&["diff"]).expect_code(0).stdout;
        assert!(patch.contains("-mine\n+changed"), "{patch}");
        assert!(patch.contains("b/out/new.txt"), "{patch}");
        assert_eq!(patch.contains("of the lead"), lead_writes, "{patch}");
        assert!(!patch.contains(".tasks"), "{patch}");
        let stat = bed.lead(&["diff", "--stat"]).expect_code(0).stdout;
        assert!(stat.contains("notes.md"), "{stat}");

        let refused = bed.lead_fed(&["undo"], "no\n").expect_code(1);
        assert!(refused.stdout.contains("[y/n]"), "{}", refused.stdout);
        assert_eq!(bed.read("notes.md"), "changed\n");
        let done = bed.lead_fed(&["undo"], "y\n").expect_code(0);
        assert!(done.stdout.contains("put back"), "{}", done.stdout);
        assert_eq!(bed.read("notes.md"), "mine\n");
        assert!(!bed.root().join("out").exists() && !bed.root().join("lead.md").exists());
        assert_eq!(std::fs::read(bed.root().join(".git/index")).unwrap(), index);
        assert_eq!(
            std::fs::read(bed.root().join(".git/config")).unwrap(),
            config
        );
        assert_eq!(
            bed.tasks()[0]["status"],
            "completed",
            "the board is not the workspace's"
        );

        let replaced = snapshots(&bed).pop().unwrap();
        assert!(replaced.ends_with(".replaced.1"), "{replaced}");
        bed.run_git(&["restore", &format!("--source={replaced}"), "--", "."]);
        assert_eq!(bed.read("notes.md"), "changed\n");
        let again = bed.lead(&["undo", "--yes"]).expect_code(0);
        assert!(again.stdout.contains("put back"), "{}", again.stdout);
        let nothing = bed.lead(&["undo", "--yes"]).expect_code(0);
        assert!(
            nothing.stdout.contains("nothing has changed"),
            "{}",
            nothing.stdout
        );
    }
}

/// A lead whose ann has changed a file of the person's and waits within her command.
fn at_work(bed: &Bed) -> Running {
    let lead = ann_with_a_task();
    let command = "echo changed > notes.md; touch begun; until [ -e go ]; do sleep 0.02; done";
    let ann = vec![
        turn(vec![
            tool("bash", json!({"command": command})),
            tool("complete_task", json!({"task_id": "${task}"})),
        ]),
        json!({"text": "Done."}),
    ];
    let model = bed.script(&script_of(lead, ann));
    let mut lead = bed.start_lead(&["--yes", "--model", &model]);
    lead.line("go");
    bed.wait_for("begun");
    lead
}

#[test]
fn nothing_is_taken_back_while_somebody_works_and_the_session_shows_it() {
    let bed = bed();
    let mut lead = at_work(&bed);
    let refused = bed.lead(&["undo", "--yes"]).expect_code(1);
    assert!(
        refused.stderr.contains("still at work: ann"),
        "{}",
        refused.stderr
    );
    assert_eq!(bed.read("notes.md"), "changed\n");
    lead.line("/diff");
    lead.wait_for("+changed", DEADLINE);
    bed.write("go", "");
    // Ann's news may wake the lead after both have rested.
    wait_until("everybody rests for as long as it takes", DEADLINE, || {
        let tried = bed.lead(&["undo", "--yes"]);
        (tried.code == Some(0)).then_some(())
    });
    assert_eq!(bed.read("notes.md"), "mine\n");
    drop(lead.wait(RUN).expect_code(0));
    bed.assert_no_process_left();
}

#[test]
fn a_killed_leads_session_goes_on_with_its_snapshot_and_a_new_one_gets_its_own() {
    let bed = bed();
    let lead = at_work(&bed);
    let first = snapshots(&bed);
    lead.signal(Signal::SIGKILL);
    drop(lead);
    let model = format!("script:{}", bed.outside("script.json").display());
    let mut again = bed.start_lead(&["--yes", "--continue", "--model", &model]);
    wait_until("ann is taken over", DEADLINE, || {
        again.stdout().contains("ann").then_some(())
    });
    assert_eq!(snapshots(&bed), first);
    bed.write("go", "");
    again.line("/exit");
    drop(again.wait(RUN).expect_code(0));
    drop(bed.lead(&["undo", "--yes"]).expect_code(0));
    assert_eq!(bed.read("notes.md"), "mine\n");

    drop(run(&bed, &team(false), &["--yes"]).expect_code(0));
    let earlier = first[0].rsplit('/').next().unwrap();
    let others = snapshots(&bed);
    assert_eq!(others.len(), 3, "{others:?}");
    let patch = bed
        .lead(&["diff", "--session", earlier])
        .expect_code(0)
        .stdout;
    assert!(patch.contains("-mine\n+changed"), "{patch}");
}

#[test]
fn where_nothing_was_changed_or_there_is_no_git_it_says_so() {
    let bed = bed();
    for verb in ["diff", "undo"] {
        let done = bed.lead(&[verb]).expect_code(1);
        assert!(
            done.stderr.contains("no session has worked here"),
            "{}",
            done.stderr
        );
    }
    let talk = json!({"agents": {"lead": [json!({"text": "Hello."})]}});
    drop(run(&bed, &talk, &[]).expect_code(0));
    assert!(snapshots(&bed).is_empty(), "talk alone changes nothing");
    let done = bed.lead(&["diff"]).expect_code(1);
    assert!(
        done.stderr.contains("nothing was changed in it yet"),
        "{}",
        done.stderr
    );

    let plain = Bed::new();
    drop(run(&plain, &team(true), &["--yes"]).expect_code(0));
    let done = plain.lead(&["undo", "--yes"]).expect_code(1);
    assert!(
        done.stderr.contains("not in a git checkout"),
        "{}",
        done.stderr
    );
}

/// git that hangs over the snapshot ends with the call, and if its lead was killed, at the next start.
#[test]
fn a_snapshot_that_hangs_ends_with_the_lead() {
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let bed = bed();
        let hangs = "#!/bin/sh\ncase \" $* \" in\n*' add '*) echo > \"$HOME/hangs\"; exec sleep 600;;\nesac\n\
            PATH=${PATH#*:}\nexec git \"$@\"\n";
        bed.program("git", hangs);
        let script = script_of(vec![turn(vec![write("new.txt", "x")])], vec![]);
        let model = bed.script(&script);
        let lead = bed.start_lead(&["-p", "go", "--yes", "--model", &model]);
        wait_until("git", DEADLINE, || {
            bed.home().join("hangs").exists().then_some(())
        });
        lead.signal(signal);
        let done = lead.wait(DEADLINE);
        if signal == Signal::SIGTERM {
            drop(done.expect_code(143));
        }
        if signal == Signal::SIGKILL {
            let model = bed.script(&script_of(vec![json!({"text": "Here."})], vec![]));
            drop(bed.lead(&["-p", "go", "--model", &model]).expect_code(0));
        }
        bed.assert_no_process_left();
        assert!(!bed.root().join("new.txt").exists());
    }
}
