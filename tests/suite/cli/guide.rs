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

/// The lines of the guide's screens.
fn screens() -> Vec<&'static str> {
    let blocks = GUIDE.split("```text\n").skip(1);
    blocks
        .flat_map(|block| block.split("```").next().unwrap().lines())
        .collect()
}

/// `text` with each id's digits taken out.
fn without_ids(text: &str) -> String {
    let mut out = text.to_owned();
    for prefix in ["task_", "req_"] {
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

#[test]
fn the_session_is_as_the_guide_shows_it() {
    let bed = Bed::git();
    bed.write("old.txt", "old words\n");
    let mut terminal = Terminal::start(bed.lead_command(&["--model", &format!("script:{SCRIPT}")]));
    for line in screens() {
        let typed = PROMPTS
            .iter()
            .find_map(|prompt| Some((*prompt, line.strip_prefix(prompt)?)));
        match typed {
            Some((prompt, answer)) => {
                let prompt = prompt.trim_end();
                wait_until(prompt, DEADLINE, || {
                    terminal.plain().trim_end().ends_with(prompt).then_some(())
                });
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
    bed.assert_no_process_left();
}
