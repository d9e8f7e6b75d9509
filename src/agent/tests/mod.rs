//! A thinker with a real transcript and real tools, and a model that the test plays.

mod bounds;

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::prompt::SUM_UP;
use super::{Happening, Input, Report, Thinker, ThinkerParts};
use crate::board::{Claimant, NewTask};
use crate::cancel::Cancel;
use crate::clock::Timestamp;
use crate::conversation::check::validity;
use crate::conversation::compaction::weight;
use crate::conversation::{Block, Message, Record, Replay, ToolCall, Transcript, Usage};
use crate::ids::TaskId;
use crate::model::{Model, ModelError, Progress, Reply, Request, Stop};
use crate::store::Durability;
use crate::tool::{AgentContext, ToolBox};
use crate::workspace::Workspace;

type Seen = Arc<Mutex<Vec<Vec<Message>>>>;

/// Tokens of the played model's window: room for the tools and about ten thousand more.
const WINDOW: u64 = 16_000;

/// Gives its replies in order and keeps what it was shown; without a reply it waits to be cancelled.
struct Played {
    replies: std::vec::IntoIter<Result<Reply, ModelError>>,
    seen: Seen,
}

impl Model for Played {
    fn name(&self) -> &'static str {
        "script:played"
    }

    fn window(&mut self) -> u64 {
        WINDOW
    }

    fn known_window(&self) -> u64 {
        WINDOW
    }

    fn call(
        &mut self,
        request: &Request<'_>,
        cancel: &Arc<Cancel>,
        on: &mut dyn FnMut(Progress),
    ) -> Result<Reply, ModelError> {
        validity(request.messages).unwrap();
        self.seen.lock().unwrap().push(request.messages.to_vec());
        if request.messages.last().unwrap().text().contains(SUM_UP) {
            return summary();
        }
        on(Progress::Text("…".to_owned()));
        if let Some(reply) = self.replies.next() {
            return reply;
        }
        while !cancel.sleep(Duration::from_mins(1)) {}
        Err(ModelError::Cancelled)
    }

    fn resolve(&mut self, call: &ToolCall, _task: Option<&str>) -> Result<Value, String> {
        if call.input == json!({"unknown": true}) {
            return Err("no such name".to_owned());
        }
        Ok(call.input.clone())
    }
}

struct Scene {
    _scratch: tempfile::TempDir,
    context: Arc<AgentContext>,
    workspace: Workspace,
    thinker: Thinker,
    reports: Receiver<Report>,
    seen: Seen,
}

fn open(workspace: &Workspace) -> (Transcript, Replay) {
    let start = Record::Start {
        agent: "alice".to_owned(),
        session: None,
        at: Timestamp::from_ms(0),
    };
    Transcript::open(
        &workspace.root().join("alice.jsonl"),
        &start,
        Durability::Process,
    )
    .unwrap()
}

impl Scene {
    fn new(replies: Vec<Result<Reply, ModelError>>) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(scratch.path().canonicalize().unwrap());
        let (transcript, replay) = open(&workspace);
        let (sender, reports) = channel();
        let context = AgentContext::alone(&workspace, "alice", Durability::Process);
        let context = Arc::new(context);
        let seen = Seen::default();
        let thinker = Thinker::start(ThinkerParts {
            transcript,
            replay,
            model: Box::new(Played {
                replies: replies.into_iter(),
                seen: Arc::clone(&seen),
            }),
            toolbox: Arc::new(ToolBox::new(Arc::clone(&context))),
            system: vec!["You are alice.".to_owned()],
            send: Box::new(move |report| drop(sender.send(report))),
        });
        Self {
            _scratch: scratch,
            context,
            workspace,
            thinker,
            reports,
            seen,
        }
    }

    /// Hands reports in until `last` happens; everything that happened on the way.
    fn until(&mut self, last: impl Fn(&Happening) -> bool) -> Vec<Happening> {
        let mut happened = Vec::new();
        while !happened.last().is_some_and(&last) {
            let report = self.reports.recv_timeout(Duration::from_secs(30)).unwrap();
            happened.extend(self.thinker.handle(report).unwrap());
        }
        happened
    }

    /// What a restart would find is what the model would be shown next.
    fn assert_replay_agrees(mut self) {
        let seen = Arc::clone(&self.seen);
        let count = seen.lock().unwrap().len();
        self.thinker
            .begin_round(vec![Input::text("and again")])
            .unwrap();
        let seen = {
            self.until(|happening| matches!(happening, Happening::Delta(_)));
            let seen = seen.lock().unwrap();
            seen[count].clone()
        };
        let (_, replay) = open(&self.workspace);
        assert_eq!(replay.messages, seen);
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "it stands beside replies that fail"
)]
fn reply(content: Vec<Block>) -> Result<Reply, ModelError> {
    Ok(Reply {
        content,
        stop: Stop::End,
        usage: Usage::default(),
        note: None,
    })
}

