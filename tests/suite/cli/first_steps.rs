//! What a new user finds: `init`, completions, manual pages.

use crate::support::bed::lead_binary;
use crate::support::{Bed, DEADLINE, Running};

#[test]
fn init_writes_settings_that_are_right_and_never_over_others() {
    let bed = Bed::git();
    let made = bed.lead(&["init"]).expect_code(0).stdout;
    assert!(made.starts_with("wrote "), "{made}");
    let written = bed.read(".team/team.json");
    let config = bed.lead(&["config", "--json"]).expect_code(0);
    assert_eq!(
        config.json()["settings"]["permissions"]["deny"][0],
        "read_file(**/.env)"
    );
    assert!(!config.stderr.contains("unknown key"), "{}", config.stderr);
    bed.lead(&["init"]).expect_usage_error("team.json exists; ");
    assert_eq!(bed.read(".team/team.json"), written);
}

/// A run is told where it works, and what it finds around itself that may not have been meant.
#[test]
fn where_the_team_works_is_said_and_nothing_else_is_left_there() {
    let bed = Bed::new();
    let bash = serde_json::json!({"name": "bash", "input": {"command": "echo x > made"}});
    let script = serde_json::json!({"agents": {"lead": [{"text": "Now.", "tools": [bash]}, {"text": "Done."}]}});
    let model = bed.script(&script);
    let run = |dir: &str, more: &[&str]| {
        let mut lead = bed.lead_command(&[&["-p", "go", "--model", &model], more].concat());
        lead.current_dir(bed.root().join(dir));
        Running::start(&mut lead).wait(DEADLINE).expect_code(0)
    };
    let root = bed.root().display().to_string();
    let first = run("", &[]);
    assert!(
        first.stderr.contains(&format!("begins in {root}; ")),
        "{}",
        first.stderr
    );
    assert_eq!(bed.read("made"), "x\n");
    assert!(!bed.root().join(".git").exists(), "there is no repository");

    std::fs::create_dir_all(bed.root().join("inner/.git")).unwrap();
    let surprise = format!(
        "the workspace is {root}, which has a team's files, and not the git checkout {root}/inner"
    );
    assert!(run("inner", &[]).stderr.contains(&surprise));
    let named = run("inner", &["--root", "."]);
    assert!(!named.stderr.contains(&surprise), "{}", named.stderr);

    let home = bed.home();
    let at_home = run(home.to_str().unwrap(), &[]);
    assert!(
        at_home
            .stderr
            .contains("agents may change all that is in it"),
        "{}",
        at_home.stderr
    );
}

/// The goal may come on standard input, and what comes there unasked is not passed over in silence.
#[test]
fn a_goal_is_read_from_standard_input_where_that_is_said() {
    let bed = Bed::new();
    let script = serde_json::json!({"agents": {"lead": [{"when": "piped", "text": "Heard."}]}});
    let model = bed.script(&script);
    let fed = |goal: &str, input: &str| {
        bed.write("input", input);
        let mut lead = bed.command("sh");
        lead.args(["-c", "exec \"$0\" \"$@\" < input"])
            .arg(lead_binary());
        lead.args(["-p", goal, "--model", &model]);
        Running::start(&mut lead).wait(DEADLINE)
    };
    assert_eq!(
        fed("-", "it is piped\n").expect_code(0).stdout.trim(),
        "Heard."
    );
    fed("-", " \n").expect_usage_error("the goal is empty");
    let unread = fed("piped or not", "a log\n").expect_code(0).stderr;
    assert!(
        unread.contains("what comes on standard input is not read"),
        "{unread}"
    );
}

#[test]
fn init_is_not_for_agents() {
    let bed = Bed::new();
    let bed = {
        let inside = format!("alice@{}", bed.root().display());
        bed.with_env("PITCREW_AGENT", &inside)
    };
    let before = bed.listing();
    bed.lead(&["init"]).expect_usage_error("alice");
    assert_eq!(bed.listing(), before);
}

#[test]
fn completions_name_the_verbs_and_leave_no_trace() {
    let bed = Bed::new();
    let before = bed.listing();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = bed.lead(&["completions", shell]).expect_code(0).stdout;
        for word in ["permission", "release", "--add-blocked-by", "output-format"] {
            assert!(
                script.contains(word.trim_start_matches('-')),
                "{shell}: {word}"
            );
        }
    }
    bed.lead(&["completions", "basic"])
        .expect_usage_error("basic");
    assert_eq!(bed.listing(), before);
}

#[test]
fn bash_completes_a_verb() {
    let bed = Bed::new();
    let script = bed.lead(&["completions", "bash"]).expect_code(0).stdout;
    bed.write("complete.sh", &script);
    let mut bash = bed.command("bash");
    bash.args([
        "-c",
        ". ./complete.sh; COMP_WORDS=(lead task ca); COMP_CWORD=2; _lead lead ca task; echo \"${COMPREPLY[@]}\"",
    ]);
    let done = crate::support::Running::start(&mut bash).wait(crate::support::DEADLINE);
    assert_eq!(done.stdout.trim(), "cancel", "{}", done.stderr);
}

#[test]
fn each_verb_has_a_manual_page() {
    let bed = Bed::new();
    let page = bed.lead(&["man"]).expect_code(0).stdout;
    for part in [".TH lead", "--output-format", "lead-task"] {
        assert!(page.replace('\\', "").contains(part), "{part}: {page}");
    }
    let page = bed.lead(&["man", "task", "add"]).expect_code(0).stdout;
    assert!(page.replace('\\', "").contains("--blocked-by"), "{page}");
    bed.lead(&["man", "tusk"]).expect_usage_error(
        "no manual page for \"tusk\"; lead has no such verb; did you mean `lead task`?",
    );
    bed.lead(&["man", "task", "lst"])
        .expect_usage_error("did you mean `lead task list`?");
}
