//! The order in which a call is judged, and who is asked.

use serde_json::json;

use crate::policy::{Mode, RuleLists};
use crate::team::PlanGate;
use crate::tool::HostCall;
use crate::tool::fixture::{Bench, path};

fn rules(deny: &[&str], ask: &[&str], allow: &[&str]) -> RuleLists {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    RuleLists {
        deny: owned(deny),
        ask: owned(ask),
        allow: owned(allow),
    }
}

#[test]
fn a_teammate_without_a_task_has_no_directory() {
    let bench = Bench::teammate();
    bench.put("a.txt", "x");
    for (tool, input) in [
        ("bash", json!({"command": "true"})),
        ("read_file", path("a.txt")),
        ("write_file", json!({"path": "b", "content": ""})),
        (
            "edit_file",
            json!({"path": "a.txt", "old_text": "x", "new_text": "y"}),
        ),
        ("glob", json!({"pattern": "*"})),
        ("grep", json!({"pattern": "x"})),
    ] {
        let said = bench.err(tool, input);
        assert!(said.contains("you have no task"), "{tool}: {said}");
    }
    bench.ok("list_tasks", json!({}));
    let task = bench.task(|_| {});
    bench.assign(&task);
    bench.ok("read_file", path("a.txt"));
    bench
        .context()
        .desk
        .state()
        .assignment
        .as_mut()
        .unwrap()
        .over = true;
    bench.ok("read_file", path("a.txt"));
}

#[test]
fn a_worktree_that_is_gone_is_an_error_and_never_the_workspace() {
    let bench = Bench::teammate();
    bench.put("a.txt", "x");
    let task = bench.task(|_| {});
    bench.assign(&task);
    bench
        .context()
        .desk
        .state()
        .assignment
        .as_mut()
        .unwrap()
        .worktree = Some("gone".parse().unwrap());
    for (tool, input) in [
        ("read_file", path("a.txt")),
        ("bash", json!({"command": "true"})),
    ] {
        let said = bench.err(tool, input);
        assert!(said.contains("worktree gone cannot be used"), "{said}");
    }
    let said = bench.err("complete_task", json!({"task_id": task.id.as_str()}));
    assert!(said.contains("worktree gone cannot be used"), "{said}");
}

#[test]
fn a_closed_plan_gate_blocks_what_changes_something() {
    let bench = Bench::teammate();
    bench.put("a.txt", "x");
    let task = bench.task(|_| {});
    bench.assign(&task);
    let changing = [
        ("bash", json!({"command": "true"})),
        ("write_file", json!({"path": "b", "content": ""})),
        (
            "edit_file",
            json!({"path": "a.txt", "old_text": "x", "new_text": "y"}),
        ),
        ("complete_task", json!({"task_id": task.id.as_str()})),
    ];
    for (gate, why) in [
        (PlanGate::Required, "submit_plan"),
        (PlanGate::Pending, "awaits its decision"),
        (PlanGate::Rejected, "was rejected"),
    ] {
        bench.context().desk.state().gate = gate;
        for (tool, input) in &changing {
            let said = bench.err(tool, input.clone());
            assert!(said.contains("plan gate") && said.contains(why), "{said}");
        }
        bench.ok("read_file", path("a.txt"));
    }
    bench.context().desk.state().gate = PlanGate::Approved;
    bench.ok("edit_file", changing[2].1.clone());
}

#[test]
fn while_wrapping_up_nothing_new_is_begun() {
    let bench = Bench::teammate();
    let task = bench.task(|_| {});
    bench.context().desk.state().wrapping_up = true;
    for (tool, input) in [
        ("bash", json!({"command": "true"})),
        ("read_file", path("a.txt")),
        ("claim_task", json!({"task_id": task.id.as_str()})),
        ("submit_plan", json!({"title": "t", "steps": ["s"]})),
    ] {
        let said = bench.err(tool, input);
        assert!(said.contains("wrapping up"), "{tool}: {said}");
    }
    bench.ok("list_tasks", json!({}));
    bench.ok("todo_write", json!({"items": []}));
}

