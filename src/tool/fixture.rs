//! For tests of tools: an agent over a scratch workspace, with a loop that answers as told.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::{
    AgentContext, Answer, Assignment, Host, HostCall, Outcome, TeamDirectory, ToolBox,
    assignment_for, open_board,
};
use crate::board::{Claimant, NewTask, Task};
use crate::cancel::Cancel;
use crate::ids::{AgentName, TaskId};
use crate::mailbox::Post;
use crate::policy::{Mode, Policy, RuleLists};
use crate::store::Durability;
use crate::team::Roster;
use crate::workspace::Workspace;

type Meanwhile = Box<dyn FnMut(&HostCall) + Send>;

/// Answers every call with the next answer it was given, else with an empty `Ok`.
#[derive(Default)]
pub(super) struct FakeLoop {
    pub(super) calls: Mutex<Vec<HostCall>>,
    pub(super) answers: Mutex<VecDeque<Answer>>,
    /// Run before each answer.
    pub(super) meanwhile: Mutex<Option<Meanwhile>>,
}

struct Shared(Arc<FakeLoop>);

impl Host for Shared {
    fn call(&self, call: HostCall, _: &Arc<Cancel>) -> Answer {
        if let Some(act) = locked(&self.0.meanwhile).as_mut() {
            act(&call);
        }
        locked(&self.0.calls).push(call);
        locked(&self.0.answers)
            .pop_front()
            .unwrap_or(Ok(String::new()))
    }
}

/// Refuses every call.
struct NoLoop;

impl Host for NoLoop {
    fn call(&self, _: HostCall, _: &Arc<Cancel>) -> Answer {
        Err("nobody".to_owned())
    }
}

