//! The book's decisions, and its keeping.

use super::*;
use crate::clock::Timestamp;
use crate::ids::{AgentName, TaskId};
use crate::workspace::Workspace;

fn holder(name: &str) -> Holder {
    Holder {
        agent: AgentName::parse(name).unwrap(),
        task: Some(TaskId::random()),
    }
}

fn at(ms: u64) -> Timestamp {
    Timestamp::from_ms(1_764_522_000_000 + ms)
}

fn of(holder: &Holder) -> impl Fn(&Lease) -> bool + use<> {
    let agent = holder.agent.clone();
    move |lease| lease.holder.agent == agent
}

/// To whom, about which file, and whether it is a conflict.
fn owed(book: &Book) -> Vec<(String, String, bool)> {
    let owed = book.owed().iter();
    owed.map(|notice| {
        let is_conflict = matches!(notice.subject, Subject::Conflict { .. });
        (notice.to.to_string(), notice.path.clone(), is_conflict)
    })
    .collect()
}

#[test]
fn a_file_is_one_agents_until_its_round_ends() {
    let (alice, bob) = (holder("alice"), holder("bob"));
    let mut book = Book::default();
    assert_eq!(book.take("/w/a", &alice, at(1)), Taken::New);
    assert_eq!(book.take("/w/a", &alice, at(2)), Taken::Again);
    assert_eq!(book.take("/w/b", &bob, at(3)), Taken::New, "another file");
    let Taken::Refused(lease) = book.take("/w/a", &bob, at(4)) else {
        panic!("two have it");
    };
    assert_eq!((&lease.holder, lease.since), (&alice, at(1)));
    book.end(at(5), of(&alice));
    assert_eq!(book.take("/w/a", &bob, at(6)), Taken::New);
    assert_eq!(book.leases().len(), 2, "all of them are bob's");
}

#[test]
fn who_waits_is_told_once_and_the_lead_of_each_pair_once() {
    let (alice, bob, carol) = (holder("alice"), holder("bob"), holder("carol"));
    let mut book = Book::default();
    book.take("/w/a", &alice, at(1));
    for _ in 0..3 {
        book.take("/w/a", &bob, at(2));
        book.refuse("/w/a", &carol, at(2));
    }
    let conflict = || ("lead".to_owned(), "/w/a".to_owned(), true);
    let free = |to: &str| (to.to_owned(), "/w/a".to_owned(), false);
    assert_eq!(owed(&book), [conflict(), conflict()], "two pairs");
    book.end(at(3), of(&alice));
    assert_eq!(owed(&book)[2..], [free("bob"), free("carol")]);
    let told = book.owed().to_vec();
    book.paid(&told[..3]);
    assert_eq!(owed(&book), [free("carol")]);
    book.paid(&told);

    book.take("/w/a", &bob, at(4));
    book.take("/w/a", &alice, at(5));
    assert_eq!(owed(&book), [], "the same pair, the other way round");
    book.end(at(6), of(&bob));
    assert_eq!(owed(&book), [free("alice")]);
}

#[test]
fn a_changed_file_is_told_of_if_it_is_known_who_changed_it() {
    let (alice, bob) = (holder("alice"), holder("bob"));
    let mut book = Book::default();
    book.found_changed("/w/a", &bob, at(1));
    book.take("/w/a", &bob, at(2));
    book.end(at(3), of(&bob));
    book.found_changed("/w/a", &bob, at(4));
    assert_eq!(owed(&book), [], "nobody else had it");
    book.found_changed("/w/a", &alice, at(5));
    let Subject::Conflict { refused, other } = &book.owed()[0].subject else {
        panic!("{:?}", book.owed());
    };
    assert_eq!((refused, other), (&alice, &bob));
    book.forget();
    book.found_changed("/w/a", &alice, at(6));
    assert_eq!(book.owed().len(), 1, "what is forgotten is not told");
}

#[test]
fn an_edit_that_came_to_nothing_leaves_no_trace_but_who_waited_is_told() {
    let (alice, bob) = (holder("alice"), holder("bob"));
    let mut book = Book::default();
    book.take("/w/a", &alice, at(1));
    book.take_back("/w/a", &alice.agent, at(2));
    assert_eq!(book, Book::default());
    book.take("/w/a", &alice, at(1));
    book.take("/w/a", &bob, at(2));
    book.take_back("/w/a", &alice.agent, at(3));
    assert_eq!(owed(&book).last().unwrap().0, "bob");
    let told = book.owed().to_vec();
    book.paid(&told);
    book.found_changed("/w/a", &holder("carol"), at(4));
    assert_eq!(owed(&book), [], "alice has changed nothing");
}

#[test]
fn a_book_does_not_grow_with_the_work_that_was_done() {
    let (alice, bob) = (holder("alice"), holder("bob"));
    let mut book = Book::default();
    for file in 0..3000 {
        let path = format!("/w/{file}");
        book.take(&path, &alice, at(1));
        book.take(&path, &bob, at(2));
        book.end(at(3), of(&alice));
        let told = book.owed().to_vec();
        book.paid(&told);
    }
    let bytes = serde_json::to_vec(&book).unwrap().len();
    assert!(bytes < 256 * 1024, "{bytes}");
}

#[test]
fn a_damaged_book_goes_to_quarantine_and_everything_is_free() {
    let scratch = tempfile::tempdir().unwrap();
    let workspace = Workspace::at(scratch.path().canonicalize().unwrap());
    let leases = Leases::new(workspace.clone());
    let (alice, bob) = (holder("alice"), holder("bob"));
    leases
        .change(|book| book.take("/w/a", &alice, at(1)))
        .unwrap();
    let kept = leases.read().unwrap().unwrap();
    assert_eq!(kept.leases()[0].holder, alice);
    let path = workspace.leases_dir().join("held.json");
    std::fs::write(&path, "{\"leases\": 3").unwrap();
    assert!(leases.read().unwrap().is_err());
    let taken = leases
        .change(|book| book.take("/w/a", &bob, at(2)))
        .unwrap();
    assert_eq!(taken, Taken::New);
    let kept = std::fs::read_dir(workspace.quarantine_dir()).unwrap();
    assert_eq!(kept.count(), 2, "the file and the reason");
}
