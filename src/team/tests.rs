//! Members, presences, the session and usage on real files.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::lead_presence::{living_lead, wait_for_death};
use super::usage::{Meter, record, spent};
use super::{LeadPresence, Member, MemberStatus, Presence, Roster, Session};
use crate::clock::Timestamp;
use crate::conversation::Usage;
use crate::ids::{AgentName, SessionId};
use crate::store::Durability;
use crate::workspace::Workspace;

fn scratch() -> (tempfile::TempDir, Workspace) {
    let scratch = tempfile::tempdir().unwrap();
    let workspace = Workspace::at(scratch.path().canonicalize().unwrap());
    (scratch, workspace)
}

fn name(text: &str) -> AgentName {
    AgentName::parse(text).unwrap()
}

fn roster(workspace: &Workspace) -> Roster {
    Roster::new(workspace.clone(), Durability::Process)
}

fn member(name: &str, started: u64) -> Member {
    serde_json::from_value(json!({
        "name": name, "role": "coder", "model": "script:x", "status": "starting", "pid": null,
        "startedAt": Timestamp::from_ms(started), "task": null, "mood": "good",
    }))
    .unwrap()
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests play people who edit files"
)]
fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn looking_at_an_empty_workspace_leaves_no_trace() {
    let (_scratch, workspace) = scratch();
    let roster = roster(&workspace);
    assert!(roster.list().unwrap().is_empty());
    assert_eq!(roster.get(&name("alice")).unwrap(), None);
    assert!(!roster.is_alive(&name("alice")));
    assert_eq!(living_lead(&workspace), None);
    wait_for_death(&workspace).unwrap();
    assert_eq!(Session::load(&workspace), None);
    assert!(spent(&workspace, None).unwrap().is_empty());
    assert_eq!(fs::read_dir(workspace.root()).unwrap().count(), 0);
}

#[test]
fn a_name_is_one_member_in_any_case() {
    let (_scratch, workspace) = scratch();
    let roster = roster(&workspace);
    roster.put(&member("Alice", 1)).unwrap();
    let read = roster.get(&name("aLICE")).unwrap().unwrap();
    assert_eq!(read.name.as_str(), "Alice");
    let changed = roster
        .change(&name("alice"), |member| member.status = MemberStatus::Idle)
        .unwrap()
        .unwrap();
    assert_eq!(changed.extra["mood"], "good");
    assert_eq!(roster.list().unwrap(), [changed]);
    let presence = Presence::take(&workspace, &name("ALICE")).unwrap().unwrap();
    assert!(roster.is_alive(&name("alice")));
    assert!(workspace.member_lock(&name("Alice")).exists());
    drop(presence);
    assert!(!roster.is_alive(&name("Alice")));
    roster.remove(&name("ALICE")).unwrap();
    assert!(roster.list().unwrap().is_empty());
    roster.remove(&name("ALICE")).unwrap();
}

#[test]
fn one_is_lost_since_its_record_was_last_written() {
    let (_dir, workspace) = scratch();
    let roster = roster(&workspace);
    let before = Timestamp::now().as_ms();
    let mut alice = member("alice", 1);
    alice.status = MemberStatus::Working;
    roster.put(&alice).unwrap();
    let since = roster.lost_since(&alice).unwrap();
    // A file system's clock may be a little behind.
    assert!(since.as_ms() + 5_000 >= before, "{since}");
    let presence = Presence::take(&workspace, &alice.name).unwrap().unwrap();
    assert_eq!(roster.lost_since(&alice), None, "it lives");
    drop(presence);
    for status in [MemberStatus::Stopped, MemberStatus::Failed] {
        alice.status = status;
        assert_eq!(roster.lost_since(&alice), None, "{status:?}");
    }
    assert_eq!(roster.lost_since(&member("bob", 1)), None, "no record");
}

#[test]
fn members_come_in_the_order_of_their_start_and_damaged_ones_are_only_reported() {
    let (_scratch, workspace) = scratch();
    let roster = roster(&workspace);
    for (name, started) in [("late", 2), ("early", 1), ("also", 2)] {
        roster.put(&member(name, started)).unwrap();
    }
    put(&workspace.member(&name("torn")), b"{\"name\":\"to");
    put(
        &workspace.member(&name("other")),
        json!(member("early", 1)).to_string().as_bytes(),
    );
    put(&workspace.members_dir().join("not a name.json"), b"{}");
    put(&workspace.members_dir().join("lead.json"), b"{}");
    let listed: Vec<String> = roster
        .list()
        .unwrap()
        .iter()
        .map(|member| member.name.to_string())
        .collect();
    assert_eq!(listed, ["early", "also", "late"]);
    assert_eq!(roster.get(&name("torn")).unwrap(), None);
    assert!(
        roster
            .change(&name("torn"), |_| panic!("changed"))
            .unwrap()
            .is_none()
    );
    let mut damaged = roster.damaged().unwrap();
    damaged.sort();
    let files: Vec<_> = damaged
        .iter()
        .map(|(path, _)| path.file_stem().unwrap().to_str().unwrap())
        .collect();
    assert_eq!(files, ["other", "torn"]);
    assert_eq!(
        fs::read(workspace.member(&name("torn"))).unwrap(),
        b"{\"name\":\"to"
    );
    roster.put(&member("torn", 3)).unwrap();
    let kept: Vec<_> = fs::read_dir(workspace.quarantine_dir())
        .unwrap()
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect();
    assert!(
        kept.contains(&b"{\"name\":\"to".to_vec()),
        "not overwritten"
    );
}

