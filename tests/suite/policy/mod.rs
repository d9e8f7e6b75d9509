//! The area `policy`: what may run, what is asked about, what never runs.
//!
//! Pure, but written as a user of the rules sees them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod hostile;
mod members;

use pitcrew::policy::builtin::{COMMAND_RULES, PATH_RULES};
use pitcrew::policy::{Mode, Policy, RuleLists, Scope, Verdict};
use serde_json::json;

/// A worktree of a workspace in the person's home.
fn scope() -> Scope {
    Scope {
        dir: "/home/p/ws/.worktrees/a".into(),
        tmp: "/home/p/ws/.team/state/tmp/alice".into(),
        root: "/home/p/ws".into(),
        home: Some("/home/p".into()),
    }
}

/// The workspace itself, as the lead works in it.
fn lead() -> Scope {
    Scope {
        dir: "/home/p/ws".into(),
        tmp: "/home/p/ws/.team/state/tmp/lead".into(),
        ..scope()
    }
}

fn policy(deny: &[&str], ask: &[&str], allow: &[&str], mode: Mode) -> Policy {
    let texts = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect();
    let lists = RuleLists {
        deny: texts(deny),
        ask: texts(ask),
        allow: texts(allow),
    };
    Policy::new(&lists, mode).unwrap()
}

fn plain() -> Policy {
    policy(&[], &[], &[], Mode::Ask)
}

fn bash(policy: &Policy, command: &str) -> Verdict {
    policy.judge("bash", &json!({ "command": command }), &scope(), &[])
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask { .. } => "ask",
        Verdict::Deny(_) | Verdict::Unasked { .. } => "deny",
    }
}

/// A table: a command a line, in which `␤` is a newline and `␛` an escape character.
fn lines(table: &str) -> impl Iterator<Item = String> {
    table
        .lines()
        .map(|line| line.replace('␤', "\n").replace('␛', "\u{1b}"))
}

fn all(expected: &str, commands: impl Iterator<Item = String>) {
    let policy = plain();
    let wrong: Vec<String> = commands
        .map(|command| (bash(&policy, &command), command))
        .filter(|(verdict, _)| word(verdict) != expected)
        .map(|(verdict, command)| format!("{command:?} is {verdict:?}"))
        .collect();
    assert!(wrong.is_empty(), "not {expected}:\n{}", wrong.join("\n"));
}

#[test]
fn ordinary_work_is_not_asked_about() {
    all("allow", lines(include_str!("ordinary.txt")));
}

#[test]
fn the_lead_in_the_workspace_works_alike() {
    let policy = plain();
    for (command, expected) in [
        ("cargo test > out.txt", "allow"),
        ("git status", "allow"),
        ("echo x > .worktrees/a/y", "ask"),
        ("echo x > .git/config", "deny"),
        ("cp x .tasks/y", "deny"),
        ("rm -rf .git", "deny"),
        ("echo x > .gitignore", "allow"),
        ("cat .tasks/task_1.json", "allow"),
        ("rm -rf .", "deny"),
        ("rm -rf ../ws", "deny"),
        ("rm -rf *", "ask"),
        ("rm -rf .*", "deny"),
        ("find . -delete", "deny"),
        ("chmod -R 755 .", "ask"),
    ] {
        let verdict = policy.judge("bash", &json!({ "command": command }), &lead(), &[]);
        assert_eq!(word(&verdict), expected, "{command}: {verdict:?}");
    }
}

#[test]
fn removing_networks_and_places_outside_are_asked_about() {
    all("ask", lines(include_str!("asked.txt")));
}

#[test]
fn what_nobody_can_judge_is_asked_about() {
    all("ask", lines(include_str!("unclear.txt")));
}

#[test]
fn some_things_never_run() {
    all("deny", lines(include_str!("denied.txt")));
}

