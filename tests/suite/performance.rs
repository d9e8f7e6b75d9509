//! The benches of docs/performance.md, run in short: what the document names is what is measured, and it works.

#![expect(
    clippy::duplicate_mod,
    reason = "each bench is whole with what benches share"
)]

#[expect(dead_code, reason = "a bench has a main of its own")]
#[path = "../../benches/agents.rs"]
mod agents;
#[expect(dead_code, reason = "a bench has a main of its own")]
#[path = "../../benches/board.rs"]
mod board;
#[expect(dead_code, reason = "a bench has a main of its own")]
#[path = "../../benches/mailbox.rs"]
mod mailbox;

/// A process of a bench, when this test is what such a process was started as.
#[test]
fn part() {
    board::play();
}

#[test]
fn mailboxes_are_measured() {
    mailbox::run(["--quick".to_owned()]);
}

#[test]
fn the_board_is_measured() {
    board::run(["--quick".to_owned()]);
}

#[test]
fn waiting_agents_are_measured() {
    agents::run(["--quick".to_owned()]);
}

#[test]
fn the_document_names_each_bench_with_its_bar_and_how_it_is_run() {
    let document = include_str!("../../docs/performance.md");
    let manifest = include_str!("../../Cargo.toml");
    let benches = [
        (
            "agents",
            agents::BENCHES.map(|(what, bar, _)| (what, bar)).to_vec(),
        ),
        (
            "board",
            board::BENCHES.map(|(what, bar, _)| (what, bar)).to_vec(),
        ),
        (
            "mailbox",
            mailbox::BENCHES.map(|(what, bar, _)| (what, bar)).to_vec(),
        ),
    ];
    for (name, rows) in benches {
        let command = format!("$ cargo bench --bench {name}\n");
        assert!(document.contains(&command), "{command}");
        assert!(manifest.contains(&format!("name = {name:?}")), "{name}");
        for (what, bar) in rows {
            let row = format!("| {what} | {bar} |");
            assert!(document.contains(&row), "{row}");
        }
    }
    assert!(document.contains("-- --quick"));
}
