//! Files damaged in every way: looked at without a change, mended without a loss.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use super::survey::{Act, Remedy};
use super::*;
use crate::board::{BoardOptions, Claimant, NewTask};
use crate::clock::{self, Timestamp};
use crate::conversation::{Record, Transcript, Usage};
use crate::ids::{AgentName, RequestId, TaskId};
use crate::lease::{Holder, Leases};
use crate::mailbox::{Kind, Message, Post};
use crate::request::{NewRequest, RequestKind};
use crate::store::Durability;
use crate::team::{Member, Presence, grants, usage};

/// A small team at work, whose processes are all gone.
struct Scene {
    dir: tempfile::TempDir,
    workspace: Workspace,
    board: Board,
    roster: Roster,
    requests: Requests,
}

fn agent(name: &str) -> AgentName {
    AgentName::parse(name).unwrap()
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(dir.path().canonicalize().unwrap());
        let options = BoardOptions {
            durability: Durability::Process,
            max_attempts: 3,
            usable: Arc::new(|_| Ok(())),
            contains: Arc::new(|_, _| Ok(())),
        };
        let scene = Self {
            board: Board::open(&workspace, options).unwrap(),
            roster: Roster::new(workspace.clone(), Durability::Process),
            requests: Requests::new(workspace.clone(), Durability::Process),
            workspace,
            dir,
        };
        scene.fill();
        scene
    }

    fn fill(&self) {
        let lead = AgentName::lead();
        let alice = agent("alice");
        let new = |nr: u32| NewTask {
            id: TaskId::random(),
            subject: format!("task {nr}"),
            description: "d".repeat(50),
            blocked_by: Vec::new(),
            assignee: None,
            worktree: None,
            verify: None,
        };
        let tasks: Vec<NewTask> = (0..3).map(new).collect();
        let made = self.board.lock(&lead).unwrap().create(&tasks).unwrap();
        let claimant = Claimant {
            name: &alice,
            role: "coder",
        };
        let mut board = self.board.lock(&lead).unwrap();
        drop(board.claim(&made[0].id, claimant).unwrap());
        drop(board);
        let member = json!({"name": "alice", "role": "coder", "model": "m:x", "status": "working", "pid": 1,
            "startedAt": Timestamp::from_ms(1), "task": made[0].id, "turns": 3});
        let member: Member = serde_json::from_value(member).unwrap();
        self.roster.put(&member).unwrap();
        let ask = NewRequest {
            kind: RequestKind::Permission,
            sender: alice.clone(),
            target: AgentName::user(),
            payload: json!({}),
            work_version: None,
            task_id: None,
        };
        drop(self.requests.create(ask).unwrap());
        let post = Post::new(self.workspace.clone(), Durability::Process);
        for nr in 0..4 {
            let message = Message::new(&lead, &alice, Kind::Message, format!("message {nr}"));
            post.deliver(&message).unwrap();
        }
        let at = Timestamp::now();
        let start = Record::Start {
            agent: "alice".into(),
            session: None,
            at,
        };
        let path = self.workspace.transcript(&alice);
        let (mut transcript, _) = Transcript::open(&path, &start, Durability::Process).unwrap();
        for nr in 0..3 {
            let record = Record::Interrupted {
                why: format!("why {nr}"),
                at,
            };
            transcript.append(&record).unwrap();
            usage::record(&self.workspace, &alice, "m:x", "s", Usage::default()).unwrap();
            let request = RequestId::random();
            grants::keep(
                &self.workspace,
                &alice,
                ("bash(x)", false),
                &request,
                Durability::Process,
            )
            .unwrap();
        }
    }

    fn books(&self) -> Books<'_> {
        Books {
            workspace: &self.workspace,
            board: &self.board,
            roster: &self.roster,
            requests: &self.requests,
        }
    }

    /// Every file with its bytes, but those in quarantine.
    fn everything(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut dirs = vec![self.dir.path().canonicalize().unwrap()];
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    if !path.ends_with("quarantine") {
                        dirs.push(path);
                    }
                } else {
                    found.insert(path.clone(), fs::read(path).unwrap());
                }
            }
        }
        found
    }

    /// What there is to be done, and what of it that only a person can do.
    fn acts(&self) -> Vec<Act> {
        let found = survey(self.books()).findings;
        found
            .into_iter()
            .filter_map(|finding| match finding.remedy {
                Remedy::Act(act) => Some(act),
                Remedy::None | Remedy::Person(_) | Remedy::Others(_) => None,
            })
            .collect()
    }

    fn mend_all(&self) {
        for act in self.acts() {
            mend::mend(self.books(), &AgentName::user(), &act)
                .unwrap_or_else(|error| panic!("{act:?}: {error:#}"));
        }
    }
}

