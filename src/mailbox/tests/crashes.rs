//! A kill at every step and every byte: nothing is lost, nothing comes twice.

use super::*;

#[test]
fn a_line_cut_at_any_byte_stands_alone() {
    let line = json!(Message::new(
        &AgentName::lead(),
        &name("alice"),
        Kind::Message,
        "torn é 🦀"
    ))
    .to_string();
    for cut in 0..=line.len() {
        let scene = Scene::new();
        scene.write(&line.as_bytes()[..cut]);
        scene.send("whole");
        let (mut inbox, mut transcript, _) = scene.start();
        let intake = inbox.take_in(&mut transcript).unwrap();
        let expected: &[&str] = if cut == line.len() {
            &["torn é 🦀", "whole"]
        } else {
            &["whole"]
        };
        assert_eq!(texts(&intake), expected, "cut at {cut}");
        assert_eq!(
            intake.damaged.len(),
            usize::from(cut > 0 && cut < line.len()),
            "cut at {cut}"
        );
    }
}

#[test]
fn what_stands_after_the_last_newline_waits_for_its_end() {
    let line = r#"{"id":"late","from":"bob","content":"late"}"#;
    for cut in 1..line.len() {
        let scene = Scene::new();
        scene.send("early");
        scene.write(&line.as_bytes()[..cut]);
        assert_eq!(scene.take_in(), ["early"]);
        assert!(
            fs::read(scene.mailbox())
                .unwrap()
                .ends_with(&line.as_bytes()[..cut])
        );
        assert_eq!(scene.take_in(), [""; 0]);
        assert!(
            waiting(&scene.workspace, &name("alice"))
                .unwrap()
                .is_empty()
        );
        scene.write(&line.as_bytes()[cut..]);
        scene.write(b"\n");
        assert_eq!(scene.take_in(), ["late"], "cut at {cut}");
        assert_eq!(fs::read(scene.mailbox()).unwrap(), b"");
    }
}

/// Leaves the files as a kill would that struck after some of a take-in's writes, and lets the owner start again.
#[test]
fn a_kill_at_any_byte_of_a_take_in_neither_loses_nor_doubles() {
    let scene = Scene::new();
    scene.send("old");
    scene.take_in();
    scene.send("one");
    scene.write(b"{\"from\":\"bob\",\"content\":\"nameless\"}\n");
    scene.send("two");
    let before = scene.files();
    assert_eq!(scene.take_in().len(), 3);
    let mut after = scene.files();
    // The notes come with the emptying, which here has not happened.
    let note = String::from_utf8_lossy(&after[1].1)
        .find("{\"type\":\"note\"")
        .unwrap();
    after[1].1.truncate(note);
    // In the order of the writes: transcript (1), archive (2), mailbox (0).
    for (step, file) in [(0, 1), (1, 2)] {
        let (from, to) = (before[file].1.len(), after[file].1.len());
        for cut in from..=to {
            for (index, (path, bytes)) in before.iter().enumerate() {
                let done = (index == 1 && step > 0).then_some(&after[1].1);
                put(path, done.unwrap_or(bytes));
            }
            put(&after[file].0, &after[file].1[..cut]);
            scene.send("three");
            scene.take_in();
            let expected = ["old", "one", "nameless", "two", "three"];
            assert_eq!(
                scene.delivered(),
                expected,
                "file {file} cut at {cut} of {from}..{to}"
            );
            let mut archived = scene.archived();
            archived.dedup();
            assert_eq!(
                archived, expected,
                "file {file} cut at {cut} of {from}..{to}"
            );
            assert_eq!(fs::read(scene.mailbox()).unwrap(), b"");
        }
    }
}

#[test]
fn new_mail_behind_an_unfinished_take_in_is_not_touched_by_finishing_it() {
    let scene = Scene::new();
    scene.send("one");
    let before = scene.files();
    scene.take_in();
    put(&before[0].0, &before[0].1);
    scene.send("two");
    let (mut inbox, mut transcript, _) = scene.start();
    let left = waiting(&scene.workspace, &name("alice")).unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(texts(&inbox.take_in(&mut transcript).unwrap()), ["two"]);
    assert_eq!(scene.archived(), ["one", "two"]);
}

#[test]
fn an_archive_that_cannot_be_written_costs_no_message() {
    let scene = Scene::new();
    scene.send("one");
    let archive = scene.workspace.archive(&name("alice"));
    fs::create_dir_all(&archive).unwrap();
    let (mut inbox, mut transcript, _) = scene.start();
    assert_eq!(texts(&inbox.take_in(&mut transcript).unwrap()), ["one"]);
    scene.send("two");
    assert!(inbox.take_in(&mut transcript).is_err());
    fs::remove_dir(&archive).unwrap();
    assert_eq!(texts(&inbox.take_in(&mut transcript).unwrap()), ["two"]);
    assert_eq!(scene.archived(), ["one", "two"]);
    assert_eq!(fs::read(scene.mailbox()).unwrap(), b"");
}

#[test]
fn the_same_nameless_line_cut_short_again_is_neither_lost_nor_doubled() {
    let scene = Scene::new();
    let line = b"{\"from\":\"user\",\"content\":\"go on\"}\n";
    scene.write(line);
    scene.take_in();
    scene.write(line);
    let before = scene.files();
    scene.take_in();
    // The second take-in was killed after its record: the first one's notes must not hide that.
    let whole = String::from_utf8_lossy(&scene.files()[1].1).into_owned();
    let mut notes = whole.match_indices("{\"type\":\"note\"");
    let (note, _) = notes.nth(2).unwrap();
    let record = whole.as_bytes()[..note].to_vec();
    put(&before[0].0, &before[0].1);
    put(&before[1].0, &record);
    put(&before[2].0, &before[2].1);
    assert_eq!(scene.take_in(), [""; 0]);
    assert_eq!(scene.delivered(), ["go on"; 2]);
    assert_eq!(scene.archived(), ["go on"; 2]);
}

/// The archive could not be written, the message was put before the model all the same, and then the owner died.
#[test]
fn what_was_read_before_it_was_archived_is_archived_by_the_next_start() {
    let scene = Scene::new();
    let id = scene.send("read at once");
    let archive = scene.workspace.archive(&name("alice"));
    let (mut inbox, mut transcript, _) = scene.start();
    fs::create_dir_all(&archive).unwrap();
    assert_eq!(
        texts(&inbox.take_in(&mut transcript).unwrap()),
        ["read at once"]
    );
    transcript
        .append(&Record::User {
            text: "read at once".to_owned(),
            mail: vec![id],
            by: None,
            at: Timestamp::from_ms(0),
        })
        .unwrap();
    drop((inbox, transcript));
    fs::remove_dir(&archive).unwrap();
    assert_eq!(scene.take_in(), [""; 0]);
    assert_eq!(scene.archived(), ["read at once"]);
    assert_eq!(fs::read(scene.mailbox()).unwrap(), b"");
}
