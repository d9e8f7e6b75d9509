//! A lead that the test plays: its locks, its session and its mailbox, without a process of its own.

use pitcrew::board::{Board, BoardOptions, NewTask};
use pitcrew::clock::Timestamp;
use pitcrew::ids::{AgentName, RequestId, SessionId, TaskId};
use pitcrew::mailbox::{Kind, Message, Post, inbox};
use pitcrew::request::{Decision, NewRequest, Record, RequestKind, RequestStatus, Requests};
use pitcrew::store::Durability;
use pitcrew::team::{LeadPresence, Roster, Session};
use pitcrew::workspace::Workspace;
use serde_json::{Value, json};

use crate::support::{Bed, DEADLINE, Running, wait_until};

/// What the test plays the lead with.
pub(super) struct Played {
    pub(super) bed: Bed,
    pub(super) workspace: Workspace,
    presence: Option<LeadPresence>,
    generation: u64,
    settings: Value,
}

pub(super) fn alice() -> AgentName {
    AgentName::parse("alice").unwrap()
}

impl Played {
    /// A living lead with alice's replies, in order.
    pub(super) fn new(replies: &Value) -> Self {
        Self::with(replies, json!({}))
    }

    /// The same with these settings in force.
    pub(super) fn with(replies: &Value, settings: Value) -> Self {
        let bed = Bed::git();
        let model = bed.script(&json!({"agents": {"alice": replies}}));
        let mut settings = settings;
        settings["model"] = json!(model);
        let mut played = Self {
            workspace: Workspace::at(bed.root()),
            bed,
            presence: None,
            generation: 0,
            settings,
        };
        played.live();
        played
    }

    /// A lead comes.
    pub(super) fn live(&mut self) {
        self.generation += 1;
        self.presence = Some(LeadPresence::take(&self.workspace).unwrap().unwrap());
        let session = Session {
            id: SessionId::random(),
            generation: self.generation,
            pid: std::process::id(),
            model: String::new(),
            started_at: Timestamp::now(),
            unattended: self.settings["unattended"] == json!(true),
            status: "idle".to_owned(),
            person_at: None,
            stalled: std::collections::BTreeMap::new(),
            settings: self.settings.clone(),
        };
        session.save(&self.workspace, Durability::Process).unwrap();
    }

    /// The lead dies.
    pub(super) fn die(&mut self) {
        drop(self.presence.take());
    }

    /// Starts alice as a lead would.
    pub(super) fn start(&self, more: &[&str]) -> Running {
        let roster = Roster::new(self.workspace.clone(), Durability::Process);
        if roster.get(&alice()).unwrap().is_none() {
            let record = json!({
                "name": "alice", "role": "", "model": "", "status": "starting", "pid": null,
                "startedAt": Timestamp::now(), "task": null,
            });
            roster
                .put(&serde_json::from_value(record).unwrap())
                .unwrap();
        }
        let mut args = vec!["--name", "alice", "--keys-on-stdin"];
        args.extend(more);
        let mut running = self.bed.start_teammate(&args);
        running.line("{}");
        running.end_input();
        running
    }

    pub(super) fn board(&self) -> Board {
        let options = BoardOptions {
            durability: Durability::Process,
            max_attempts: 3,
            usable: std::sync::Arc::new(|_| Ok(())),
            contains: std::sync::Arc::new(|_, _| Ok(())),
        };
        Board::open(&self.workspace, options).unwrap()
    }

    /// Puts a task on the board.
    pub(super) fn task(&self, subject: &str) -> TaskId {
        let task = NewTask {
            id: TaskId::random(),
            subject: subject.to_owned(),
            description: format!("The description of {subject}."),
            blocked_by: Vec::new(),
            assignee: None,
            worktree: None,
            verify: None,
        };
        let board = self.board();
        let made = board
            .lock(&AgentName::lead())
            .unwrap()
            .create(&[task])
            .unwrap();
        made[0].id.clone()
    }

    pub(super) fn send(&self, kind: Kind, text: &str) {
        self.deliver(&Message::new(&AgentName::lead(), &alice(), kind, text));
    }

    pub(super) fn deliver(&self, message: &Message) {
        Post::new(self.workspace.clone(), Durability::Process)
            .deliver(message)
            .unwrap();
    }

    pub(super) fn requests(&self) -> Requests {
        Requests::new(self.workspace.clone(), Durability::Process)
    }

