//! `lead team`: who is there and since when not, and a teammate's end from another terminal (SPEC §5.2, §14).

use serde_json::json;

use super::help::fixture;
use crate::support::Bed;

#[test]
fn one_whose_process_is_gone_is_lost_since_its_last_sign() {
    let bed = Bed::new();
    bed.write(
        ".team/state/members/alice.json",
        &json!({"name": "alice", "role": "coder", "model": "ollama:x", "status": "working", "pid": 1, "task": null,
            "startedAt": "2026-11-30T17:00:00.000Z"})
        .to_string(),
    );
    for call in [&["team", "list"][..], &["status"]] {
        let text = bed.lead(call).expect_code(0).stdout;
        let (_, since) = text.split_once("lost since ").expect(&text);
        let (time, rest) = since.split_at(5);
        let digits = time.bytes().filter(u8::is_ascii_digit).count();
        assert!(digits == 4 && time.as_bytes()[2] == b':', "{text}");
        assert!(rest.starts_with(" UTC"), "{text}");
    }
    let list = bed.lead(&["team", "list", "--json"]).expect_code(0).json();
    assert_eq!(list[0]["alive"], false);
    let since = list[0]["lostSince"].as_str().unwrap();
    assert!(since.ends_with('Z'), "{list:#}");
}

#[test]
fn who_is_unknown_or_gone_is_not_ended() {
    let bed = fixture(false);
    let before = bed.listing();
    for verb in ["stop", "kill"] {
        let call = |name: &str| bed.lead(&["team", verb, name]);
        call("alcie").expect_usage_error("did you mean \"alice\"?");
        call("lead").expect_usage_error("lead");
        let gone = call("alice").expect_code(1).stderr;
        assert!(
            gone.contains("alice is not alive; it is stopped;"),
            "{gone}"
        );
    }
    assert_eq!(bed.listing(), before, "nothing was made");
}
