//! An agent's tools in a bed, without its process.

use std::sync::{Arc, Mutex};

use pitcrew::agent::joined::open_board;
use pitcrew::board::{Board, Task};
use pitcrew::cancel::Cancel;
use pitcrew::ids::AgentName;
use pitcrew::mailbox::Post;
use pitcrew::policy::confinement::hidden;
use pitcrew::policy::{Confinement, Mode, Policy, RuleLists};
use pitcrew::process::guard::use_guard_binary;
use pitcrew::store::Durability;
use pitcrew::team::Roster;
use pitcrew::tool::{AgentContext, Answer, Desk, Host, HostCall, TeamDirectory, ToolBox};
use pitcrew::workspace::Workspace;
use serde_json::{Value, json};

use super::Bed;
use super::bed::lead_binary;

/// A loop that says yes to everything.
struct Yes;

impl Host for Yes {
    fn call(&self, _: HostCall, _: &Arc<Cancel>) -> Answer {
        Ok(String::new())
    }
}

/// An agent in a bed.
pub struct Agent {
    /// Its tools.
    pub toolbox: ToolBox,
}

impl Agent {
    /// Of that name, with the built-in rules and the sandbox.
    pub fn new(bed: &Bed, name: &str) -> Self {
        Self::with(bed, name, None)
    }

    /// The same with a command that decides whether tasks are done.
    pub fn with(bed: &Bed, name: &str, verify: Option<&str>) -> Self {
        use_guard_binary(lead_binary());
        let workspace = Workspace::at(bed.root());
        let durability = Durability::Process;
        let roster = Roster::new(workspace.clone(), durability);
        let context = AgentContext {
            agent: AgentName::parse(name).unwrap(),
            role: "coder".to_owned(),
            board: Arc::new(open_board(&workspace, durability, None).unwrap()),
            post: Post::new(workspace.clone(), durability),
            directory: Arc::new(TeamDirectory::new(workspace.clone(), roster)),
            policy: Policy::new(&RuleLists::default(), Mode::Ask)
                .unwrap()
                .into(),
            grants: Mutex::default(),
            desk: Desk::default(),
            host: Box::new(Yes),
            home: Some(bed.home()),
            tool_env: environment(bed),
            confinement: Confinement {
                hidden: hidden(Some(&bed.home()), None),
                ..Confinement::default()
            },
            verify: verify.map(str::to_owned),
            hooks: pitcrew::policy::Hooks::default(),
            lead_reviews_plans: false,
            lead_merges: true,
            workspace,
        };
        Self {
            toolbox: ToolBox::new(Arc::new(context)),
        }
    }

    /// The board as it sees it.
    pub fn board(&self) -> &Board {
        &self.toolbox.context().board
    }

    /// A task as it is now.
    pub fn task(&self, id: &str) -> Task {
        self.board().get(&id.parse().unwrap()).unwrap()
    }

    /// A tool call; `Err` for one that is told as an error.
    pub fn run(&self, tool: &str, input: &Value) -> Result<String, String> {
        let outcome = self.toolbox.run(tool, input, &Arc::new(Cancel::new()));
        if outcome.is_error {
            Err(outcome.content)
        } else {
            Ok(outcome.content)
        }
    }

    /// A call that succeeds, and the end of its turn.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "the calls read better")]
    pub fn ok(&self, tool: &str, input: Value) -> String {
        let said = self
            .run(tool, &input)
            .unwrap_or_else(|why| panic!("{tool}: {why}"));
        self.toolbox.end_turn().unwrap();
        said
    }

    /// Makes a task; its id.
    #[track_caller]
    pub fn make_task(&self, input: Value) -> String {
        let said = self.ok("create_task", input);
        said[5..18].to_owned()
    }

    /// Claims a task.
    pub fn claim(&self, id: &str) {
        self.ok("claim_task", json!({"task_id": id}));
    }

    /// Completes a task.
    pub fn complete(&self, id: &str) -> Result<String, String> {
        self.run("complete_task", &json!({"task_id": id, "result": "done"}))
    }

    /// What a command that succeeds prints.
    pub fn bash(&self, command: &str) -> String {
        self.ok("bash", json!({"command": command}))
            .trim_end()
            .to_owned()
    }
}

fn environment(bed: &Bed) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    bed.command("true")
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect()
}