fn call(id: &str, name: &str, input: Value) -> Block {
    Block::ToolUse(ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        input,
        cut: None,
    })
}

#[test]
fn memory_and_transcript_agree_over_a_round_with_tools_and_mail() {
    let mut scene = Scene::new(vec![
        reply(vec![
            Block::text("let me see"),
            call("a", "list_tasks", json!({})),
            call("b", "no_such_tool", json!({})),
            call("c", "list_tasks", json!({"unknown": true})),
        ]),
        reply(vec![]),
        reply(vec![Block::text("done")]),
    ]);
    scene.thinker.begin_round(vec![Input::text("go")]).unwrap();
    let happened = scene.until(|happening| *happening == Happening::Boundary);
    let failed: Vec<bool> = happened
        .iter()
        .filter_map(|happening| match happening {
            Happening::ToolEnded { is_error, .. } => Some(*is_error),
            _ => None,
        })
        .collect();
    assert_eq!(failed, [false, true, true]);
    let mail = Input {
        text: "[Messages]".to_owned(),
        mail: vec!["msg_1".to_owned()],
        by: None,
    };
    scene.thinker.next_turn(vec![mail]).unwrap();
    // Silence: it is asked once more, as a turn of its own.
    scene.until(|happening| *happening == Happening::Boundary);
    scene.thinker.next_turn(Vec::new()).unwrap();
    let happened = scene.until(|happening| matches!(happening, Happening::RoundOver(_)));
    assert_eq!(
        happened.last(),
        Some(&Happening::RoundOver("done".to_owned()))
    );
    assert_eq!(scene.thinker.last_text().as_deref(), Some("done"));
    assert!(!scene.thinker.is_busy());
    scene.assert_replay_agrees();
}

#[test]
fn memory_and_transcript_agree_after_interruptions_and_failures() {
    let refused = || Err(ModelError::Refused("bad key".to_owned()));
    let mut scene = Scene::new(vec![
        refused(),
        reply(vec![call("a", "list_tasks", json!({}))]),
    ]);
    scene.thinker.begin_round(vec![Input::text("go")]).unwrap();
    scene.until(|happening| matches!(happening, Happening::Failed(_)));
    scene.thinker.begin_round(Vec::new()).unwrap();
    scene.until(|happening| *happening == Happening::Boundary);
    scene.thinker.rest().unwrap();
    scene
        .thinker
        .begin_round(vec![Input::text("more")])
        .unwrap();
    scene.until(|happening| matches!(happening, Happening::Delta(_)));
    scene.thinker.interrupt("a person wanted it");
    let happened = scene.until(|happening| *happening == Happening::Interrupted);
    assert_eq!(happened, [Happening::Interrupted]);
    assert!(!scene.thinker.is_busy());
    scene.assert_replay_agrees();
}

/// A result so long that a few of them fill the window.
fn long_read(id: &str) -> Result<Reply, ModelError> {
    reply(vec![call(id, "read_file", json!({"path": "long.txt"}))])
}

fn summary() -> Result<Reply, ModelError> {
    reply(vec![Block::text("It was read, and nothing came of it.")])
}

