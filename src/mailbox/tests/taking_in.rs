//! Taking in what anybody may have written.

use super::*;

#[test]
fn a_message_goes_from_sender_to_transcript_and_archive_once() {
    let scene = Scene::new();
    let long = "é".repeat(150_000);
    scene.send("one");
    scene.send(&long);
    let shown = waiting(&scene.workspace, &name("alice")).unwrap();
    assert_eq!(shown.len(), 2);
    let (mut inbox, mut transcript, _) = scene.start();
    let both = ["one", &long];
    let intake = inbox.take_in(&mut transcript).unwrap();
    assert!(texts(&intake) == both, "a long text is not whole");
    assert_eq!(fs::read(scene.mailbox()).unwrap(), b"");
    assert!(inbox.take_in(&mut transcript).unwrap().messages.is_empty());
    assert!(scene.archived() == both && scene.delivered() == both);
}

#[test]
fn bad_lines_go_to_quarantine_and_are_told_once() {
    let scene = Scene::new();
    scene.send("one");
    scene
        .write(b"garbage\n[]\nnull\n{\"from\":\"bob\",\"content\":5,\"type\":\"odd\"}\n\xff\xfe\n");
    scene.write(&vec![b'x'; 3 * 1024 * 1024]);
    scene.write(b"\r\n\n");
    scene.send("two");
    let (mut inbox, mut transcript, _) = scene.start();
    let intake = inbox.take_in(&mut transcript).unwrap();
    assert_eq!(texts(&intake), ["one", "5", "two"]);
    assert_eq!(intake.damaged.len(), 5, "{:?}", intake.damaged);
    let kept: Vec<PathBuf> = fs::read_dir(scene.workspace.quarantine_dir())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(kept.len(), 2, "{kept:?}");
    let bytes = kept.iter().map(|path| fs::read(path).unwrap());
    assert!(
        bytes
            .clone()
            .any(|bytes| bytes.starts_with(b"garbage\n[]\nnull\n\xff\xfe\nxxx"))
    );
    assert!(bytes.clone().all(|bytes| bytes.len() < 100_000));
    let again = inbox.take_in(&mut transcript).unwrap();
    assert!(again.damaged.is_empty() && again.messages.is_empty());
}

/// An owner is woken by every change of its mailbox, its own included.
#[test]
fn a_torn_tail_after_what_was_taken_in_changes_the_file_once() {
    let scene = Scene::new();
    scene.send("one");
    scene.write(b"{\"from\":\"bob");
    let (mut inbox, mut transcript, _) = scene.start();
    assert_eq!(texts(&inbox.take_in(&mut transcript).unwrap()), ["one"]);
    let changed = || {
        let found = fs::metadata(scene.mailbox()).unwrap();
        (found.ctime(), found.ctime_nsec())
    };
    let before = changed();
    for _ in 0..3 {
        assert!(inbox.take_in(&mut transcript).unwrap().messages.is_empty());
    }
    assert_eq!(changed(), before);
    scene.write(b"\",\"content\":\"two\"}\n");
    assert_eq!(texts(&inbox.take_in(&mut transcript).unwrap()), ["two"]);
    assert_eq!(fs::read(scene.mailbox()).unwrap(), b"");
}

#[test]
fn the_same_nameless_line_is_a_new_message_each_time_also_after_a_restart() {
    let scene = Scene::new();
    for _ in 0..3 {
        scene.write(b"{\"from\":\"user\",\"content\":\"go on\"}\n");
        assert_eq!(scene.take_in(), ["go on"]);
    }
    assert_eq!(scene.delivered(), ["go on"; 3]);
}

#[test]
fn a_clock_that_goes_back_changes_no_order() {
    let scene = Scene::new();
    for (nr, timestamp) in [5_000_000_000_000, 3, 0, u64::MAX, 7].iter().enumerate() {
        let text = format!("{nr}");
        let mut message = Message::new(&AgentName::lead(), &name("alice"), Kind::Message, text);
        message.timestamp = *timestamp;
        scene.post().deliver(&message).unwrap();
    }
    assert_eq!(scene.take_in(), ["0", "1", "2", "3", "4"]);
}

#[test]
fn a_retry_is_dropped_and_a_borrowed_id_is_not_lost() {
    let scene = Scene::new();
    let message = Message::new(&AgentName::lead(), &name("alice"), Kind::Message, "once");
    scene.post().deliver(&message).unwrap();
    scene.post().deliver(&message).unwrap();
    assert_eq!(scene.take_in(), ["once"]);
    scene.post().deliver(&message).unwrap();
    assert_eq!(scene.take_in(), [""; 0]);
    let other = Message {
        content: "other".to_owned(),
        ..message
    };
    scene.post().deliver(&other).unwrap();
    assert_eq!(scene.take_in(), ["other"]);
    scene.post().deliver(&other).unwrap();
    assert_eq!(scene.take_in(), [""; 0]);
    assert_eq!(scene.delivered(), ["once", "other"]);
}

#[test]
fn a_mailbox_replaced_or_removed_by_hand_is_no_obstacle() {
    let scene = Scene::new();
    let (mut inbox, mut transcript, _) = scene.start();
    fs::remove_file(scene.mailbox()).unwrap();
    assert!(inbox.take_in(&mut transcript).unwrap().messages.is_empty());
    scene.send("one");
    assert_eq!(texts(&inbox.take_in(&mut transcript).unwrap()), ["one"]);
    put(
        &scene.mailbox(),
        b"\xef\xbb\xbf{\"from\":\"bob\",\"content\":\"by hand\"}\r\n",
    );
    assert_eq!(texts(&inbox.take_in(&mut transcript).unwrap()), ["by hand"]);
}