#[test]
fn every_way_to_hide_a_command_is_seen_through() {
    let policy = policy(&["bash(npm publish *)"], &[], &[], Mode::Ask);
    for (command, expected) in [("sudo x", "deny"), ("npm publish", "deny"), ("rm x", "ask")] {
        let wrong: Vec<String> = lines(include_str!("ways.txt"))
            .map(|way| way.replace('%', command))
            .filter(|text| {
                let verdict = bash(&policy, text);
                // A deny hidden in a text that is asked about for another reason stays a deny.
                word(&verdict) != expected
            })
            .collect();
        assert!(
            wrong.is_empty(),
            "{command} is not {expected} in:\n{}",
            wrong.join("\n")
        );
    }
}

#[test]
fn every_way_to_spell_a_command_is_seen_through() {
    all("ask", lines(include_str!("spellings.txt")));
}

#[test]
fn allow_rules_answer_for_their_own_command_only() {
    let rules = policy(
        &[],
        &[],
        &[
            "bash(rm target/*)",
            "bash(cargo *)",
            "write_file(/srv/out/**)",
            "bash(curl *)",
        ],
        Mode::Ask,
    );
    for (command, expected) in [
        ("rm target/x", "allow"),
        ("rm target/x && rm target/y", "allow"),
        ("rm target/x; rm other", "ask"),
        ("rm other", "ask"),
        ("timeout 5 rm target/x", "ask"),
        ("A=1 rm target/x", "ask"),
        ("sh -c 'rm target/x'", "ask"),
        ("sh -c 'rm other'", "ask"),
        ("cargo test > /etc/x", "ask"),
        ("cargo test > /srv/out/x", "allow"),
        ("cp a /srv/out/x", "allow"),
        ("cp a /srv/other", "ask"),
        ("curl x", "allow"),
        ("curl x | sh", "ask"),
        ("curl $(rm x)", "ask"),
        ("rm -rf target/../..", "deny"),
        ("rm -rf target/../../../../..", "deny"),
        ("cargo $(sudo x)", "deny"),
    ] {
        let verdict = bash(&rules, command);
        assert_eq!(word(&verdict), expected, "{command}: {verdict:?}");
    }
    for wrapped in [
        "env %",
        "env -i A=1 %",
        "timeout 5 %",
        "timeout -k 1 5 %",
        "nice %",
        "nohup %",
        "time %",
        "command %",
        "builtin %",
        "exec %",
        "setsid %",
        "stdbuf -oL %",
        "xargs %",
        "sh -c '%'",
        "bash -lc '%'",
        "bash -euo pipefail -c '%'",
        "eval %",
        "trap '%' EXIT",
        "alias a='%'",
        "find . -exec % \\;",
        "flock l %",
        "script -qc '%' o",
        "watch %",
        "env nice sh -c 'timeout 5 %'",
        "git submodule foreach '%'",
        "git rebase -x '%' main",
    ] {
        let command = wrapped.replace('%', "rm target/x");
        assert_eq!(word(&bash(&rules, &command)), "ask", "{command}");
    }
    let everything = policy(&[], &[], &["bash"], Mode::Ask);
    for (command, expected) in [
        ("rm x > /etc/y", "allow"),
        ("$X", "allow"),
        ("curl x | sh", "allow"),
        ("a (", "allow"),
        ("sudo x", "deny"),
        ("echo x > .git/config", "deny"),
    ] {
        let verdict = bash(&everything, command);
        assert_eq!(word(&verdict), expected, "{command}: {verdict:?}");
    }
}

#[test]
fn deny_comes_before_ask_before_allow() {
    let rules = policy(
        &["bash(git push * --force)", "Bash(docker *)"],
        &["bash(npm publish *)"],
        &["bash(npm *)", "bash(git push *)", "bash(docker ps)"],
        Mode::Ask,
    );
    for (command, expected) in [
        ("git push", "allow"),
        ("git push origin --force", "deny"),
        ("docker ps", "deny"),
        ("/usr/bin/docker ps", "deny"),
        ("npm test", "allow"),
        ("npm publish", "ask"),
        ("env npm publish", "ask"),
    ] {
        let verdict = bash(&rules, command);
        assert_eq!(word(&verdict), expected, "{command}: {verdict:?}");
    }
}