impl Scene {
    /// Gives alice a task in whose directory there is much to read.
    fn at_work(&self) -> TaskId {
        let line = "all work and no play\n".repeat(500);
        let path = self.workspace.root().join("long.txt");
        crate::store::atomic::replace(&path, line.as_bytes(), Durability::Process).unwrap();
        let task = NewTask {
            id: TaskId::random(),
            subject: "Read it all".to_owned(),
            description: "Every word of it.".to_owned(),
            blocked_by: Vec::new(),
            assignee: None,
            worktree: None,
            verify: None,
        };
        let (board, alice) = (&self.context.board, &self.context.agent);
        let made = board.lock(alice).unwrap().create(&[task]).unwrap();
        let claimant = Claimant {
            name: alice,
            role: "",
        };
        let task = board
            .lock(alice)
            .unwrap()
            .claim(&made[0].id, claimant)
            .unwrap();
        let id = task.id.clone();
        let assignment = crate::tool::assignment_for(&self.workspace, task).unwrap();
        self.context.desk.state().assignment = Some(assignment);
        id
    }

    /// Turns until the conversation was made shorter, which is a turn of its own.
    fn until_shorter(&mut self) {
        loop {
            let happened = self.until(|happening| *happening == Happening::Boundary);
            if happened.contains(&Happening::Shortened) {
                return;
            }
            self.thinker.next_turn(Vec::new()).unwrap();
        }
    }

    fn newest_seen(&self) -> Vec<Message> {
        self.seen.lock().unwrap().last().unwrap().clone()
    }
}

#[test]
fn a_conversation_that_fills_the_window_is_summed_up_and_nothing_vital_is_forgotten() {
    // Words weigh as much as they do; results could be cut to their ends.
    let many_words = || {
        reply(vec![
            Block::text("word ".repeat(1_500)),
            call("a", "list_tasks", json!({})),
        ])
    };
    let mut scene = Scene::new((0..12).map(|_| many_words()).collect());
    let task = scene.at_work();
    scene.thinker.begin_round(vec![Input::text("go")]).unwrap();
    scene.until_shorter();
    let asked = scene.newest_seen();
    assert!(
        asked[0].text().starts_with("go"),
        "it is made from the beginning"
    );
    let mail = Input {
        text: "[Messages]".to_owned(),
        mail: vec!["msg_1".to_owned()],
        by: None,
    };
    scene.thinker.next_turn(vec![mail]).unwrap();
    scene.until(|happening| *happening == Happening::Boundary);
    let seen = scene.newest_seen();
    let first = seen[0].text();
    for part in [
        "It was read, and nothing came of it.",
        "You are the teammate \"alice\"",
        "Every word of it.",
        "In the team besides you now: nobody.",
    ] {
        assert!(first.contains(part), "{part:?} not in {first}");
    }
    assert!(first.trim_end().ends_with(task.as_str()), "{first}");
    assert!(seen.last().unwrap().text().contains("[Messages]"));
    assert!(weight(&seen) < weight(&asked) / 2);
    scene.thinker.rest().unwrap();
    scene.assert_replay_agrees();
}

#[test]
fn old_results_are_cut_before_the_model_is_asked_for_a_summary() {
    let mut scene = Scene::new((0..14).map(|n| long_read(&format!("r{n}"))).collect());
    scene.at_work();
    scene.thinker.begin_round(vec![Input::text("go")]).unwrap();
    scene.until_shorter();
    let calls = scene.seen.lock().unwrap().len();
    scene.thinker.next_turn(Vec::new()).unwrap();
    scene.until(|happening| *happening == Happening::Boundary);
    let seen = scene.newest_seen();
    assert_eq!(scene.seen.lock().unwrap().len(), calls + 1, "no summary");
    assert_eq!(seen[0].text(), "go");
    let cut = seen.iter().flat_map(|message| &message.content);
    let cut = cut.filter(
        |block| matches!(block, Block::ToolResult { content, .. } if content.contains("left out")),
    );
    assert!(cut.count() > 0);
    scene.thinker.rest().unwrap();
    scene.assert_replay_agrees();
}