impl AgentContext {
    /// An agent that nobody is there to speak with, without rules, sandbox and home.
    pub(crate) fn alone(workspace: &Workspace, agent: &str, durability: Durability) -> Self {
        Self {
            agent: AgentName::parse(agent).unwrap(),
            role: String::new(),
            workspace: workspace.clone(),
            board: Arc::new(open_board(workspace, durability, 3).unwrap()),
            post: Post::new(workspace.clone(), durability),
            directory: Arc::new(TeamDirectory::new(
                workspace.clone(),
                Roster::new(workspace.clone(), durability),
            )),
            policy: Policy::new(&RuleLists::default(), Mode::default())
                .unwrap()
                .into(),
            grants: Mutex::default(),
            desk: super::Desk::default(),
            host: Box::new(NoLoop),
            home: None,
            tool_env: Vec::new(),
            confinement: crate::policy::Confinement::off(),
            verify: None,
            hooks: crate::policy::Hooks::default(),
            lead_reviews_plans: false,
            lead_merges: false,
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One agent.
pub(super) struct Bench {
    scratch: Option<Arc<tempfile::TempDir>>,
    pub(super) toolbox: ToolBox,
    pub(super) the_loop: Arc<FakeLoop>,
}

impl Bench {
    /// The lead over a new workspace, where nothing is asked about.
    pub(super) fn lead() -> Self {
        Self::with("lead", &RuleLists::default(), Mode::Ask)
    }

    /// A teammate over a new workspace.
    pub(super) fn teammate() -> Self {
        Self::with("alice", &RuleLists::default(), Mode::Ask)
    }

    pub(super) fn with(agent: &str, rules: &RuleLists, mode: Mode) -> Self {
        let scratch = Arc::new(tempfile::tempdir().unwrap());
        let root = scratch.path().canonicalize().unwrap().join("ws");
        std::fs::create_dir(&root).unwrap();
        Self::over(Some(scratch), root, agent, rules, mode)
    }

    /// Another agent over the same workspace.
    pub(super) fn beside(&self, agent: &str) -> Self {
        let root = self.root().to_path_buf();
        Self::over(
            self.scratch.clone(),
            root,
            agent,
            &RuleLists::default(),
            Mode::Ask,
        )
    }

    fn over(
        scratch: Option<Arc<tempfile::TempDir>>,
        root: PathBuf,
        agent: &str,
        rules: &RuleLists,
        mode: Mode,
    ) -> Self {
        let workspace = Workspace::at(root);
        let the_loop = Arc::new(FakeLoop::default());
        let context = AgentContext {
            role: "coder".to_owned(),
            policy: Policy::new(rules, mode).unwrap().into(),
            host: Box::new(Shared(Arc::clone(&the_loop))),
            lead_reviews_plans: true,
            lead_merges: true,
            ..AgentContext::alone(&workspace, agent, Durability::Process)
        };
        Self {
            scratch,
            toolbox: ToolBox::new(Arc::new(context)),
            the_loop,
        }
    }

    pub(super) fn context(&self) -> &AgentContext {
        self.toolbox.context()
    }

    pub(super) fn root(&self) -> &Path {
        self.context().workspace.root()
    }

    pub(super) fn run(&self, tool: &str, input: &Value) -> Outcome {
        self.toolbox.run(tool, input, &Arc::new(Cancel::new()))
    }

    /// The answer of a call that succeeds.
    #[expect(clippy::needless_pass_by_value, reason = "calls read better")]
    #[track_caller]
    pub(super) fn ok(&self, tool: &str, input: Value) -> String {
        let outcome = self.run(tool, &input);
        assert!(!outcome.is_error, "{tool} {input}: {}", outcome.content);
        outcome.content
    }

    /// The error of a call that fails.
    #[expect(clippy::needless_pass_by_value, reason = "calls read better")]
    #[track_caller]
    pub(super) fn err(&self, tool: &str, input: Value) -> String {
        let outcome = self.run(tool, &input);
        assert!(outcome.is_error, "{tool} {input}: {}", outcome.content);
        outcome.content
    }

    /// Makes the file `path` in the workspace.
    #[expect(clippy::disallowed_methods, reason = "a test makes plain files")]
    pub(super) fn put(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(super) fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).unwrap()
    }

    /// What the tools have asked the loop.
    pub(super) fn calls(&self) -> Vec<HostCall> {
        locked(&self.the_loop.calls).clone()
    }

    pub(super) fn answer(&self, answer: Answer) {
        locked(&self.the_loop.answers).push_back(answer);
    }

    /// Runs `act` whenever a tool asks the loop.
    pub(super) fn meanwhile(&self, act: impl FnMut(&HostCall) + Send + 'static) {
        *locked(&self.the_loop.meanwhile) = Some(Box::new(act));
    }

    /// A task on the board.
    pub(super) fn task(&self, change: impl FnOnce(&mut NewTask)) -> Task {
        let mut task = NewTask {
            id: TaskId::random(),
            subject: "a task".to_owned(),
            description: "what to do".to_owned(),
            blocked_by: Vec::new(),
            assignee: None,
            worktree: None,
            verify: None,
        };
        change(&mut task);
        let mut board = self.context().board.lock(&AgentName::lead()).unwrap();
        board.create(&[task]).unwrap().remove(0)
    }

    /// Claims a task for this agent as its loop would.
    pub(super) fn assign(&self, task: &Task) -> Assignment {
        let context = self.context();
        let claimant = Claimant {
            name: &context.agent,
            role: &context.role,
        };
        let claimed = context
            .board
            .lock(&context.agent)
            .unwrap()
            .claim(&task.id, claimant)
            .unwrap();
        let assignment = assignment_for(&context.workspace, claimed).unwrap();
        context.desk.state().assignment = Some(assignment.clone());
        assignment
    }

    /// What waits in an agent's mailbox.
    pub(super) fn mail(&self, agent: &str) -> Vec<crate::mailbox::Message> {
        let agent = AgentName::parse(agent).unwrap();
        crate::mailbox::inbox::waiting(&self.context().workspace, &agent).unwrap()
    }
}

/// The input `{"path": path}`.
pub(super) fn path(path: &str) -> Value {
    json!({ "path": path })
}
