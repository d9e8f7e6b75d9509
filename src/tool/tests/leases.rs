//! Two agents, one file.

use serde_json::{Value, json};

use crate::mailbox::Kind;
use crate::team::Presence;
use crate::tool::fixture::{Bench, path};
use crate::tool::leases;

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "old_text": old, "new_text": new})
}

/// Alice and bob over one workspace, each with a task and alive as long as what is returned with them.
fn pair() -> ([Bench; 2], [Presence; 2]) {
    let alice = Bench::teammate();
    let bob = alice.beside("bob");
    let benches = [alice, bob];
    let lives = benches.each_ref().map(alive);
    for bench in &benches {
        bench.assign(&bench.task(|_| {}));
    }
    (benches, lives)
}

fn alive(bench: &Bench) -> Presence {
    let context = bench.context();
    Presence::take(&context.workspace, &context.agent)
        .unwrap()
        .unwrap()
}

#[test]
fn an_edit_of_what_another_edits_says_who_since_when_and_for_which_task() {
    let ([alice, bob], _lives) = pair();
    alice.put("a.txt", "one\n");
    alice.ok("edit_file", edit("a.txt", "one", "two"));
    let task = alice.context().desk.assignment().unwrap().task;
    bob.ok("read_file", path("a.txt"));
    for (tool, input) in [
        ("edit_file", edit("./a.txt", "two", "three")),
        ("write_file", json!({"path": "a.txt", "content": "mine\n"})),
    ] {
        let said = bob.err(tool, input);
        assert!(
            said.starts_with("a.txt is edited by alice since 20"),
            "{said}"
        );
        assert!(said.contains(task.as_str()), "{said}");
    }
    assert_eq!(bob.text("a.txt"), "two\n");
    alice.ok("edit_file", edit("a.txt", "two", "four"));

    let told = bob.mail("lead");
    assert_eq!(told.len(), 1, "once for this file and pair: {told:?}");
    assert_eq!(told[0].kind, Kind::ErrorReport);
    let other = bob.context().desk.assignment().unwrap().task;
    for part in ["alice", "bob", task.as_str(), other.as_str(), "/a.txt"] {
        assert!(
            told[0].content.contains(part),
            "{part}: {}",
            told[0].content
        );
    }

    assert_eq!(bob.mail("bob"), []);
    leases::round_over(alice.context());
    let told = bob.mail("bob");
    assert_eq!(told.len(), 1);
    assert!(!told[0].starts_round());
    assert!(told[0].content.starts_with("alice no longer edits "));
    let said = bob.err("edit_file", edit("a.txt", "four", "five"));
    assert!(said.contains("has changed since you last read"), "{said}");
    bob.ok("read_file", path("a.txt"));
    bob.ok("edit_file", edit("a.txt", "four", "five"));
    assert_eq!(bob.mail("lead").len(), 1, "the same pair");
}

#[test]
fn the_lease_of_a_dead_process_is_free_and_its_name_comes_back_without_it() {
    let ([alice, bob], [life, _other]) = pair();
    alice.put("a.txt", "one\n");
    alice.ok("edit_file", edit("a.txt", "one", "two"));
    bob.err("edit_file", edit("a.txt", "two", "three"));
    drop(life);
    bob.ok("edit_file", edit("a.txt", "two", "three"));
    assert_eq!(bob.mail("bob").len(), 1, "it was told, having waited");

    let again = alive(&alice);
    leases::begin(alice.context());
    let said = alice.err("edit_file", edit("a.txt", "three", "four"));
    assert!(said.contains("edited by bob"), "{said}");
    bob.put("b.txt", "one\n");
    alice.ok("edit_file", edit("b.txt", "one", "two"));
    drop(again);
    let _again = alive(&alice);
    leases::begin(alice.context());
    bob.ok("edit_file", edit("b.txt", "two", "three"));
}

#[test]
fn the_lead_takes_part_and_an_edit_that_fails_keeps_nothing() {
    let ([alice, bob], _lives) = pair();
    let lead = alice.beside("lead");
    alice.put("a.txt", "one\n");
    lead.ok("edit_file", edit("a.txt", "one", "two"));
    alice.ok("edit_file", edit("a.txt", "two", "three"));
    let said = lead.err("edit_file", edit("a.txt", "three", "four"));
    assert!(said.contains("edited by alice"), "no lead lives: {said}");
    leases::begin(lead.context());
    leases::free_the_dead(lead.context());
    lead.err("edit_file", edit("a.txt", "three", "four"));

    bob.put("b.txt", "one\n");
    bob.err("edit_file", edit("b.txt", "none of it", "x"));
    alice.ok("edit_file", edit("b.txt", "one", "two"));
}

#[test]
fn a_question_is_not_asked_about_what_another_edits() {
    let ([alice, bob], _lives) = pair();
    alice.put("a.txt", "one\n");
    alice.ok("edit_file", edit("a.txt", "one", "two"));
    let outside = tempfile::tempdir().unwrap();
    let shared = outside.path().canonicalize().unwrap().join("shared.txt");
    std::fs::write(&shared, "one\n").unwrap();
    let shared = shared.to_str().unwrap();
    alice.ok("edit_file", edit(shared, "one", "two"));
    assert_eq!(alice.calls().len(), 1, "outside is asked about");
    bob.err("edit_file", edit(shared, "two", "three"));
    assert_eq!(bob.calls(), [], "refused before the question");
}

#[test]
fn what_only_one_agent_can_reach_is_not_leased() {
    let ([alice, _], _lives) = pair();
    let tmp = alice.context().workspace.agent_tmp(&alice.context().agent);
    let note = tmp.join("note.txt");
    alice.ok("write_file", json!({"path": note, "content": "x"}));
    assert!(!alice.context().workspace.leases_dir().exists());
}

#[test]
fn of_many_edits_of_one_file_at_once_none_is_lost() {
    const AGENTS: usize = 8;
    const EDITS: usize = 6;
    let first = Bench::teammate();
    first.put("list.txt", "end\n");
    let benches: Vec<Bench> = (0..AGENTS)
        .map(|number| first.beside(&format!("agent{number}")))
        .collect();
    let _lives: Vec<Presence> = benches.iter().map(alive).collect();
    for bench in &benches {
        bench.assign(&bench.task(|_| {}));
    }
    std::thread::scope(|scope| {
        for bench in &benches {
            scope.spawn(|| append(bench, EDITS));
        }
    });
    let text = first.text("list.txt");
    let mut lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.pop(), Some("end"));
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), AGENTS * EDITS, "{text}");
}

/// Each edit is a round of its own; one that is refused is tried again.
fn append(bench: &Bench, edits: usize) {
    let deadline = crate::clock::instant() + std::time::Duration::from_mins(1);
    for number in 0..edits {
        let line = format!("{} {number}\nend\n", bench.context().agent);
        loop {
            bench.ok("read_file", path("list.txt"));
            let done = bench.run("edit_file", &edit("list.txt", "end\n", &line));
            leases::round_over(bench.context());
            if !done.is_error {
                break;
            }
            let refused = ["is edited by", "has changed since"];
            let known = refused.iter().any(|why| done.content.contains(why));
            assert!(known, "{}", done.content);
            assert!(crate::clock::instant() < deadline, "nobody gets on");
            std::thread::yield_now();
        }
    }
}