#[test]
fn what_the_server_calls_too_long_is_made_shorter_and_sent_again() {
    let too_long = || Err(ModelError::TooLong("9 > 8".to_owned()));
    let mut scene = Scene::new(vec![
        long_read("a"),
        long_read("b"),
        too_long(),
        reply(vec![Block::text("done")]),
        too_long(),
        too_long(),
    ]);
    scene.at_work();
    scene.thinker.begin_round(vec![Input::text("go")]).unwrap();
    for _ in 0..3 {
        scene.until(|happening| *happening == Happening::Boundary);
        scene.thinker.next_turn(Vec::new()).unwrap();
    }
    let happened = scene.until(|happening| matches!(happening, Happening::RoundOver(_)));
    assert_eq!(
        happened.last(),
        Some(&Happening::RoundOver("done".to_owned()))
    );

    scene
        .thinker
        .begin_round(vec![Input::text("more")])
        .unwrap();
    scene.until(|happening| *happening == Happening::Boundary);
    scene.thinker.next_turn(Vec::new()).unwrap();
    let happened = scene.until(|happening| matches!(happening, Happening::Failed(_)));
    assert_eq!(
        happened.last(),
        Some(&Happening::Failed(ModelError::TooLong("9 > 8".to_owned())))
    );
    scene.assert_replay_agrees();
}

#[test]
fn a_last_round_costs_no_summary() {
    let many_words = || reply(vec![Block::text("word ".repeat(5_000))]);
    let mut scene = Scene::new(vec![many_words(), many_words()]);
    for words in ["go", "on"] {
        scene.thinker.begin_round(vec![Input::text(words)]).unwrap();
        scene.until(|happening| matches!(happening, Happening::RoundOver(_)));
    }
    scene
        .thinker
        .begin_last_round(vec![Input::text("You are to stop.")])
        .unwrap();
    let happened = scene.until(|happening| matches!(happening, Happening::Failed(_)));
    assert!(
        matches!(
            &happened[..],
            [Happening::Failed(ModelError::TooLong(why))] if why.contains("window")
        ),
        "{happened:?}"
    );
    assert_eq!(scene.seen.lock().unwrap().len(), 2, "no call was made");

    let mut scene = Scene::new(vec![
        long_read("a"),
        long_read("b"),
        reply(vec![Block::text("bye")]),
    ]);
    scene.at_work();
    scene.thinker.begin_round(vec![Input::text("go")]).unwrap();
    scene.until(|happening| *happening == Happening::Boundary);
    scene.thinker.next_turn(Vec::new()).unwrap();
    scene.until(|happening| *happening == Happening::Boundary);
    scene.thinker.rest().unwrap();
    let words = vec![Input::text("stop ".repeat(2_000))];
    scene.thinker.begin_last_round(words).unwrap();
    let happened = scene.until(|happening| *happening == Happening::Boundary);
    assert!(happened.contains(&Happening::Shortened));
    scene.thinker.next_turn(Vec::new()).unwrap();
    scene.until(|happening| *happening == Happening::RoundOver("bye".to_owned()));
    assert_eq!(scene.seen.lock().unwrap().len(), 3, "no summary");
}

#[test]
fn a_person_may_have_it_made_shorter_and_a_short_one_stays() {
    let mut scene = Scene::new(vec![
        reply(vec![call("a", "list_tasks", json!({}))]),
        reply(vec![Block::text("done")]),
    ]);
    scene.thinker.shorten().unwrap();
    let happened = scene.until(|happening| matches!(happening, Happening::NotShortened(_)));
    assert_eq!(happened.len(), 1);
    scene.thinker.begin_round(vec![Input::text("go")]).unwrap();
    scene.until(|happening| *happening == Happening::Boundary);
    scene.thinker.next_turn(Vec::new()).unwrap();
    scene.until(|happening| matches!(happening, Happening::RoundOver(_)));
    scene.thinker.shorten().unwrap();
    scene.until(|happening| *happening == Happening::Shortened);
    assert!(!scene.thinker.is_busy());
    scene.assert_replay_agrees();
}
