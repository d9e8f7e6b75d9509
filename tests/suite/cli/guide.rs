//! The guide's session takes place as it is shown there.

use crate::support::{Bed, DEADLINE, Terminal, wait_until};

const GUIDE: &str = include_str!("../../../docs/guide.md");
const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/examples/first-session/script.json"
);
/// What stands before what the person types.
const PROMPTS: [&str; 4] = [
    "lead> ",
    "team? [y/n] ",
    "plan of bob? [y/n] ",
    "allow alice? [a/A/d/D] ",
];

/// The lines of the guide's screens: those of the session, and those of the verbs after it.
fn screens() -> (Vec<&'static str>, Vec<&'static str>) {
    let blocks = GUIDE.split("```text\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap().lines());
    let lines: Vec<&str> = lines.collect();
    let verbs = lines
        .iter()
        .position(|line| line.starts_with("$ "))
        .unwrap();
    (lines[..verbs].to_vec(), lines[verbs..].to_vec())
}

/// A line of a verb without what differs from run to run: ids, times, the script's path.
fn steady(line: &str) -> String {
    let line = line.replace(SCRIPT, "FIRST_SESSION");
    let is_time = line.get(..24).is_some_and(|time| time.ends_with('Z'));
    without_ids(if is_time { &line[24..] } else { &line })
}

/// Every line that the guide shows of a verb is one that the verb prints, in that order.
fn check_verbs(bed: &Bed, shown: &[&str]) {
    let mut printed = Vec::new();
    for line in shown {
        if let Some(call) = line.strip_prefix("$ lead ") {
            let call: Vec<&str> = call.split(' ').collect();
            let done = bed.lead(&call).expect_code(0);
            printed = done.stdout.lines().map(steady).collect();
            continue;
        }
        let wanted = steady(line);
        let found = printed.iter().position(|line| *line == wanted);
        let found = found.unwrap_or_else(|| panic!("{wanted:?} not in {printed:#?}"));
        printed.drain(..=found);
    }
}

/// `text` with each id's digits taken out.
fn without_ids(text: &str) -> String {
    let mut out = text.to_owned();
    for prefix in ["task_", "req_", "ses_"] {
        let parts: Vec<&str> = out.split(prefix).collect();
        let rest = parts[1..]
            .iter()
            .map(|part| part.trim_start_matches(|ch: char| ch.is_ascii_hexdigit()));
        out = std::iter::once(parts[0])
            .chain(rest)
            .collect::<Vec<_>>()
            .join(prefix);
    }
    out
}

/// A row of the watching screen without what differs from run to run.
fn steady_row(row: &str) -> String {
    let row = row.replace(SCRIPT, "FIRST_SESSION");
    let row = row.split("  pid ").next().unwrap().trim_end();
    let is_time = row
        .get(..8)
        .is_some_and(|time| time.matches(':').count() == 2);
    without_ids(if is_time { &row[8..] } else { row })
}

/// The watching screen gets to what the guide shows of it, row for row.
fn check_screen(bed: &Bed) {
    let (_, rest) = GUIDE.split_once("```text watch\n").unwrap();
    let shown: Vec<String> = rest
        .split("```")
        .next()
        .unwrap()
        .lines()
        .map(steady_row)
        .collect();
    let mut watch = Terminal::sized(bed.lead_command(&["status", "--watch"]), 300, 60);
    watch.wait_for_frame("alice  asks: permission", DEADLINE);
    wait_until("the screen of the guide", DEADLINE, || {
        let frame = watch.frame();
        let mut rows = frame.lines().map(steady_row);
        let found = shown.iter().all(|row| rows.any(|seen| seen == *row));
        found.then_some(())
    });
    watch.send("q");
    assert_eq!(watch.wait(DEADLINE), Some(0));
}

#[test]
fn the_session_is_as_the_guide_shows_it() {
    let bed = Bed::git();
    bed.write("old.txt", "old words\n");
    let mut terminal = Terminal::start(bed.lead_command(&["--model", &format!("script:{SCRIPT}")]));
    let (session, verbs) = screens();
    for line in session {
        let typed = PROMPTS
            .iter()
            .find_map(|prompt| Some((*prompt, line.strip_prefix(prompt)?)));
        match typed {
            Some((prompt, answer)) => {
                let prompt = prompt.trim_end();
                wait_until(prompt, DEADLINE, || {
                    terminal.plain().trim_end().ends_with(prompt).then_some(())
                });
                if prompt.starts_with("allow alice?") {
                    check_screen(&bed);
                }
                terminal.line(answer);
            }
            None => wait_until(line, DEADLINE, || {
                without_ids(&terminal.plain())
                    .contains(&without_ids(line))
                    .then_some(())
            }),
        }
    }
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
    assert!(!bed.root().join("old.txt").exists());
    assert_eq!(bed.read("poems.txt").lines().count(), 6);
    check_verbs(&bed, &verbs);
    bed.assert_no_process_left();
}
