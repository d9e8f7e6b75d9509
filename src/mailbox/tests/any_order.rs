//! Whatever is written in whatever order, whole lines come in once and in their order.

use proptest::prelude::*;

use super::*;

/// What may happen to a mailbox.
#[derive(Debug, Clone)]
enum Act {
    /// A message is sent as it should be.
    Send(String),
    /// Somebody writes bytes that hold no newline, without a lock.
    Scrawl(Vec<u8>),
    /// Somebody ends the line.
    Newline,
    /// A line without id, as people write them.
    ByHand,
    /// The owner takes in.
    TakeIn,
    /// The owner is killed between takes and starts again.
    Restart,
    /// The owner's last take-in turns out not to have emptied the mailbox, and it starts again.
    RestartUnfinished,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => any::<String>().prop_filter("not blank", |text| !text.trim().is_empty()).prop_map(Act::Send),
        1 => prop::collection::vec(any::<u8>().prop_filter("no newline", |byte| *byte != b'\n'), 1..40).prop_map(Act::Scrawl),
        1 => Just(Act::Newline),
        1 => Just(Act::ByHand),
        3 => Just(Act::TakeIn),
        1 => Just(Act::Restart),
        1 => Just(Act::RestartUnfinished),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whole_lines_come_in_once_and_in_order(acts in prop::collection::vec(act(), 1..40)) {
        let scene = Scene::new();
        let mut expected = Vec::new();
        let mut owner = scene.start();
        for act in acts {
            match act {
                Act::Send(text) => {
                    scene.send(&text);
                    expected.push(text);
                }
                Act::Scrawl(bytes) => scene.write(&bytes),
                Act::Newline => scene.write(b"\n"),
                Act::ByHand => {
                    scene.write(b"\n{\"from\":\"user\",\"content\":\"by hand\"}\n");
                    expected.push("by hand".to_owned());
                }
                Act::TakeIn => {
                    owner.0.take_in(&mut owner.1).unwrap();
                }
                Act::Restart => owner = scene.start(),
                Act::RestartUnfinished => {
                    owner.0.take_in(&mut owner.1).unwrap();
                    let text = "twice";
                    scene.send(text);
                    expected.push(text.to_owned());
                    let before = fs::read(scene.mailbox()).unwrap();
                    owner.0.take_in(&mut owner.1).unwrap();
                    // Only bytes that were taken in are put back, as a kill before the emptying leaves them.
                    let whole = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
                    let mut bytes = before[..whole].to_vec();
                    bytes.extend(fs::read(scene.mailbox()).unwrap());
                    put(&scene.mailbox(), &bytes);
                    owner = scene.start();
                }
            }
        }
        scene.write(b"\n");
        owner.0.take_in(&mut owner.1).unwrap();
        prop_assert_eq!(scene.delivered(), expected.clone());
        prop_assert_eq!(scene.archived(), expected);
        prop_assert_eq!(fs::read(scene.mailbox()).unwrap(), b"");
    }

    #[test]
    fn a_message_of_any_text_is_one_line_that_reads_back(text in any::<String>(), key in any::<String>()) {
        let sent = Message::new(&AgentName::lead(), &name("alice"), Kind::Message, text).with(&key, key.clone());
        let line = serde_json::to_vec(&sent).unwrap();
        prop_assert!(!line.contains(&b'\n'));
        let read = crate::mailbox::parse::parse(&line, 0, &name("alice"), 0).unwrap();
        prop_assert_eq!(read.message, sent);
    }
}
