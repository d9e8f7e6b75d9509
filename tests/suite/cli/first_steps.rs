//! What a new user finds: `init`, completions, manual pages.

use crate::support::Bed;

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
