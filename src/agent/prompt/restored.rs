//! What is put before a model after its conversation was made shorter: a summary, and in full what it must not forget.

use std::fmt::Write as _;

use super::system::role_text;
use super::told::{RUNTIME, indent};
use crate::request::{Record, Requests};
use crate::store::Durability;
use crate::team::{PlanGate, Roster};
use crate::tool::{AgentContext, assignment_text};

/// Asks the model for the summary.
pub const SUM_UP: &str = "[Runtime]\nThis conversation is becoming too long for you. Call no tool now. Sum up what \
was said and done so far, for yourself: it will stand in place of it. Keep what was asked of you and by whom, what was \
decided and why, what is done (files by path, commands that matter and how they ended), what is open, and what you would \
do next. Leave out what can be looked up again.";

/// The text that stands in place of the older part.
pub fn summed_up(summary: &str, context: &AgentContext) -> String {
    let mut text = format!(
        "{RUNTIME}\nThe older part of this conversation was too long and is left out. Your summary of it:\n"
    );
    indent(&mut text, summary);
    text.push_str("\n\nWhat holds now:\n");
    who(&mut text, context);
    others(&mut text, context);
    open_requests(&mut text, context);
    gate_and_assignment(&mut text, context);
    text
}

fn who(text: &mut String, context: &AgentContext) {
    if context.agent.is_lead() {
        text.push_str("You are the lead.\n");
        return;
    }
    let _ = writeln!(text, "You are the teammate {:?}.", context.agent.as_str());
    match role_text(&context.workspace, &context.role) {
        Some(prompt) => {
            let _ = write!(text, "Your role is {}:", context.role);
            indent(text, &prompt);
            text.push('\n');
        }
        None if !context.role.trim().is_empty() => {
            let _ = writeln!(text, "Your role: {}", context.role.trim());
        }
        None => {}
    }
}

fn others(text: &mut String, context: &AgentContext) {
    let roster = Roster::new(context.workspace.clone(), Durability::Process);
    let members = roster.list().unwrap_or_default();
    let there: Vec<String> = members
        .iter()
        .filter(|member| member.name != context.agent && roster.is_alive(&member.name))
        .map(|member| {
            let task = member.task.as_ref();
            let at = task.map_or_else(String::new, |task| format!(", at {task}"));
            format!("{} ({}{at})", member.name, member.role)
        })
        .collect();
    let there = if there.is_empty() {
        "nobody".to_owned()
    } else {
        there.join(", ")
    };
    let _ = writeln!(text, "In the team besides you now: {there}.");
}

fn open_requests(text: &mut String, context: &AgentContext) {
    let requests = Requests::new(context.workspace.clone(), Durability::Process);
    let open = requests.open_ones(None).unwrap_or_default();
    let concerns =
        |record: &&Record| record.sender == context.agent || record.target == context.agent;
    for record in open.iter().filter(concerns) {
        let _ = writeln!(
            text,
            "Open request {}: {:?} of {} to {}, {:?}.",
            record.request_id, record.kind, record.sender, record.target, record.status
        );
    }
}

/// Last, so that the assignment's own id is the last one named.
fn gate_and_assignment(text: &mut String, context: &AgentContext) {
    let gate = context.desk.state().gate;
    let words = match gate {
        PlanGate::NotRequired => None,
        PlanGate::Required => Some("A plan must be approved before you change anything."),
        PlanGate::Pending => Some("Your plan awaits its decision; change nothing before."),
        PlanGate::Rejected => {
            Some("Your plan was rejected; submit another before you change anything.")
        }
        PlanGate::Approved => Some("Your plan is approved."),
    };
    if let Some(words) = words {
        let _ = writeln!(text, "{words}");
    }
    match context.desk.assignment() {
        Some(held) => {
            let _ = write!(
                text,
                "Your assignment:\n{}",
                assignment_text(&context.board, &held)
            );
        }
        None if context.agent.is_lead() => {}
        None => text.push_str("You have no assignment."),
    }
}
