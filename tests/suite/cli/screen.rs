//! What is on the screen of a session, row by row, as a person sees it.

use serde_json::{Value, json};

use crate::support::{Bed, DEADLINE, Terminal, wait_until};

fn session(bed: &Bed, replies: &Value, columns: u16, rows: u16) -> Terminal {
    let model = bed.script(&json!({ "agents": { "lead": replies } }));
    let mut terminal = Terminal::sized(bed.lead_command(&["--model", &model]), columns, rows);
    terminal.wait_for("lead> ", DEADLINE);
    terminal
}

/// Waits until the window's last rows that are not empty are these.
#[track_caller]
fn wait_for_rows(terminal: &mut Terminal, wanted: &[&str]) {
    let mut last = Vec::new();
    let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        wait_until("the rows", DEADLINE, || {
            last = terminal.rows();
            while last.last().is_some_and(String::is_empty) {
                last.pop();
            }
            last.ends_with(&wanted.iter().map(ToString::to_string).collect::<Vec<_>>())
                .then_some(())
        });
    }));
    assert!(found.is_ok(), "{wanted:#?} do not end {last:#?}");
}

/// What was typed is taken back first.
#[track_caller]
fn clear_and_leave(bed: &Bed, mut terminal: Terminal) {
    terminal.send("\u{3}");
    wait_until("an empty prompt", DEADLINE, || {
        let rows = terminal.rows();
        rows.iter()
            .rfind(|row| !row.is_empty())?
            .eq("lead>")
            .then_some(())
    });
    leave(bed, terminal);
}

#[track_caller]
fn leave(bed: &Bed, mut terminal: Terminal) {
    terminal.line("/exit");
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
    bed.assert_no_process_left();
}

fn is_status(row: &str) -> bool {
    row.starts_with(['◐', '◓', '◑', '◒'])
}

/// Something to be printed that asks nobody for anything.
fn news(bed: &Bed, text: &str) {
    drop(bed.lead(&["task", "add", text]).expect_code(0));
}

/// Typed text that takes several rows, with wide characters and the cursor in its midst.
#[test]
fn news_spoil_neither_what_is_typed_nor_what_stands_above() {
    for (columns, rows) in [(40, 12), (80, 24)] {
        let bed = Bed::new();
        let mut terminal = session(&bed, &json!([]), columns, rows);
        terminal.line("/limits");
        terminal.wait_for("cost", DEADLINE);
        let text = "漢字かな交じり文".repeat(9);
        terminal.send(&text);
        wait_until("the whole text", DEADLINE, || {
            terminal.rows().concat().contains(&text).then_some(())
        });
        terminal.send("\u{1}ab");
        wait_until("the text before", DEADLINE, || {
            terminal
                .rows()
                .concat()
                .contains(&format!("> ab{text}"))
                .then_some(())
        });
        for part in ["first", "second"] {
            news(&bed, &format!("{part} news"));
            terminal.wait_for(&format!("{part} news"), DEADLINE);
        }
        terminal.send("c");
        wait_until("the text beneath the news", DEADLINE, || {
            let all = terminal.rows().concat();
            let whole = all.contains(&format!("lead> abc{text}"));
            (whole && all.matches("漢字").count() == 9).then_some(())
        });
        let all = terminal.rows();
        for part in ["cost ", "new: first news", "new: second news"] {
            let count = all.iter().filter(|row| row.contains(part)).count();
            assert_eq!(count, 1, "{part}: {all:#?}");
        }
        clear_and_leave(&bed, terminal);
    }
}

/// Esc closes the menu and nothing else; what came in meanwhile is printed then.
#[test]
fn escape_with_the_menu_open_cuts_no_turn() {
    let bed = Bed::new();
    let replies = json!([{ "delay_ms": 60000, "text": "late" }]);
    let mut terminal = session(&bed, &replies, 80, 24);
    terminal.line("hello");
    wait_until("the model's call", DEADLINE, || {
        terminal.seen();
        (bed.json(".team/state/session.json")?["status"] == "working").then_some(())
    });
    terminal.send("/team s\t");
    terminal.wait_for("/team shutdown", DEADLINE);
    news(&bed, "during the menu");
    terminal.send("\u{1b}");
    terminal.wait_for("during the menu", DEADLINE);
    wait_until("the menu gone", DEADLINE, || {
        let rows = terminal.rows();
        let last = rows.iter().rfind(|row| !row.is_empty())?;
        last.ends_with("> /team s").then_some(())
    });
    assert!(!terminal.plain().contains("interrupted"));
    terminal.send("\u{1b}");
    terminal.wait_for("interrupted", DEADLINE);
    wait_for_rows(&mut terminal, &["interrupted", "lead> /team s"]);
    clear_and_leave(&bed, terminal);
}

