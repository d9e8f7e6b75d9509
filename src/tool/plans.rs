//! `submit_plan`, `request_plan`, `review_plan`: the plan gate's tools (SPEC §8.3). The loop decides and waits.

use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{Call, Class, Said, Tool};
use super::{HostCall, Plan};
use crate::ids::{AgentName, RequestId};

pub(crate) struct SubmitPlan;
pub(crate) struct RequestPlan;
pub(crate) struct ReviewPlan;

impl Tool for SubmitPlan {
    type Input = Plan;
    const NAME: &'static str = "submit_plan";
    const DESCRIPTION: &'static str =
        "Submits a plan for your task and waits for the decision, which comes with a comment.";
    const CLASS: Class = Class::NewWork;

    fn run(call: &Call<'_>, plan: Plan) -> Result<Said, String> {
        if plan.title.trim().is_empty() {
            return Err("`title` is empty; say in one line what the plan does".to_owned());
        }
        if plan.steps.is_empty() {
            return Err("`steps` is empty; give at least one step".to_owned());
        }
        if let Some(index) = plan.steps.iter().position(|step| step.trim().is_empty()) {
            return Err(format!("`steps[{index}]` is empty"));
        }
        let has_task = call
            .context
            .desk
            .assignment()
            .is_some_and(|held| !held.over);
        if !has_task {
            return Err("you have no task to plan for; claim one first".to_owned());
        }
        said(call, HostCall::SubmitPlan(plan))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestPlanInput {
    /// The teammate.
    teammate: String,
    /// What the plan is to be about.
    task: String,
}

impl Tool for RequestPlan {
    type Input = RequestPlanInput;
    const NAME: &'static str = "request_plan";
    const DESCRIPTION: &'static str =
        "Makes a teammate submit a plan; until it is approved the teammate can change nothing.";
    const CLASS: Class = Class::NewWork;

    fn run(call: &Call<'_>, input: RequestPlanInput) -> Result<Said, String> {
        let teammate = parse_teammate("teammate", &input.teammate)?;
        if input.task.trim().is_empty() {
            return Err("`task` is empty; say what the plan is to be about".to_owned());
        }
        said(
            call,
            HostCall::RequestPlan {
                teammate,
                task: input.task,
            },
        )
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReviewPlanInput {
    /// The plan's request, req_….
    request_id: String,
    /// Whether the teammate may go ahead.
    approve: bool,
    /// What the teammate is told with the decision.
    feedback: Option<String>,
}

impl Tool for ReviewPlan {
    type Input = ReviewPlanInput;
    const NAME: &'static str = "review_plan";
    const DESCRIPTION: &'static str = "Decides on a teammate's plan.";
    const CLASS: Class = Class::Always;

    fn run(call: &Call<'_>, input: ReviewPlanInput) -> Result<Said, String> {
        let request = RequestId::parse(input.request_id.trim())
            .map_err(|error| format!("`request_id`: {error}"))?;
        said(
            call,
            HostCall::ReviewPlan {
                request,
                approve: input.approve,
                feedback: input.feedback.filter(|text| !text.trim().is_empty()),
            },
        )
    }
}

/// Hands `order` to the loop; its answer is the tool's.
pub(crate) fn said(call: &Call<'_>, order: HostCall) -> Result<Said, String> {
    call.context.host.call(order, call.cancel).map(Said::from)
}

/// Reads the name of a teammate from an argument.
pub(crate) fn parse_teammate(field: &str, text: &str) -> Result<AgentName, String> {
    AgentName::parse_teammate(text.trim()).map_err(|error| format!("`{field}`: {error}"))
}