/// The lines of `bytes` that are whole and JSON.
fn good_lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    let whole = bytes.rsplit_once_newline();
    whole
        .split(|byte| *byte == b'\n')
        .filter(|line| serde_json::from_slice::<serde_json::Map<_, _>>(line).is_ok())
        .map(<[u8]>::to_vec)
        .collect()
}

trait WholeLines {
    fn rsplit_once_newline(&self) -> &[u8];
}

impl WholeLines for [u8] {
    fn rsplit_once_newline(&self) -> &[u8] {
        let end = self.iter().rposition(|byte| *byte == b'\n');
        &self[..end.map_or(0, |end| end + 1)]
    }
}

/// As if it had been left so some time ago.
fn age(path: &Path) {
    let then = std::time::SystemTime::UNIX_EPOCH + Duration::from_millis(clock::now_ms() - 60_000);
    fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(then)
        .unwrap();
}

#[test]
fn what_dead_processes_left_is_found_and_mended_once() {
    let scene = Scene::new();
    let acts = scene.acts();
    let released = acts
        .iter()
        .any(|act| matches!(act, Act::Release(_, Some(owner), 1) if *owner == agent("alice")));
    let closed = acts.iter().any(|act| matches!(act, Act::Close(..)));
    assert!(released && closed && acts.len() == 2, "{acts:?}");
    scene.mend_all();
    assert_eq!(scene.acts(), []);
    let told = survey(scene.books()).findings;
    assert!(
        told.iter()
            .any(|found| found.check == "team" && found.remedy == Remedy::None)
    );
}

#[test]
fn mail_that_was_recorded_and_not_taken_out_stays_as_it_is() {
    let scene = Scene::new();
    scene.mend_all();
    let alice = agent("alice");
    let path = scene.workspace.mailbox(&alice);
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend(b"garbage\n");
    fs::write(&path, &bytes).unwrap();
    let record = json!({"type": "mail", "messages": [{"id": "a"}], "bytes": bytes.len(),
        "hash": format!("{:x}", sha2::Digest::finalize(sha2::Digest::chain_update(<sha2::Sha256 as sha2::Digest>::new(), &bytes))),
        "at": Timestamp::now()});
    let mut transcript = fs::File::options()
        .append(true)
        .open(scene.workspace.transcript(&alice))
        .unwrap();
    std::io::Write::write_all(&mut transcript, format!("{record}\n").as_bytes()).unwrap();
    let [act] = &scene.acts()[..] else {
        panic!("one bad line");
    };
    let refused = mend::mend(scene.books(), &AgentName::user(), act).unwrap_err();
    assert!(refused.to_string().contains("when alice starts again"));
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn leases_of_the_dead_are_found_and_ended_and_who_waits_is_owed_word() {
    let scene = Scene::new();
    scene.mend_all();
    let leases = Leases::new(scene.workspace.clone());
    let holder = |name: &str| Holder {
        agent: agent(name),
        task: None,
    };
    let now = Timestamp::now();
    let _bob_lives = Presence::take(&scene.workspace, &agent("bob"))
        .unwrap()
        .unwrap();
    leases
        .change(|book| {
            for (path, name) in [("/a", "alice"), ("/b", "bob"), ("/c", "alice")] {
                book.take(path, &holder(name), now);
            }
            book.take("/a", &holder("bob"), now);
        })
        .unwrap();
    let acts = scene.acts();
    assert_eq!(acts, [Act::EndLeases(agent("alice"))]);
    let told = survey(scene.books()).findings;
    assert!(
        told.iter()
            .any(|found| found.detail == "alice, who is gone, is noted as editing /a, /c")
    );
    scene.mend_all();
    assert_eq!(scene.acts(), []);
    let book = leases.read().unwrap().unwrap();
    assert_eq!(book.leases().len(), 1);
    assert!(book.owed().iter().any(|notice| notice.to == agent("bob")));
}

#[test]
fn leftovers_are_swept_once_their_writer_must_be_gone() {
    let scene = Scene::new();
    scene.mend_all();
    let state = scene.workspace.state_dir();
    let left = [
        scene
            .workspace
            .tasks_dir()
            .join(".task_0000000a.json.Ab12.tmp"),
        scene.workspace.members_dir().join(".alice.json.Ab12.tmp"),
        scene
            .workspace
            .requests_dir()
            .join(".req_0000000a.json.Ab12.tmp"),
        state.join(".session.json.Ab12.tmp"),
        scene.workspace.leases_dir().join(".held.json.Ab12.tmp"),
    ];
    let foreign = [
        scene.workspace.tasks_dir().join(".notes.x.y.tmp"),
        scene.workspace.tasks_dir().join("notes.tmp"),
        state.join("members/notes"),
    ];
    crate::store::atomic::ensure_dir(&scene.workspace.leases_dir()).unwrap();
    for path in left.iter().chain(&foreign) {
        fs::write(path, "half").unwrap();
    }
    assert_eq!(scene.acts(), [], "a writer may still be at it");
    left.iter().chain(&foreign).for_each(|path| age(path));
    assert_eq!(scene.acts().len(), left.len());
    scene.mend_all();
    assert!(left.iter().all(|path| !path.exists()));
    assert!(foreign.iter().all(|path| path.exists()));
}

#[test]
fn the_eye_moves_what_looked_the_same_twice_and_tells_it_once() {
    let scene = Scene::new();
    let path = scene.workspace.tasks_dir().join("task_0000000a.json");
    fs::write(&path, "{").unwrap();
    let start = clock::instant();
    let mut eye = Eye::new(start);
    let mut look = |seconds| {
        let now = start + Duration::from_secs(seconds);
        eye.look(scene.books(), now).unwrap()
    };
    assert!(look(5).is_empty() && path.exists());
    assert!(look(9).is_empty() && path.exists());
    fs::write(&path, "{{").unwrap();
    assert!(look(11).is_empty(), "it was changed meanwhile");
    let told = look(16);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("task_0000000a.json") && told[0].contains("quarantine"));
    assert!(!path.exists());
    assert!(look(50).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_is_damaged_nothing_else_is_lost(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        cut in 0usize..40,
        garbage in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'{'), any::<u8>()], 0..60),
    ) {
        let scene = Scene::new();
        scene.mend_all();
        let files: Vec<PathBuf> = scene.everything().into_keys().collect();
        let path = which.get(&files);
        let mut bytes = fs::read(path).unwrap();
        let from = at.index(bytes.len() + 1);
        let to = bytes.len().min(from + cut);
        bytes.splice(from..to, garbage);
        fs::write(path, &bytes).unwrap();
        age(path);

        let before = scene.everything();
        let acts = scene.acts();
        prop_assert_eq!(&scene.everything(), &before, "looking changes nothing");
        let damaged: Vec<PathBuf> = acts.iter().filter_map(|act| match act {
            Act::SetAside(seen, _) => Some(seen.kept.path.clone()),
            _ => None,
        }).collect();
        scene.mend_all();
        scene.mend_all();
        prop_assert_eq!(scene.acts(), vec![]);
        let after = scene.everything();
        for (path, bytes) in &before {
            if damaged.contains(path) {
                prop_assert!(!after.contains_key(path));
                continue;
            }
            let Some(now) = after.get(path) else {
                return Err(TestCaseError::fail(format!("{} is gone", path.display())));
            };
            if path.extension().is_some_and(|end| end == "jsonl") {
                let (was, is) = (good_lines(bytes), good_lines(now));
                let kept = quarantined(&scene);
                for line in was {
                    let found = is.contains(&line) || kept.windows(line.len().max(1)).any(|part| part == line);
                    prop_assert!(found, "{}: {}", path.display(), String::from_utf8_lossy(&line));
                }
            } else if path.extension().is_some_and(|end| end == "json") {
                prop_assert_eq!(now, bytes);
            }
        }
    }
}

