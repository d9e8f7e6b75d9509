//! The person's own editor for the text being typed, on a real pseudo-terminal.

use serde_json::json;

use crate::support::program::write_program;
use crate::support::{Bed, DEADLINE, Terminal, wait_until};

/// Starts a session whose person has that editor.
fn session(bed: Bed, editor: &str) -> (Bed, Terminal) {
    let path = bed.outside("editor");
    write_program(&path, editor);
    let bed = bed.with_env("VISUAL", format!("'{}' --flag", path.display()));
    let model = bed.script(&json!({ "agents": { "lead": [{ "text": "Heard." }] } }));
    let mut terminal = Terminal::start(bed.lead_command(&["--model", &model]));
    terminal.wait_for("lead> ", DEADLINE);
    (bed, terminal)
}

#[track_caller]
fn leave(bed: &Bed, mut terminal: Terminal) {
    terminal.line("/exit");
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
    bed.assert_no_process_left();
}

/// It has the terminal as programs find it, its Ctrl-C is its own, mail waits for its end, and its text comes back.
#[test]
fn the_editor_has_the_terminal_and_gives_the_text_back() {
    let editor = "#!/bin/sh\n\
        [ \"$1\" = --flag ] || exit 9\n\
        trap 'echo interrupted > got' INT\n\
        stty -a > modes\n\
        echo EDITOR OPENS\n\
        until [ -e got ] && [ -e go ]; do sleep 0.02; done\n\
        printf 'and more\\nlines\\n' >> \"$2\"\n\
        echo EDITOR ENDS\n";
    let (bed, mut terminal) = session(Bed::new(), editor);
    terminal.send("half a text ");
    terminal.wait_for_last_row("lead> half a text");
    terminal.send("\u{18}\u{5}");
    terminal.wait_for("EDITOR OPENS", DEADLINE);
    drop(bed.lead(&["task", "add", "news meanwhile"]).expect_code(0));
    terminal.send("\u{3}");
    wait_until("its own interrupt", DEADLINE, || {
        terminal.seen();
        bed.root().join("got").exists().then_some(())
    });
    bed.write("go", "");
    terminal.wait_for("news meanwhile", DEADLINE);
    let seen = terminal.plain();
    let at = |part: &str| seen.find(part).unwrap();
    assert!(at("EDITOR ENDS") < at("news meanwhile"), "{seen}");
    assert!(!seen.contains("press Ctrl-C again"), "{seen}");
    let modes = bed.read("modes");
    assert!(
        modes.contains("isig icanon")
            && modes.contains(
                "
opost "
            ),
        "{modes}"
    );
    terminal.wait_for_last_row("… lines");
    terminal.send(" at the end\r");
    terminal.wait_for("Heard.", DEADLINE);
    let dir = bed.root().join(".team/state/transcripts");
    let all = std::fs::read_dir(dir).unwrap().flatten();
    let said: String = all
        .map(|entry| std::fs::read_to_string(entry.path()).unwrap())
        .collect();
    assert!(
        said.contains("half a text and more\\nlines at the end"),
        "{said}"
    );
    leave(&bed, terminal);
}

#[test]
fn an_editor_that_fails_leaves_the_text_and_says_so() {
    let (bed, mut terminal) = session(Bed::new(), "#!/bin/sh\necho spoilt > \"$2\"\nexit 3\n");
    terminal.send("as it was\u{7}");
    terminal.wait_for("the text is as it was; ", DEADLINE);
    terminal.wait_for("set VISUAL or EDITOR", DEADLINE);
    terminal.wait_for_last_row("lead> as it was");
    terminal.send("\u{3}");
    terminal.wait_for_last_row("lead>");
    leave(&bed, terminal);
}

/// One that is stopped would leave nobody to bring it back; one that is open when the session ends is ended.
#[test]
fn an_editor_cannot_be_stopped_and_does_not_outlive_the_session() {
    let editor = "#!/bin/sh\necho EDITOR OPENS\nuntil [ -e go ]; do sleep 0.02; done\ntouch went-on\nsleep 600\n";
    let (bed, mut terminal) = session(Bed::new(), editor);
    terminal.send("\u{7}");
    terminal.wait_for("EDITOR OPENS", DEADLINE);
    terminal.send("\u{1a}");
    bed.write("go", "");
    wait_until("it goes on", DEADLINE, || {
        terminal.seen();
        bed.root().join("went-on").exists().then_some(())
    });
    let lead = bed.json(".team/state/session.json").unwrap()["pid"].as_u64();
    let pid = u32::try_from(lead.unwrap()).unwrap();
    crate::support::facts::send(pid, nix::sys::signal::Signal::SIGTERM);
    terminal.wait(DEADLINE);
    bed.assert_no_process_left();
}
