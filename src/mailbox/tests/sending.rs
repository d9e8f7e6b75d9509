//! What is sent, what is refused, and where it lands.

use super::*;
use crate::mailbox::message::MAX_MESSAGE;

#[test]
fn what_cannot_be_sent_is_refused_and_leaves_nothing() {
    let scene = Scene::new();
    let send = |from: &str, to: &str, text: &str| {
        let mut message = Message::new(&name(from), &name("alice"), Kind::Message, text);
        to.clone_into(&mut message.to);
        scene.post().send(&mut message, &Two)
    };
    let unknown = send("lead", "alcie", "x").unwrap_err().to_string();
    assert!(
        unknown.contains("did you mean \"alice\"? There are: alice, bob"),
        "{unknown}"
    );
    assert!(matches!(
        send("lead", "../alice", "x"),
        Err(SendError::Unknown { .. })
    ));
    assert!(matches!(
        send("alice", "Alice", "x"),
        Err(SendError::ToSelf(_))
    ));
    assert!(matches!(
        send("lead", "team-lead", "x"),
        Err(SendError::ToSelf(_))
    ));
    assert!(matches!(
        send("lead", "alice", " \n\t"),
        Err(SendError::Empty)
    ));
    let long = send("lead", "alice", &"x".repeat(MAX_MESSAGE));
    assert!(matches!(long, Err(SendError::TooLong { size, .. }) if size > MAX_MESSAGE));
    assert!(!scene.workspace.mailboxes_dir().exists());
    assert_eq!(
        send("lead", "BOB", "x").unwrap(),
        Sent::Kept("stopped".to_owned())
    );
    assert!(scene.workspace.mailbox(&name("bob")).exists());
}

#[test]
fn the_person_is_written_to_where_the_lead_reads() {
    let scene = Scene::new();
    let mut message = Message::new(&name("alice"), &AgentName::user(), Kind::Message, "hello");
    assert_eq!(
        scene.post().send(&mut message, &Two).unwrap(),
        Sent::Delivered
    );
    let shown = waiting(&scene.workspace, &AgentName::lead()).unwrap();
    assert_eq!(shown[0].to, "user");
}

#[test]
fn mailboxes_that_lead_elsewhere_are_refused() {
    let scene = Scene::new();
    let mailbox = scene.mailbox();
    let elsewhere = scene.workspace.root().join("elsewhere");
    put(&elsewhere, b"");
    fs::create_dir_all(mailbox.parent().unwrap()).unwrap();
    let mut message = Message::new(&AgentName::lead(), &name("alice"), Kind::Message, "x");
    let mut refused = |what: &str| {
        let error = scene.post().send(&mut message, &Two).unwrap_err();
        assert!(
            matches!(error, SendError::Lock(_) | SendError::Store(_)),
            "{what}: {error}"
        );
        assert_eq!(fs::read(&elsewhere).unwrap(), b"", "{what}");
        let (mut transcript, replay) = scene.transcript();
        let opened = Inbox::open(
            &scene.workspace,
            &name("alice"),
            &mut transcript,
            &replay,
            Durability::Process,
        );
        assert!(opened.is_err(), "{what}");
        assert!(waiting(&scene.workspace, &name("alice")).is_err(), "{what}");
        fs::remove_file(&mailbox).unwrap();
    };
    symlink(&elsewhere, &mailbox).unwrap();
    refused("a link");
    fs::hard_link(&elsewhere, &mailbox).unwrap();
    refused("a second name");
    nix::unistd::mkfifo(&mailbox, nix::sys::stat::Mode::S_IRWXU).unwrap();
    refused("a FIFO");
    fs::remove_dir(mailbox.parent().unwrap()).unwrap();
    fs::create_dir(scene.workspace.root().join("dir")).unwrap();
    symlink(
        scene.workspace.root().join("dir"),
        mailbox.parent().unwrap(),
    )
    .unwrap();
    assert!(scene.post().deliver(&message).is_err());
}
