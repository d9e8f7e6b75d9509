//! Settings that change or go bad in mid-session (SPEC §13, §13.1).

use pitcrew::config::{Environment, trust};
use pitcrew::workspace::Workspace;
use serde_json::{Value, json};

use super::scripts::*;
use super::unresponsive::session;
use crate::support::{Bed, DEADLINE, Running, wait_until};

const IN_FORCE: &str = "the changed settings are in force";

fn own(bed: &Bed, text: &str) {
    bed.put(&bed.home().join(".config/pitcrew/settings.json"), text);
}

fn deny(rule: &str) -> String {
    json!({"permissions": {"deny": [rule]}}).to_string()
}

/// A lead that makes these files, one a line of the person.
fn makes(bed: &Bed, names: &[&str], more: &[&str]) -> Running {
    let replies: Vec<Value> = names
        .iter()
        .flat_map(|name| {
            let made = json!({"command": format!("touch {name}")});
            [
                turn(vec![tool("bash", made)]),
                json!({"text": format!("{name}: tried.")}),
            ]
        })
        .collect();
    let model = bed.script(&json!({"agents": {"lead": replies}}));
    bed.start_lead(&[&["--model", &model][..], more].concat())
}

fn make(lead: &mut Running, name: &str) {
    lead.line("next");
    lead.wait_for(&format!("{name}: tried."), DEADLINE);
}

fn leave(mut lead: Running) {
    lead.line("/exit");
    drop(lead.wait(RUN).expect_code(0));
}

#[test]
fn what_goes_bad_is_told_of_and_the_last_good_settings_stay() {
    let bed = Bed::git();
    own(&bed, &deny("bash(touch a)"));
    let mut lead = makes(&bed, &["a", "b", "c"], &[]);
    make(&mut lead, "a");
    own(&bed, "{\n\"permissions\": {\"deny\": \"x\"}}");
    lead.wait_for("settings.json:2: permissions.deny: ", DEADLINE);
    lead.wait_for("the last good settings stay in force", DEADLINE);
    assert_eq!(
        bed.json(".team/state/session.json").unwrap()["settings"]["permissions"]["deny"],
        json!(["bash(touch a)"])
    );
    make(&mut lead, "b");
    own(&bed, &deny("bash(touch c)"));
    lead.wait_for(IN_FORCE, DEADLINE);
    make(&mut lead, "c");
    let path = bed.home().join(".config/pitcrew/settings.json");
    std::fs::remove_file(path).unwrap();
    lead.wait_for("settings.json: it is gone;", DEADLINE);
    leave(lead);
    let made = ["a", "b", "c"].map(|name| bed.root().join(name).exists());
    assert_eq!(made, [false, true, false]);
}

#[test]
fn a_teammate_at_work_judges_by_new_rules_from_its_next_turn_on() {
    let bed = Bed::git();
    let waits = "touch in; until [ -e go ]; do sleep 0.02; done";
    let replies = [
        turn(vec![tool("bash", json!({"command": waits}))]),
        turn(vec![tool("bash", json!({"command": "touch after"}))]),
        json!({"text": "tried."}),
    ];
    let lead = session(&bed, &replies, 9);
    bed.wait_for("in");
    own(&bed, &deny("bash(touch after)"));
    lead.wait_for(IN_FORCE, DEADLINE);
    bed.write("go", "");
    wait_until("she has tried", DEADLINE, || {
        let path = bed.root().join(".team/state/transcripts/ann.jsonl");
        let said = std::fs::read_to_string(path).unwrap_or_default();
        said.contains("tried.").then_some(())
    });
    assert!(!bed.root().join("after").exists());
    drop(lead);
}

#[test]
fn a_workspaces_file_takes_effect_only_when_the_person_has_agreed_to_the_change() {
    let bed = Bed::git();
    let mut lead = makes(&bed, &["a", "b"], &["--permissions", "ask"]);
    make(&mut lead, "a");
    bed.write(".team/team.json", &deny("bash(touch b)"));
    lead.wait_for("until you agree to the change", DEADLINE);
    assert!(!lead.stdout().contains(IN_FORCE));
    let mut environment = Environment::default();
    environment.config_home = Some(bed.home().join(".config"));
    let workspace = Workspace::at(bed.root());
    let content = trust::content(&workspace).unwrap();
    trust::agree(&environment, &workspace, &content).unwrap();
    lead.wait_for(IN_FORCE, DEADLINE);
    make(&mut lead, "b");
    leave(lead);
    assert!(!bed.root().join("b").exists());
}

#[test]
fn with_trust_a_workspaces_file_takes_effect_as_it_changes() {
    let bed = Bed::git();
    let mut lead = makes(&bed, &["a"], &["--trust"]);
    lead.wait_for("session", DEADLINE);
    let changed = json!({"permissions": {"deny": ["bash(touch a)"]}, "sandbox": "off"});
    bed.write(".team/team.json", &changed.to_string());
    lead.wait_for(IN_FORCE, DEADLINE);
    lead.wait_for("hold the changes of: sandbox", DEADLINE);
    make(&mut lead, "a");
    leave(lead);
    assert!(!bed.root().join("a").exists());
}