#[test]
fn wrong_input_is_refused_before_anything_else() {
    let bench = Bench::teammate();
    bench.context().desk.state().wrapping_up = true;
    for (tool, input, wanted) in [
        ("read_file", json!({}), "read_file: `path` is missing"),
        ("read_file", json!({"path": 1}), "`path` must be a string"),
        (
            "bash",
            json!({"command": "x", "timeout": 1}),
            "did you mean `timeout_secs`",
        ),
        (
            "todo_write",
            json!({"items": [{"text": "x", "status": "done"}]}),
            "`items[0].status`",
        ),
        (
            "send_message",
            json!({"to": "a", "content": "b", "type": "result"}),
            "`type`",
        ),
        ("list_tasks", json!({"x": 1}), "`x` is not an argument"),
        ("list_tasks", json!([]), "must be an object"),
        ("nothing", json!({}), "there is no tool"),
    ] {
        let said = bench.err(tool, input);
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
}

#[test]
fn the_rules_hold_for_what_a_path_means_and_for_how_it_is_named() {
    let lists = rules(&["read_file(secrets/**)"], &["edit_file(src/**)"], &[]);
    let bench = Bench::with("lead", &lists, Mode::Ask);
    bench.put("secrets/key", "k");
    bench.put("src/a.rs", "x");
    std::os::unix::fs::symlink("secrets", bench.root().join("open")).unwrap();
    for given in ["secrets/key", "./src/../secrets/key", "open/key"] {
        let said = bench.err("read_file", path(given));
        assert!(said.contains("is denied"), "{given}: {said}");
    }
    assert_eq!(bench.calls(), []);
    bench.answer(Err("the person said no".to_owned()));
    let said = bench.err(
        "edit_file",
        json!({"path": "src/a.rs", "old_text": "x", "new_text": "y"}),
    );
    assert_eq!(said, "the person said no");
    assert_eq!(bench.text("src/a.rs"), "x");
}

#[test]
fn what_leaves_the_directory_is_asked_about() {
    let bench = Bench::lead();
    let outside = bench.root().parent().unwrap().join("outside.txt");
    bench.put("../outside.txt", "far\n");
    std::os::unix::fs::symlink(&outside, bench.root().join("near.txt")).unwrap();
    for given in ["near.txt", "../outside.txt", outside.to_str().unwrap()] {
        bench.answer(Err("no".to_owned()));
        assert_eq!(bench.err("read_file", path(given)), "no", "{given}");
    }
    assert_eq!(bench.calls().len(), 3);
    assert_eq!(bench.ok("read_file", path("near.txt")), "     1\tfar\n");
}

#[test]
fn searching_outside_is_asked_about_too() {
    let bench = Bench::lead();
    bench.put("../far/outside.txt", "needle\n");
    std::os::unix::fs::symlink("../far", bench.root().join("link")).unwrap();
    for (tool, input) in [
        ("glob", json!({"pattern": "*", "path": ".."})),
        ("glob", json!({"pattern": "*", "path": "link"})),
        ("grep", json!({"pattern": "needle", "path": "link"})),
        (
            "write_file",
            json!({"path": "link/new.txt", "content": "x"}),
        ),
    ] {
        bench.answer(Err("no".to_owned()));
        assert_eq!(bench.err(tool, input), "no", "{tool}");
    }
    let whole = bench.ok("grep", json!({"pattern": "needle"}));
    assert!(
        whole.starts_with("no line"),
        "a walk follows no link: {whole}"
    );
    bench.ok(
        "write_file",
        json!({"path": "link/new.txt", "content": "x"}),
    );
    assert_eq!(bench.text("../far/new.txt"), "x");
}

#[test]
fn a_tasks_verify_is_judged_as_the_command_it_is() {
    let bench = Bench::lead();
    let make = |verify: &str| bench.run("create_task", &json!({"subject": "x", "verify": verify}));
    assert!(!make("cargo test").is_error);
    assert!(make("sudo reboot").content.contains("`verify` is denied"));
    bench.answer(Err("no".to_owned()));
    assert_eq!(make("rm -r build").content, "no");
    assert_eq!(bench.toolbox.end_turn(), Ok(()));
    assert_eq!(bench.context().board.list().unwrap().len(), 1);
}

#[test]
fn an_edit_is_asked_about_with_its_diff_and_the_comment_comes_back() {
    let bench = Bench::with("lead", &rules(&[], &["edit_file"], &[]), Mode::Ask);
    bench.put("a.txt", "one\n");
    bench.answer(Ok("but only this once".to_owned()));
    let input = json!({"path": "a.txt", "old_text": "one", "new_text": "two"});
    let said = bench.ok("edit_file", input.clone());
    assert!(said.contains("but only this once"), "{said}");
    assert_eq!(bench.text("a.txt"), "two\n");
    let [HostCall::Permit(ask)] = &bench.calls()[..] else {
        panic!("{:?}", bench.calls());
    };
    assert_eq!((ask.tool.as_str(), &ask.input), ("edit_file", &input));
    let diff = ask.diff.as_deref().unwrap_or_default();
    assert!(diff.contains("-one\n+two"), "{diff}");
    assert_eq!(ask.dir, bench.root().display().to_string());
}

#[test]
fn an_agreement_holds_for_the_content_that_was_shown() {
    let bench = Bench::with(
        "lead",
        &rules(&[], &["edit_file", "write_file"], &[]),
        Mode::Ask,
    );
    let file = bench.put("a.txt", "one\n");
    let new = bench.root().join("new.txt");
    bench.meanwhile(move |_| {
        for path in [&file, &new] {
            std::fs::File::create(path).unwrap();
        }
    });
    let said = bench.err(
        "edit_file",
        json!({"path": "a.txt", "old_text": "one", "new_text": "two"}),
    );
    assert!(!said.is_empty());
    assert_eq!(bench.text("a.txt"), "");
    let said = bench.err("write_file", json!({"path": "new.txt", "content": "x"}));
    assert!(said.contains("you have not read it"), "{said}");
}

#[test]
fn an_impossible_edit_is_not_asked_about() {
    let bench = Bench::with("lead", &rules(&[], &["edit_file"], &[]), Mode::Ask);
    bench.put("a.txt", "one\n");
    let said = bench.err(
        "edit_file",
        json!({"path": "a.txt", "old_text": "three", "new_text": "two"}),
    );
    assert!(said.contains("not found"), "{said}");
    assert_eq!(bench.calls(), []);
}

#[test]
fn a_cancelled_call_does_not_begin() {
    let bench = Bench::lead();
    let cancel = std::sync::Arc::new(crate::cancel::Cancel::new());
    cancel.cancel();
    let outcome = bench
        .toolbox
        .run("write_file", &json!({"path": "a", "content": ""}), &cancel);
    assert!(outcome.is_error && outcome.content.contains("interrupted"));
    assert!(!bench.root().join("a").exists());
}

#[test]
fn a_fault_in_the_loop_ends_the_call_and_nothing_else() {
    let bench = Bench::lead();
    bench.meanwhile(|_| panic!("a fault"));
    let said = bench.err("list_teammates", json!({}));
    assert!(said.contains("by a fault of its own"), "{said}");
    bench.ok("list_tasks", json!({}));
}
