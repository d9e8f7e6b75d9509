//! `lead status --watch` on a real pseudo-terminal and without one.

use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::task;
use crate::support::facts::{processes_in, send};
use crate::support::{Bed, DEADLINE, Terminal, wait_until};

const WATCH: [&str; 2] = ["status", "--watch"];

fn watch(bed: &Bed) -> Terminal {
    Terminal::start(bed.lead_command(&WATCH))
}

/// Under a shell that tells afterwards how it ended and how the terminal was left.
fn watch_and_tell(bed: &Bed) -> Terminal {
    let mut command = bed.command("sh");
    let lead = env!("CARGO_BIN_EXE_lead");
    command.args([
        "-c",
        &format!("echo modes $(stty -g); '{lead}' status --watch; echo code $? told; echo modes $(stty -g); echo all told"),
    ]);
    Terminal::start(command)
}

#[track_caller]
fn assert_left_in_order(terminal: &mut Terminal, code: u8) {
    terminal.wait_for("all told", DEADLINE);
    let seen = terminal.seen();
    let (_, after) = seen.rsplit_once("\u{1b}[?2026l").unwrap();
    for sequence in ["\u{1b}[?1049l", "\u{1b}[?25h", "\u{1b}[?7h"] {
        assert!(after.contains(sequence), "{sequence:?} in {after:?}");
    }
    assert!(after.contains(&format!("code {code} told")), "{after}");
    let modes: Vec<&str> = seen
        .lines()
        .filter_map(|line| Some(line.split_once("modes ")?.1.trim_end()))
        .collect();
    assert_eq!(modes.len(), 2, "{seen}");
    assert_eq!(modes[0], modes[1], "the terminal's modes before and after");
    terminal.wait(DEADLINE);
}

#[test]
fn the_screen_follows_the_files_whoever_writes_them() {
    let bed = Bed::new();
    let mut terminal = watch(&bed);
    terminal.wait_for_frame("none yet", DEADLINE);
    assert_eq!(bed.listing(), [""; 0], "watching makes nothing");
    bed.write(".tasks/task_00000001.json", &task("task_00000001"));
    terminal.wait_for_frame("ready        subject of task_00000001", DEADLINE);
    drop(
        bed.lead(&["task", "add", "漢字 next", "--blocked-by", "task_00000001"])
            .expect_code(0),
    );
    terminal.wait_for_frame("blocked      漢字 next", DEADLINE);
    drop(bed.lead(&["mail", "send", "lead", "are you there"]));
    terminal.wait_for_frame("waiting mail  lead 1", DEADLINE);
    terminal.wait_for_frame("are you there", DEADLINE);
    bed.write(".tasks/task_0000000b.json", "{");
    terminal.wait_for_frame("1 damaged", DEADLINE);
    terminal.wait_for_frame("task_0000000b.json: ", DEADLINE);
    bed.write(
        ".team/state/requests/req_00000001.json",
        &json!({"request_id": "req_00000001", "type": "plan_approval", "sender": "bob", "target": "user",
            "status": "pending", "payload": {"title": "Paint\u{1b}[2J it"}, "created_at": "2026-11-30T17:00:00.000Z"})
        .to_string(),
    );
    terminal.wait_for_frame("req_00000001  Paint␛ it  lead plan approve", DEADLINE);
    terminal.send("q");
    assert_eq!(terminal.wait(DEADLINE), Some(0));
}

#[test]
fn a_lead_that_comes_and_one_that_is_killed_are_seen() {
    let bed = Bed::new();
    let mut terminal = watch(&bed);
    terminal.wait_for_frame("none yet", DEADLINE);
    let model = bed.script(&json!({"agents": {"lead": [{"text": "late", "delay_ms": 120_000}]}}));
    for _ in 0..2 {
        let lead = bed.start_lead(&["-p", "go", "--model", &model]);
        terminal.wait_for_frame(&format!("pid {}", lead.pid()), DEADLINE);
        terminal.wait_for_frame("working", DEADLINE);
        lead.signal(Signal::SIGKILL);
        terminal.wait_for_frame("not running", DEADLINE);
    }
    terminal.send("q");
    assert_eq!(terminal.wait(DEADLINE), Some(0));
}

