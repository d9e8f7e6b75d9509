//! What is no file in a file's place never keeps anybody waiting, and is never taken for one.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use crate::support::{Bed, DEADLINE, Running};

/// Every file that a lead or a verb reads or writes, below the workspace.
const OURS: [&str; 20] = [
    ".tasks/task_00000001.json",
    ".tasks/.lock",
    ".tasks/.journal.jsonl",
    ".tasks/.index",
    ".tasks/.bell",
    ".mailboxes/lead.jsonl",
    ".mailboxes/alice.jsonl",
    ".team/team.json",
    ".team/agents/coder.md",
    ".team/state/lead.lock",
    ".team/state/lead.alive",
    ".team/state/session.json",
    ".team/state/members/alice.json",
    ".team/state/members/alice.lock",
    ".team/state/requests/req_00000001.json",
    ".team/state/archive/lead.jsonl",
    ".team/state/usage.jsonl",
    ".team/state/script.json",
    ".team/state/grants.jsonl",
    ".team/state/logs/lead.log",
];

fn put(bed: &Bed, name: &str, what: &str) {
    let path = bed.root().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    match what {
        "fifo" => make_fifo(&path),
        "directory" => std::fs::create_dir(&path).unwrap(),
        "device" => symlink("/dev/zero", &path).unwrap(),
        "link to a fifo" => {
            let fifo = bed.outside("fifo");
            if !fifo.exists() {
                make_fifo(&fifo);
            }
            symlink(fifo, &path).unwrap();
        }
        other => panic!("{other}"),
    }
}

fn make_fifo(path: &Path) {
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
}

/// Ends by itself, whatever its code, and not by a panic.
#[track_caller]
fn ends(bed: &Bed, args: &[&str], with: &str) {
    let done = Running::start(&mut bed.lead_command(args)).wait(DEADLINE);
    assert!(done.code.is_some(), "{with}, {args:?}: a signal ended it");
    assert!(
        !done.stderr.contains("panicked"),
        "{with}, {args:?}: {}",
        done.stderr
    );
}

#[test]
fn verbs_end_whatever_stands_in_a_files_place() {
    for what in ["fifo", "directory", "device", "link to a fifo"] {
        let bed = Bed::new();
        for name in OURS {
            put(&bed, name, what);
        }
        for args in [
            &["status"][..],
            &["task", "list", "--json"],
            &["task", "add", "x"],
            &["mail", "list", "alice", "--all"],
            &["mail", "send", "lead", "x"],
            &["team", "list"],
            &["permission", "list"],
            &["usage"],
            &["config"],
            &["doctor", "--json"],
        ] {
            ends(&bed, args, what);
        }
    }
}

#[test]
fn a_session_ends_whatever_stands_in_one_files_place() {
    // Side by side: where the lead's own files must give way, it looks twice.
    std::thread::scope(|scope| {
        for name in OURS {
            scope.spawn(move || {
                let bed = Bed::new();
                let model = bed.script(&json!({"agents": {"lead": [{"text": "Nothing to do."}]}}));
                put(&bed, name, "fifo");
                ends(&bed, &["-p", "go", "--model", &model], name);
            });
        }
    });
}

#[test]
fn what_stands_in_the_place_of_the_leads_own_files_gives_way() {
    let bed = Bed::new();
    let model = bed.script(&json!({"agents": {"lead": [{"text": "Nothing to do."}]}}));
    for name in ["lead.lock", "lead.alive"] {
        put(&bed, &format!(".team/state/{name}"), "fifo");
    }
    put(&bed, ".mailboxes/lead.jsonl", "directory");
    let done = bed.lead(&["-p", "go", "--model", &model]).expect_code(0);
    for name in ["lead.lock", "lead.alive", "lead.jsonl"] {
        assert!(done.stderr.contains(name), "{}", done.stderr);
    }
    let quarantine = bed.root().join(".team/state/quarantine");
    let kept = std::fs::read_dir(quarantine).unwrap().count();
    assert_eq!(kept, 6, "each with its reason");
    // A conversation that is over keeps nobody from beginning another.
    let session = bed.json(".team/state/session.json").unwrap()["id"].clone();
    let talk = format!(
        ".team/state/transcripts/lead.{}.jsonl",
        session.as_str().unwrap()
    );
    std::fs::hard_link(bed.root().join(talk), bed.outside("twice")).unwrap();
    let done = bed.lead(&["-p", "go", "--model", &model]).expect_code(0);
    assert!(
        done.stderr.contains("not read stays there"),
        "{}",
        done.stderr
    );
}

#[test]
fn the_persons_own_files_are_judged_likewise() {
    let bed = Bed::new();
    let settings = bed.home().join(".config/pitcrew");
    std::fs::create_dir_all(&settings).unwrap();
    make_fifo(&settings.join("settings.json"));
    let refused = bed.lead(&["config"]).expect_code(2);
    assert!(
        refused.stderr.contains("it is a FIFO"),
        "{}",
        refused.stderr
    );
    std::fs::remove_file(settings.join("settings.json")).unwrap();

    make_fifo(&bed.outside("script"));
    let model = format!("script:{}", bed.outside("script").display());
    let refused = bed.lead(&["-p", "go", "--model", &model]).expect_code(2);
    assert!(
        refused.stderr.contains("it is a FIFO"),
        "{}",
        refused.stderr
    );

    // A person may well keep them elsewhere.
    bed.put(
        &bed.outside("dotfiles/settings.json"),
        r#"{"maxTeammates": 3}"#,
    );
    symlink(
        bed.outside("dotfiles/settings.json"),
        settings.join("settings.json"),
    )
    .unwrap();
    let shown = bed.lead(&["config"]).expect_code(0).stdout;
    assert!(shown.contains("maxTeammates"), "{shown}");
}
