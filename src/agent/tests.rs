//! A thinker with a real transcript and real tools, and a model that the test plays.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Happening, Input, Report, Thinker, ThinkerParts};
use crate::cancel::Cancel;
use crate::clock::Timestamp;
use crate::conversation::check::validity;
use crate::conversation::{Block, Message, Record, Replay, ToolCall, Transcript, Usage};
use crate::ids::AgentName;
use crate::mailbox::Post;
use crate::model::{Model, ModelError, Progress, Reply, Request, Stop};
use crate::policy::{Mode, Policy, RuleLists};
use crate::store::Durability;
use crate::team::Roster;
use crate::tool::{AgentContext, Answer, Desk, Host, HostCall, TeamDirectory, ToolBox, open_board};
use crate::workspace::Workspace;

type Seen = Arc<Mutex<Vec<Vec<Message>>>>;

/// Gives its replies in order and keeps what it was shown; without a reply it waits to be cancelled.
struct Played {
    replies: std::vec::IntoIter<Result<Reply, ModelError>>,
    seen: Seen,
}

impl Model for Played {
    fn name(&self) -> &'static str {
        "script:played"
    }

    fn call(
        &mut self,
        request: &Request<'_>,
        cancel: &Arc<Cancel>,
        on: &mut dyn FnMut(Progress),
    ) -> Result<Reply, ModelError> {
        validity(request.messages).unwrap();
        self.seen.lock().unwrap().push(request.messages.to_vec());
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

struct NoLoop;

impl Host for NoLoop {
    fn call(&self, _: HostCall, _: &Arc<Cancel>) -> Answer {
        Err("nobody".to_owned())
    }
}

struct Scene {
    _scratch: tempfile::TempDir,
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

fn context(workspace: &Workspace) -> AgentContext {
    AgentContext {
        agent: AgentName::parse("alice").unwrap(),
        role: String::new(),
        workspace: workspace.clone(),
        board: Arc::new(open_board(workspace, Durability::Process, 3).unwrap()),
        post: Post::new(workspace.clone(), Durability::Process),
        directory: Arc::new(TeamDirectory::new(
            workspace.clone(),
            Roster::new(workspace.clone(), Durability::Process),
        )),
        policy: Policy::new(&RuleLists::default(), Mode::default()).unwrap(),
        grants: Mutex::default(),
        desk: Desk::default(),
        host: Box::new(NoLoop),
        home: None,
        tool_env: Vec::new(),
        verify: None,
        lead_reviews_plans: false,
    }
}

impl Scene {
    fn new(replies: Vec<Result<Reply, ModelError>>) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(scratch.path().canonicalize().unwrap());
        let (transcript, replay) = open(&workspace);
        let (sender, reports) = channel();
        let seen = Seen::default();
        let thinker = Thinker::start(ThinkerParts {
            transcript,
            replay,
            model: Box::new(Played {
                replies: replies.into_iter(),
                seen: Arc::clone(&seen),
            }),
            toolbox: Arc::new(ToolBox::new(Arc::new(context(&workspace)))),
            system: vec!["You are alice.".to_owned()],
            send: Box::new(move |report| drop(sender.send(report))),
        });
        Self {
            _scratch: scratch,
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
    };
    scene.thinker.next_turn(vec![mail]).unwrap();
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