/// A search of the history is not ended by what comes in.
#[test]
fn a_search_of_the_history_goes_on_while_news_arrive() {
    let bed = Bed::new();
    let mut terminal = session(&bed, &json!([{ "text": "Heard." }]), 80, 24);
    terminal.line("paint it blue");
    terminal.wait_for("Heard.", DEADLINE);
    terminal.send("\u{12}pai");
    terminal.wait_for("(history: pai) ", DEADLINE);
    news(&bed, "during the search");
    terminal.send("n");
    terminal.wait_for("(history: pain) ", DEADLINE);
    terminal.send("\r");
    terminal.wait_for("during the search", DEADLINE);
    wait_until("the line that was found", DEADLINE, || {
        let rows = terminal.rows();
        let last = rows.iter().rfind(|row| !row.is_empty())?;
        (last == "lead> paint it blue").then_some(())
    });
    clear_and_leave(&bed, terminal);
}

/// Many lines pasted at once are one message.
#[test]
fn two_hundred_pasted_lines_are_one_message() {
    let bed = Bed::new();
    let mut terminal = session(&bed, &json!([{ "text": "Heard." }]), 80, 24);
    let lines: Vec<String> = (1..=200).map(|number| format!("line {number}")).collect();
    terminal.send(&format!("\u{1b}[200~{}\u{1b}[201~", lines.join("\n")));
    terminal.wait_for("line 200", DEADLINE);
    terminal.send("\r");
    terminal.wait_for("Heard.", DEADLINE);
    let dir = bed.root().join(".team/state/transcripts");
    let transcripts = std::fs::read_dir(dir).unwrap().flatten();
    let text: String = transcripts
        .map(|entry| std::fs::read_to_string(entry.path()).unwrap())
        .collect();
    assert!(text.contains(&lines.join("\\n")), "{text}");
    leave(&bed, terminal);
}

/// Standard output and standard error are one screen there.
#[test]
fn the_answer_to_a_goal_stands_on_a_terminal_once() {
    let bed = Bed::new();
    let replies = json!([
        { "text": "First a look.", "tools": [{ "name": "list_tasks", "input": {} }] },
        { "text": "Nothing is to be done." },
    ]);
    let model = bed.script(&json!({ "agents": { "lead": replies } }));
    let args = ["-p", "look", "--model", &model];
    let mut terminal = Terminal::sized(bed.lead_command(&args), 80, 24);
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
    let text = terminal.plain();
    for part in ["First a look.", "list_tasks", "Nothing is to be done."] {
        assert_eq!(text.matches(part).count(), 1, "{part}: {text}");
    }
}

/// The row above the prompt names who works, keeps to the window, and goes as work ends.
#[test]
fn a_status_row_shows_work_while_it_lasts_and_spoils_no_typing() {
    let bed = Bed::new();
    let replies = json!([{ "delay_ms": 60000, "text": "late" }]);
    let mut terminal = session(&bed, &replies, 40, 12);
    terminal.line("hello");
    terminal.send("half a line");
    wait_until("the status row above the line", DEADLINE, || {
        let rows = terminal.rows();
        let at = rows.iter().position(|row| row.ends_with("> half a line"))?;
        let status = &rows[at.checked_sub(1)?];
        (is_status(status) && status.contains(" lead ")).then_some(())
    });
    news(&bed, "an interlude");
    terminal.wait_for("an interlude", DEADLINE);
    wait_until("one row of each kind", DEADLINE, || {
        let rows = terminal.rows();
        let count = |part: &str| rows.iter().filter(|row| row.contains(part)).count();
        let statuses = rows.iter().filter(|row| is_status(row)).count();
        (statuses == 1 && count("half a line") == 1 && count("an interlude") == 1).then_some(())
    });
    terminal.send("\u{1b}");
    wait_for_rows(&mut terminal, &["interrupted", "lead> half a line"]);
    clear_and_leave(&bed, terminal);
}

/// Nothing is drawn on a terminal that can only print.
#[test]
fn a_dumb_terminal_gets_plain_lines() {
    let bed = Bed::new();
    let model = bed.script(&json!({ "agents": { "lead": [{ "text": "Plain as well." }] } }));
    let mut terminal = Terminal::of_kind(bed.lead_command(&["--model", &model]), "dumb", 80, 24);
    terminal.wait_for("lead> ", DEADLINE);
    terminal.line("hello");
    terminal.wait_for("Plain as well.", DEADLINE);
    terminal.send("\u{4}");
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
    assert!(!terminal.seen().contains('\u{1b}'), "{:?}", terminal.seen());
}