/// The bytes of all that is in quarantine.
fn quarantined(scene: &Scene) -> Vec<u8> {
    let Ok(entries) = fs::read_dir(scene.workspace.quarantine_dir()) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for entry in entries.flatten() {
        all.extend(fs::read(entry.path()).unwrap());
    }
    all
}

/// What cannot be read is named, and hides nothing else.
#[test]
fn a_place_that_cannot_be_looked_at_is_found_and_the_rest_is_looked_at() {
    let scene = Scene::new();
    scene.mend_all();
    let (lock, requests) = (scene.workspace.board_lock(), scene.workspace.requests_dir());
    let modes = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    std::fs::create_dir_all(&requests).unwrap();
    for path in [&lock, &requests] {
        std::fs::set_permissions(path, Permissions::from_mode(0o000)).unwrap();
    }
    let endless = scene.workspace.archive_dir();
    std::fs::remove_dir_all(&endless).ok();
    std::os::unix::fs::symlink(&endless, &endless).unwrap();
    let found = survey(scene.books()).findings;
    let told = |check: &str, path: &Path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        found
            .iter()
            .any(|one| one.check == check && one.detail.contains(name))
    };
    assert!(
        told("modes", &lock) && told("modes", &requests),
        "{found:#?}"
    );
    assert!(told("reading", &endless), "{found:#?}");
    for act in scene.acts() {
        if let Act::SetMode(path, _) = &act {
            mend::mend(scene.books(), &AgentName::user(), &act).unwrap();
            assert!(modes(path) & 0o600 == 0o600);
        }
    }
    assert_eq!((modes(&lock), modes(&requests)), (0o600, 0o700));
}
