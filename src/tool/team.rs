//! `propose_team`, `spawn_teammate`, `list_teammates`, `request_shutdown`: the lead's tools for its team. The loop acts.

use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{Call, Class, Said, Tool};
use super::plans::{parse_teammate, said};
use super::tasks::create::is_staged;
use super::tasks::staged;
use super::{AgentContext, HostCall, SpawnOrder, TeamProposal};
use crate::board::NewTask;
use crate::ids::{AgentName, TaskId};

/// Longest first prompt, in bytes: it is an argument of the teammate's process.
const MAX_PROMPT: usize = 64 * 1024;

pub(crate) struct ProposeTeam;
pub(crate) struct SpawnTeammate;
pub(crate) struct ListTeammates;
pub(crate) struct RequestShutdown;

impl Tool for ProposeTeam {
    type Input = TeamProposal;
    const NAME: &'static str = "propose_team";
    const DESCRIPTION: &'static str = "Shows the person the team that you want and waits for the answer; nobody is started before it is accepted.";
    const CLASS: Class = Class::NewWork;

    fn run(call: &Call<'_>, proposal: TeamProposal) -> Result<Said, String> {
        check_proposal(&proposal)?;
        staged::publish_before_asking(call.context)
            .map_err(|why| format!("the team was not proposed: {why}; propose it again"))?;
        said(call, HostCall::ProposeTeam(proposal))
    }
}

fn check_proposal(proposal: &TeamProposal) -> Result<(), String> {
    if proposal.members.is_empty() {
        return Err("`members` is empty; propose at least one teammate".to_owned());
    }
    if proposal.rationale.trim().is_empty() {
        return Err("`rationale` is empty; say why this team".to_owned());
    }
    let mut names: Vec<AgentName> = Vec::new();
    for (index, member) in proposal.members.iter().enumerate() {
        let name = parse_teammate(&format!("members[{index}].name"), &member.name)?;
        if names.contains(&name) {
            return Err(format!(
                "`members[{index}].name`: {name} is proposed twice; names differ in more than case"
            ));
        }
        check_line(&format!("members[{index}].role"), &member.role)?;
        names.push(name);
    }
    Ok(())
}

fn check_line(field: &str, text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err(format!("`{field}` is empty"));
    }
    if text.contains(['\n', '\r', '\0']) {
        return Err(format!("`{field}` must be one line"));
    }
    Ok(())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpawnTeammateInput {
    /// Its name, as proposed.
    name: String,
    /// Its role, as proposed.
    role: String,
    /// What it is told first, at most 64 KiB; the work itself belongs into its task.
    prompt: String,
    /// Its first task.
    task_id: Option<String>,
    /// Whether it must have a plan approved before it changes anything.
    require_plan: Option<bool>,
    /// Its model, as proposed.
    model: Option<String>,
}

impl Tool for SpawnTeammate {
    type Input = SpawnTeammateInput;
    const NAME: &'static str = "spawn_teammate";
    const DESCRIPTION: &'static str =
        "Starts a teammate that the person has agreed to, with its first task if one is given.";
    const CLASS: Class = Class::NewWork;
    const CHANGES: bool = true;

    fn run(call: &Call<'_>, input: SpawnTeammateInput) -> Result<Said, String> {
        let context = call.context;
        let mut order = order(context, input)?;
        let is_first_new = order
            .task
            .as_ref()
            .is_some_and(|task| is_staged(context, task));
        if !is_first_new {
            return said(call, HostCall::Spawn(order));
        }
        let carried: Vec<NewTask> = context.desk.state().staged.clone();
        staged::check_worktrees(context, &carried)?;
        order.staged = std::mem::take(&mut context.desk.state().staged);
        let answer = said(call, HostCall::Spawn(order));
        staged::restore(context, carried);
        answer
    }
}

fn order(context: &AgentContext, input: SpawnTeammateInput) -> Result<SpawnOrder, String> {
    let name = parse_teammate("name", &input.name)?;
    check_line("role", &input.role)?;
    if input.prompt.len() > MAX_PROMPT {
        return Err(format!(
            "`prompt` has {} bytes; at most {MAX_PROMPT} are allowed; put it into the description of the task",
            input.prompt.len()
        ));
    }
    if input.prompt.contains('\0') {
        return Err("`prompt` holds a NUL byte".to_owned());
    }
    let task: Option<TaskId> = input
        .task_id
        .as_deref()
        .map(|text| staged::parse_id("task_id", text))
        .transpose()?;
    if let Some(task) = &task {
        staged::check_exist(context, "task_id", std::slice::from_ref(task))?;
    }
    if let Some(model) = &input.model {
        check_line("model", model)?;
    }
    Ok(SpawnOrder {
        name,
        role: input.role.trim().to_owned(),
        prompt: input.prompt,
        task,
        require_plan: input.require_plan.unwrap_or(false),
        model: input.model,
        staged: Vec::new(),
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListTeammatesInput {}

impl Tool for ListTeammates {
    type Input = ListTeammatesInput;
    const NAME: &'static str = "list_teammates";
    const DESCRIPTION: &'static str = "Lists the teammates with what each is doing.";
    const CLASS: Class = Class::Always;

    fn run(call: &Call<'_>, _: ListTeammatesInput) -> Result<Said, String> {
        said(call, HostCall::ListTeammates)
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestShutdownInput {
    /// The teammate.
    teammate: String,
}

impl Tool for RequestShutdown {
    type Input = RequestShutdownInput;
    const NAME: &'static str = "request_shutdown";
    const DESCRIPTION: &'static str =
        "Asks a teammate to stop; it reports what is done and open, gives its task back, and ends.";
    const CLASS: Class = Class::Always;

    fn run(call: &Call<'_>, input: RequestShutdownInput) -> Result<Said, String> {
        let teammate = parse_teammate("teammate", &input.teammate)?;
        said(call, HostCall::RequestShutdown(teammate))
    }
}
