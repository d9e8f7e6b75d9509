//! `lead mail …` with no lead running.

use crate::support::Bed;

#[test]
fn mail_to_the_lead_waits_and_is_shown_as_it_is() {
    let bed = Bed::new();
    let sent = bed
        .lead(&["mail", "send", "lead", "stop after the parser"])
        .expect_code(0);
    let id = sent.stdout.split(' ').next().unwrap().to_owned();
    let list = bed
        .lead(&["mail", "list", "lead", "--json"])
        .expect_code(0)
        .json();
    assert_eq!(list[0]["id"], id.as_str());
    assert_eq!(list[0]["from"], "user");
    assert_eq!(list[0]["content"], "stop after the parser");
    let shown = bed.lead(&["mail", "show", &id]).expect_code(0);
    assert!(
        shown.stdout.contains("stop after the parser"),
        "{}",
        shown.stdout
    );
    let status = bed.lead(&["status", "--json"]).expect_code(0).json();
    assert_eq!(status["mail"]["lead"], 1);
    for alias in ["main", "team-lead", "LEAD"] {
        let list = bed
            .lead(&["mail", "list", alias, "--json"])
            .expect_code(0)
            .json();
        assert_eq!(list.as_array().unwrap().len(), 1, "{alias}");
    }
}

#[test]
fn mail_that_cannot_arrive_is_refused_and_makes_no_file() {
    let bed = Bed::new();
    bed.write(".team/state/members/alice.json", &member("alice"));
    let before = bed.listing();
    for (args, part) in [
        (
            &["mail", "send", "alcie", "hi"][..],
            "did you mean \"alice\"?",
        ),
        (&["mail", "send", "lead", ""], "empty"),
        (&["mail", "send", "lead", "   "], "empty"),
    ] {
        bed.lead(args).expect_usage_error(part);
    }
    assert_eq!(bed.listing(), before);
}

#[test]
fn mail_to_one_that_has_stopped_is_kept_and_said_so() {
    let bed = Bed::new();
    bed.write(".team/state/members/alice.json", &member("alice"));
    let sent = bed.lead(&["mail", "send", "Alice", "later"]).expect_code(0);
    assert!(sent.stdout.contains("kept for alice"), "{}", sent.stdout);
    assert!(sent.stdout.contains("stopped"), "{}", sent.stdout);
    assert!(bed.read(".mailboxes/alice.jsonl").contains("later"));
    let args = ["mail", "send", "alice", "more", "--json"];
    let sent = bed.lead(&args).expect_code(0).json();
    assert_eq!(
        (&sent["to"], &sent["content"]),
        (&"alice".into(), &"more".into())
    );
    assert!(sent["kept"].as_str().unwrap().contains("stopped"), "{sent}");
}

fn member(name: &str) -> String {
    serde_json::json!({
        "name": name, "role": "coder", "model": "script:x", "status": "stopped", "pid": null,
        "startedAt": "2026-11-30T17:00:00.000Z", "task": null,
    })
    .to_string()
}