#[test]
fn changes_by_many_are_all_kept() {
    let (_scratch, workspace) = scratch();
    let roster = roster(&workspace);
    roster.put(&member("alice", 1)).unwrap();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..25 {
                    roster
                        .change(&name("alice"), |member| member.turns += 1)
                        .unwrap();
                }
            });
        }
    });
    assert_eq!(roster.get(&name("alice")).unwrap().unwrap().turns, 200);
}

#[test]
fn a_second_alice_is_refused_while_the_first_lives() {
    let (_scratch, workspace) = scratch();
    let first = Presence::take(&workspace, &name("alice")).unwrap().unwrap();
    let text = fs::read_to_string(workspace.member_lock(&name("alice"))).unwrap();
    assert_eq!(text, format!("pid {}\n", std::process::id()));
    assert!(
        Presence::take(&workspace, &name("Alice"))
            .unwrap()
            .is_none()
    );
    drop(first);
    assert!(
        Presence::take(&workspace, &name("alice"))
            .unwrap()
            .is_some()
    );
}

#[test]
fn probes_do_not_keep_a_presence_from_being_taken() {
    let (_scratch, workspace) = scratch();
    let roster = roster(&workspace);
    drop(Presence::take(&workspace, &name("alice")).unwrap());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                roster.is_alive(&name("alice"));
            }
        });
        let taken =
            (0..200).all(|_| matches!(Presence::take(&workspace, &name("alice")), Ok(Some(_))));
        done.store(true, Ordering::Relaxed);
        assert!(taken);
    });
}

#[test]
fn one_lead_at_a_time_and_the_refusal_names_it() {
    let (_scratch, workspace) = scratch();
    for stale in [workspace.lead_lock(), workspace.lead_alive()] {
        put(
            &stale,
            &b"pid 99999999 left by somebody, \xff garbage\n".repeat(100),
        );
    }
    assert_eq!(living_lead(&workspace), None);
    let lead = LeadPresence::take(&workspace).unwrap().unwrap();
    assert_eq!(living_lead(&workspace), Some(Some(std::process::id())));
    let refused = LeadPresence::take(&workspace).unwrap().unwrap_err();
    assert_eq!(refused, Some(std::process::id()));
    lead.give_up();
    assert_eq!(living_lead(&workspace), None);
    LeadPresence::take(&workspace).unwrap().unwrap().give_up();
}

#[test]
fn the_leads_death_wakes_those_who_wait_for_it_and_a_new_one_comes_in_at_once() {
    let (_scratch, workspace) = scratch();
    let lead = LeadPresence::take(&workspace).unwrap().unwrap();
    let (tell, told) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..4 {
            let (tell, workspace) = (tell.clone(), &workspace);
            scope.spawn(move || tell.send(wait_for_death(workspace)));
        }
        assert!(told.recv_timeout(Duration::from_millis(50)).is_err());
        lead.give_up();
        // Whoever had not been given the lock yet waits for the next one's end.
        LeadPresence::take(&workspace).unwrap().unwrap().give_up();
        for _ in 0..4 {
            told.recv_timeout(Duration::from_secs(30)).unwrap().unwrap();
        }
    });
}

#[test]
fn a_session_reads_back_and_a_torn_one_is_none() {
    let (_scratch, workspace) = scratch();
    let session = Session {
        id: SessionId::random(),
        generation: 3,
        pid: 4711,
        model: "script:x".to_owned(),
        started_at: Timestamp::from_ms(1_764_522_000_123),
        unattended: true,
        status: "working".to_owned(),
        person_at: None,
        stalled: [(name("alice"), Timestamp::from_ms(7))].into(),
        settings: json!({"maxTeammates": 2}),
    };
    session.save(&workspace, Durability::Process).unwrap();
    assert_eq!(Session::load(&workspace), Some(session));
    put(&workspace.session(), b"{\"id\":");
    assert_eq!(Session::load(&workspace), None);
}

#[test]
fn usage_adds_up_by_agent_and_session_and_bad_lines_count_for_nothing() {
    let (_scratch, workspace) = scratch();
    let usage = Usage {
        input: 1,
        output: 20,
        cache_read: 300,
        cache_write: 4000,
    };
    let call = |agent: &str, session: &str| {
        record(&workspace, &name(agent), "script:\"x\"", session, usage).unwrap();
    };
    let mut meter = Meter::new(&workspace, Some("ses_00000001"));
    assert_eq!(meter.look().unwrap().calls, 0);
    call("alice", "ses_00000001");
    call("Alice", "ses_00000001");
    call("lead", "ses_00000002");
    assert_eq!(meter.look().unwrap().calls, 2);
    let path = workspace.usage();
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(b"garbage\n{\"agent\":\"alice\"}\n{\"torn");
    put(&path, &bytes);
    call("lead", "ses_00000001");
    let mut twice = usage;
    twice += usage;
    let sum = meter.look().unwrap();
    assert_eq!((sum.calls, sum.usage.cache_write), (3, 12_000));
    assert_eq!(meter.agents()[&name("alice")].usage, twice);
    let all = spent(&workspace, None).unwrap();
    assert_eq!(all[&name("lead")].calls, 2);
    assert_eq!(all[&name("lead")].usage, twice);
    put(&path, b"");
    assert_eq!(meter.look().unwrap().calls, 0);
}