#[test]
fn always_names_the_rule_that_answers_from_then_on() {
    let rules = policy(
        &[],
        &["bash(npm publish *)", "edit_file(Cargo.toml)"],
        &[],
        Mode::Ask,
    );
    let always =
        |tool: &str, input: serde_json::Value| match rules.judge(tool, &input, &scope(), &[]) {
            Verdict::Ask { always, .. } => always,
            other => panic!("{other:?}"),
        };
    for (command, expected) in [
        ("rm x", Some("bash(rm *)")),
        ("/bin/rm x", Some("bash(/bin/rm *)")),
        ("git push origin x", Some("bash(git push *)")),
        ("git -C sub push", None),
        ("npm publish", Some("bash(npm publish *)")),
        ("curl x", Some("bash(curl *)")),
        ("rm x && rm y", Some("bash(rm *)")),
        ("rm x && curl y", None),
        ("timeout 5 rm x", None),
        ("A=1 rm x", None),
        ("sh -c 'rm x'", None),
        ("$X", None),
        ("a (", None),
        ("echo x > /srv/y", Some("write_file(/srv/y)")),
        ("cp x /srv/y", Some("write_file(/srv/y)")),
        ("echo x > '/srv/a*'", None),
    ] {
        let offered = always("bash", json!({ "command": command }));
        assert_eq!(offered.as_deref(), expected, "{command}");
        if let Some(rule) = offered {
            let verdict = rules.judge("bash", &json!({ "command": command }), &scope(), &[rule]);
            assert_eq!(verdict, Verdict::Allow, "{command}");
        }
    }
    let edit = json!({ "path": "Cargo.toml", "old_text": "a", "new_text": "b" });
    let rule = always("edit_file", edit.clone()).unwrap();
    assert_eq!(rule, "edit_file(/home/p/ws/.worktrees/a/Cargo.toml)");
    assert_eq!(
        rules.judge("edit_file", &edit, &scope(), &[rule]),
        Verdict::Allow
    );
    let grants = ["bash(rm *)".to_owned(), "no rule (any more".to_owned()];
    for (command, expected) in [("rm -rf /", "deny"), ("rm x; curl y", "ask")] {
        let verdict = rules.judge("bash", &json!({ "command": command }), &scope(), &grants);
        assert_eq!(word(&verdict), expected, "{command}");
    }
}

#[test]
fn file_tools_are_judged_by_path() {
    let rules = policy(
        &["read_file(**/.env)"],
        &["edit_file(Cargo.toml)"],
        &["write_file(/srv/**)"],
        Mode::Ask,
    );
    for (tool, path, expected) in [
        ("write_file", "src/a.rs", "allow"),
        ("edit_file", "./src/../src/a.rs", "allow"),
        ("write_file", "/home/p/ws/.team/state/tmp/alice/x", "allow"),
        ("edit_file", "Cargo.toml", "ask"),
        ("write_file", "Cargo.toml", "allow"),
        ("write_file", "../b/x", "ask"),
        ("write_file", "/etc/x", "ask"),
        ("write_file", "/srv/x", "allow"),
        ("edit_file", "/srv/x", "ask"),
        ("write_file", ".git/config", "deny"),
        ("write_file", "../../.tasks/task_1.json", "deny"),
        ("edit_file", "src/../.git", "deny"),
        ("write_file", "/dev/sda", "deny"),
        ("read_file", "src/a.rs", "allow"),
        ("read_file", ".git/config", "allow"),
        ("read_file", "/etc/passwd", "ask"),
        ("read_file", ".env", "deny"),
        ("read_file", "sub/.env", "deny"),
        ("grep", "sub/.env", "deny"),
        ("grep", "/etc", "ask"),
        ("glob", "src", "allow"),
    ] {
        let verdict = rules.judge(tool, &json!({ "path": path }), &scope(), &[]);
        assert_eq!(word(&verdict), expected, "{tool} {path}: {verdict:?}");
    }
    for tool in ["glob", "grep", "list_tasks", "send_message"] {
        let verdict = rules.judge(tool, &json!({ "pattern": "x" }), &scope(), &[]);
        assert_eq!(verdict, Verdict::Allow, "{tool}");
    }
    for (command, expected) in [
        ("cat .env", "deny"),
        ("cp sub/.env x", "deny"),
        ("cat < x --file=.env", "deny"),
        ("sed -i s/a/b/ Cargo.toml", "ask"),
        ("echo x > Cargo.toml", "ask"),
        ("cat Cargo.toml", "allow"),
    ] {
        let verdict = bash(&rules, command);
        assert_eq!(word(&verdict), expected, "{command}: {verdict:?}");
    }
}

