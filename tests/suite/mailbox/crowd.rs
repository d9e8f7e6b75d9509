//! Many senders and a reader that never rests.

use pitcrew::mailbox::Post;
use pitcrew::mailbox::inbox::{archived, waiting};
use pitcrew::store::Durability;

use super::{Order, alice, message, note, owner, process, scratch, told_workspace};
use crate::support::DEADLINE;
use crate::support::again::{ends, together, wait_for_all};
use crate::support::facts::now;

const SENDERS: usize = 50;
const EACH: usize = 200;

#[test]
fn what_fifty_processes_send_is_what_the_reader_gets_in_each_ones_order() {
    let (_scratch, workspace) = scratch();
    let (mut inbox, mut transcript, _) = owner(&workspace);
    let senders = (0..SENDERS)
        .map(|nr| {
            process(
                &workspace,
                "crowd::process_that_sends_many",
                &format!("s{nr}"),
            )
        })
        .collect();
    let senders = together(senders);
    let mut order = Order::new();
    let (mut got, until) = (0, now() + 5 * DEADLINE);
    while got < SENDERS * EACH {
        assert!(now() < until, "only {got} messages came");
        for message in inbox.take_in(&mut transcript).unwrap().messages {
            note(&mut order, message);
            got += 1;
        }
        std::thread::yield_now();
    }
    drop(ends(senders));
    assert_eq!(order.len(), SENDERS);
    for (sender, numbers) in &order {
        assert_eq!(*numbers, (0..EACH).collect::<Vec<_>>(), "{sender}");
    }
    assert!(inbox.take_in(&mut transcript).unwrap().messages.is_empty());
    assert!(waiting(&workspace, &alice()).unwrap().is_empty());
    let kept = archived(&workspace, &alice()).unwrap();
    assert_eq!(kept.len(), SENDERS * EACH);
    let left = std::fs::metadata(workspace.mailbox(&alice())).unwrap();
    assert_eq!(left.len(), 0);
}

#[test]
#[ignore = "a process that other tests start"]
fn process_that_sends_many() {
    let Some((workspace, name)) = told_workspace() else {
        return;
    };
    let post = Post::new(workspace, Durability::Process);
    wait_for_all();
    for number in 0..EACH {
        // Now and then one that is longer than any buffer.
        let size = if number % 50 == 7 {
            70_000
        } else {
            number * 13 % 600
        };
        let text = format!("{number} {}", "x".repeat(size));
        post.deliver(&message(&name, &text)).unwrap();
    }
}

#[test]
fn messages_of_any_size_that_many_send_at_once_are_never_mixed() {
    let (_scratch, workspace) = scratch();
    let senders = (0..8)
        .map(|nr| {
            process(
                &workspace,
                "crowd::process_that_sends_any_size",
                &format!("s{nr}"),
            )
        })
        .collect();
    drop(ends(together(senders)));
    let sizes = waiting(&workspace, &alice()).unwrap();
    let mut sizes: Vec<usize> = sizes.iter().map(|message| message.content.len()).collect();
    sizes.sort_unstable();
    let wanted: Vec<usize> = SIZES.iter().flat_map(|size| [*size; 8]).collect();
    assert_eq!(sizes, wanted);
}

/// The last one's line has little less than 1 MiB.
const SIZES: [usize; 5] = [1, 300, 4096, 65_536, 1_048_000];

#[test]
#[ignore = "a process that other tests start"]
fn process_that_sends_any_size() {
    let Some((workspace, name)) = told_workspace() else {
        return;
    };
    let post = Post::new(workspace, Durability::Process);
    wait_for_all();
    for size in SIZES {
        post.deliver(&message(&name, &"y".repeat(size))).unwrap();
    }
}