#[test]
fn small_windows_show_what_fits_and_new_sizes_are_followed() {
    let bed = Bed::new().with_env("NO_COLOR", "1");
    let mut long = serde_json::from_str::<Value>(&task("task_00000001")).unwrap();
    long["subject"] = "漢字".repeat(30).into();
    bed.write(".tasks/task_00000001.json", &long.to_string());
    for nr in 2..40 {
        let id = format!("task_{nr:08x}");
        bed.write(&format!(".tasks/{id}.json"), &task(&id));
    }
    let mut terminal = watch(&bed);
    for (columns, rows) in [(40, 12), (200, 60), (20, 5), (1, 1), (80, 24)] {
        terminal.resize(columns, rows);
        wait_until("a picture of that size", DEADLINE, || {
            let frame = terminal.frame();
            let lines: Vec<&str> = frame.lines().collect();
            let fits = lines.len() <= usize::from(rows)
                && lines
                    .iter()
                    .all(|line| line.width() <= usize::from(columns));
            (fits && (rows < 12 || lines.len() == usize::from(rows))).then_some(())
        });
        if columns >= 40 {
            terminal.wait_for_frame("39 pending", DEADLINE);
            terminal.wait_for_frame("ready        漢字漢字", DEADLINE);
        }
    }
    let colours = |ch: char| ch.is_ascii_digit() || ch == ';';
    for sequence in terminal.seen().split("\u{1b}[").skip(1) {
        assert!(
            !sequence.trim_start_matches(colours).starts_with('m'),
            "{sequence:?}"
        );
    }
    terminal.send("q");
    assert_eq!(terminal.wait(DEADLINE), Some(0));
}

#[test]
fn the_terminal_is_given_back_however_it_ends() {
    for (keys, code) in [("q", 0), ("\u{3}", 130)] {
        let bed = Bed::new();
        let mut terminal = watch_and_tell(&bed);
        terminal.wait_for_frame("none yet", DEADLINE);
        terminal.send(keys);
        assert_left_in_order(&mut terminal, code);
    }
    let bed = Bed::new();
    let mut terminal = watch_and_tell(&bed);
    terminal.wait_for_frame("none yet", DEADLINE);
    let all = processes_in(&bed.root());
    let watching = all
        .iter()
        .find(|(_, command)| command.trim_end().ends_with("status --watch"));
    send(watching.unwrap().0, Signal::SIGTERM);
    assert_left_in_order(&mut terminal, 143);
}

/// From elsewhere: who works in a removed directory keeps it alive, and its end is seen by the next slow look only.
#[test]
fn a_workspace_that_goes_and_comes_again_is_followed() {
    let bed = Bed::new();
    bed.write(".tasks/task_00000001.json", &task("task_00000001"));
    let root = bed.root().display().to_string();
    let mut command = bed.lead_command(&["status", "--watch", "--root", &root]);
    command.current_dir(bed.home());
    let mut terminal = Terminal::start(command);
    terminal.wait_for_frame("1 pending", DEADLINE);
    std::fs::remove_dir_all(bed.root()).unwrap();
    terminal.wait_for_frame("the workspace is gone", DEADLINE);
    bed.write(".tasks/task_00000002.json", &task("task_00000002"));
    terminal.wait_for_frame("subject of task_00000002", DEADLINE);
    terminal.send("q");
    assert_eq!(terminal.wait(DEADLINE), Some(0));
}

#[test]
fn without_a_terminal_each_difference_is_printed() {
    let bed = Bed::new();
    let text = bed.start_lead(&WATCH);
    let objects = bed.start_lead(&["status", "--watch", "--json"]);
    text.wait_for("none yet", DEADLINE);
    objects.wait_for("\"pending\":0", DEADLINE);
    assert_eq!(bed.listing(), [""; 0]);
    drop(bed.lead(&["task", "add", "one"]).expect_code(0));
    text.wait_for("1 pending", DEADLINE);
    objects.wait_for("\"pending\":1", DEADLINE);
    text.signal(Signal::SIGINT);
    objects.signal(Signal::SIGTERM);
    let text = text.wait(DEADLINE).expect_code(130);
    assert!(!text.stdout.contains('\u{1b}'), "{:?}", text.stdout);
    assert!(text.stdout.starts_with("--- 20"), "{}", text.stdout);
    let objects = objects.wait(DEADLINE).expect_code(143);
    let all: Vec<Value> = objects
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(all.windows(2).all(|two| two[0] != two[1]), "{all:#?}");
}

#[test]
fn it_ends_when_nobody_reads_any_more() {
    let bed = Bed::new();
    let mut command = bed.command("sh");
    let lead = env!("CARGO_BIN_EXE_lead");
    command.args(["-c", &format!("'{lead}' status --watch | head -n 1")]);
    let mut piped = crate::support::Running::start(&mut command);
    piped.wait_for("--- 20", DEADLINE);
    wait_until("the end of both", Duration::from_mins(1), || {
        drop(bed.lead(&["task", "add", "more"]).expect_code(0));
        piped.has_ended()
    });
}