    /// The lead's wish for a plan of alice, of which she is not told yet; the request's id.
    pub(super) fn wish_for_plan(&self, task: &str) -> RequestId {
        let wish = NewRequest {
            kind: RequestKind::PlanWish,
            sender: AgentName::lead(),
            target: alice(),
            payload: json!({ "task": task }),
            work_version: None,
            task_id: None,
        };
        self.requests().create(wish).unwrap().request_id
    }

    /// Asks alice to stop; the request's id.
    pub(super) fn ask_to_stop(&self, leaving: bool) -> RequestId {
        let record = self
            .requests()
            .create(NewRequest {
                kind: RequestKind::Shutdown,
                sender: AgentName::lead(),
                target: alice(),
                payload: json!({ "leaving": leaving }),
                work_version: None,
                task_id: None,
            })
            .unwrap();
        let id = record.request_id;
        let message = Message::new(&AgentName::lead(), &alice(), Kind::ShutdownRequest, "stop")
            .with("request_id", id.as_str());
        self.deliver(&message);
        id
    }

    /// The open request of that kind, once there is one.
    #[track_caller]
    pub(super) fn asked(&self, kind: RequestKind) -> Record {
        wait_until(&format!("a {kind:?} request"), DEADLINE, || {
            self.requests().open_ones(Some(kind)).unwrap().pop()
        })
    }

    /// Answers `record` for the person, then wakes alice.
    pub(super) fn answer(&self, record: &Record, status: RequestStatus, comment: &str) {
        let decision = Decision {
            kind: record.kind,
            by: AgentName::user(),
            status,
            feedback: Some(comment.to_owned()),
            scope: Some("once".to_owned()),
        };
        self.requests()
            .decide(&record.request_id, &decision)
            .unwrap();
        let kind = match record.kind {
            RequestKind::Permission => Kind::PermissionResponse,
            RequestKind::PlanApproval
            | RequestKind::Shutdown
            | RequestKind::PlanWish
            | RequestKind::Team => Kind::PlanApprovalResponse,
        };
        self.deliver(
            &Message::new(&AgentName::lead(), &alice(), kind, "decided")
                .with("request_id", record.request_id.as_str()),
        );
    }

    /// All that waits in the lead's mailbox.
    pub(super) fn mail(&self) -> Vec<Message> {
        inbox::waiting(&self.workspace, &AgentName::lead()).unwrap()
    }

    pub(super) fn mail_of(&self, kind: &Kind) -> Vec<Message> {
        let mut mail = self.mail();
        mail.retain(|message| message.kind == *kind);
        mail
    }

    /// The `count`th message of that kind, once it is there.
    #[track_caller]
    pub(super) fn letter(&self, kind: &Kind, count: usize) -> Message {
        wait_until(&format!("{kind:?} number {count}"), DEADLINE, || {
            self.mail_of(kind).into_iter().nth(count - 1)
        })
    }

    pub(super) fn member(&self) -> Value {
        self.bed
            .json(".team/state/members/alice.json")
            .unwrap_or(Value::Null)
    }

    #[track_caller]
    pub(super) fn wait_for_status(&self, status: &str) {
        wait_until(&format!("alice is {status}"), DEADLINE, || {
            (self.member()["status"] == status).then_some(())
        });
    }

    pub(super) fn on_board(&self, id: &TaskId) -> Value {
        self.bed.json(&format!(".tasks/{id}.json")).unwrap()
    }

    #[track_caller]
    pub(super) fn wait_for_task(&self, id: &TaskId, status: &str) {
        wait_until(&format!("{id} is {status}"), DEADLINE, || {
            (self.on_board(id)["status"] == status).then_some(())
        });
    }

    /// Model calls so far.
    pub(super) fn calls(&self) -> u64 {
        self.member()["turns"].as_u64().unwrap_or(0)
    }

    /// alice's transcript, line by line.
    pub(super) fn transcript(&self) -> Vec<Value> {
        let path = self.workspace.transcript(&alice());
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// Everything that was put before alice's model as text.
    pub(super) fn told(&self) -> Vec<String> {
        self.transcript()
            .iter()
            .filter(|record| record["type"] == "user")
            .filter_map(|record| record["text"].as_str().map(str::to_owned))
            .collect()
    }

    /// What alice's tools answered.
    pub(super) fn results(&self) -> Vec<String> {
        self.transcript()
            .iter()
            .filter(|record| record["type"] == "result")
            .filter_map(|record| record["content"].as_str().map(str::to_owned))
            .collect()
    }
}