#[test]
fn other_tools_have_rules_by_name() {
    let rules = policy(&["spawn_teammate"], &["send_message"], &[], Mode::Ask);
    assert_eq!(
        word(&rules.judge("spawn_teammate", &json!({}), &scope(), &[])),
        "deny"
    );
    let asked = rules.judge("send_message", &json!({}), &scope(), &[]);
    assert!(matches!(&asked, Verdict::Ask { always: Some(rule), .. } if rule == "send_message"));
    assert_eq!(
        rules.judge(
            "send_message",
            &json!({}),
            &scope(),
            &["send_message".into()]
        ),
        Verdict::Allow
    );
}

#[test]
fn modes_change_what_becomes_of_a_question() {
    for (mode, quiet, edit, rm, sudo) in [
        (Mode::Ask, "allow", "allow", "ask", "deny"),
        (Mode::Confirm, "ask", "ask", "ask", "deny"),
        (Mode::Deny, "allow", "allow", "deny", "deny"),
        (Mode::Bypass, "allow", "allow", "allow", "deny"),
    ] {
        let rules = policy(
            &[],
            &[],
            &["bash(cargo test *)", "write_file(docs/**)"],
            mode,
        );
        assert_eq!(word(&bash(&rules, "make")), quiet, "{mode:?}");
        assert_eq!(word(&bash(&rules, "rm x")), rm, "{mode:?}");
        assert_eq!(word(&bash(&rules, "sudo x")), sudo, "{mode:?}");
        assert_eq!(
            word(&bash(&rules, "cd x && cargo test")),
            "allow",
            "{mode:?}"
        );
        let written = rules.judge("write_file", &json!({ "path": "a" }), &scope(), &[]);
        assert_eq!(word(&written), edit, "{mode:?}");
        let allowed = rules.judge("write_file", &json!({ "path": "docs/a" }), &scope(), &[]);
        assert_eq!(allowed, Verdict::Allow, "{mode:?}");
    }
}

#[test]
fn the_reason_names_rule_and_thing() {
    let rules = policy(&["bash(docker *)"], &[], &[], Mode::Deny);
    for (command, parts) in [
        ("docker ps", ["docker ps", "rule bash(docker *)"]),
        ("rm x", ["nobody is asked here", "rm, unlink, shred"]),
        ("echo x > .git/config", [".git/config", "built-in rule"]),
        (
            "echo x > /srv/y",
            ["/srv/y", "outside the working directory"],
        ),
        ("sudo x", ["sudo x", "another user's rights"]),
    ] {
        let verdict = bash(&rules, command);
        let why = verdict.refusal().unwrap_or_else(|| panic!("{command}"));
        assert!(
            parts.iter().all(|part| why.contains(part)),
            "{command}: {why}"
        );
    }
}

#[test]
fn bad_rules_stop_the_start() {
    for rule in ["bsh(ls)", "bash(a && b)", "bash()", "edit_file([)"] {
        let lists = RuleLists {
            deny: vec![rule.into()],
            ..RuleLists::default()
        };
        let error = Policy::new(&lists, Mode::Ask).unwrap_err();
        assert_eq!(error.rule, rule);
    }
}

#[test]
fn the_built_in_rules_can_be_listed() {
    assert!(
        COMMAND_RULES
            .iter()
            .all(|rule| !rule.what.is_empty() && !rule.why.is_empty())
    );
    assert!(PATH_RULES.len() > 3);
}
