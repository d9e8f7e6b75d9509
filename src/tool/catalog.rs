//! Who gets which tools, in the order in which they are offered (SPEC §11).

use super::bash_tool::Bash;
use super::call::Entry;
use super::create_worktree::CreateWorktree;
use super::edit_file::EditFile;
use super::glob::Glob;
use super::grep::Grep;
use super::merge_worktree::MergeWorktree;
use super::plans::{RequestPlan, ReviewPlan, SubmitPlan};
use super::read_file::ReadFile;
use super::send_message::SendMessage;
use super::tasks::claim::ClaimTask;
use super::tasks::complete::CompleteTask;
use super::tasks::create::CreateTask;
use super::tasks::give_up::{CancelTask, ReleaseTask};
use super::tasks::show::{GetTask, ListTasks};
use super::tasks::update::UpdateTask;
use super::team::{ListTeammates, ProposeTeam, RequestShutdown, SpawnTeammate};
use super::todo::TodoWrite;
use super::write_file::WriteFile;
use crate::ids;

/// The tools of the lead, or of a teammate.
pub(crate) fn of(lead: bool, lead_reviews_plans: bool, lead_merges: bool) -> Vec<Entry> {
    let mut tools = for_all();
    if !lead {
        tools.push(Entry::of::<SubmitPlan>());
        return tools;
    }
    tools.extend(for_the_lead());
    if lead_reviews_plans {
        tools.push(Entry::of::<ReviewPlan>());
    }
    if lead_merges {
        tools.push(Entry::of::<MergeWorktree>());
    }
    tools
}

fn for_all() -> Vec<Entry> {
    vec![
        Entry::of::<Bash>(),
        Entry::of::<ReadFile>(),
        Entry::of::<WriteFile>(),
        Entry::of::<EditFile>(),
        Entry::of::<Glob>(),
        Entry::of::<Grep>(),
        Entry::of::<TodoWrite>(),
        Entry::of::<ListTasks>(),
        Entry::of::<GetTask>(),
        Entry::of::<ClaimTask>(),
        Entry::of::<CompleteTask>(),
        Entry::of::<SendMessage>(),
    ]
}

fn for_the_lead() -> Vec<Entry> {
    vec![
        Entry::of::<CreateTask>(),
        Entry::of::<UpdateTask>(),
        Entry::of::<ReleaseTask>(),
        Entry::of::<CancelTask>(),
        Entry::of::<ProposeTeam>(),
        Entry::of::<SpawnTeammate>(),
        Entry::of::<ListTeammates>(),
        Entry::of::<RequestShutdown>(),
        Entry::of::<RequestPlan>(),
        Entry::of::<CreateWorktree>(),
    ]
}

/// The tool of that name. `Err` names the nearest.
pub(crate) fn find<'a>(tools: &'a [Entry], name: &str) -> Result<&'a Entry, String> {
    if let Some(entry) = tools.iter().find(|entry| entry.spec.name == name) {
        return Ok(entry);
    }
    let shown: String = name.chars().take(80).collect();
    if for_the_lead().iter().any(|entry| entry.spec.name == name) {
        return Err(format!(
            "{shown} is for the lead only; send it a message if you need that done"
        ));
    }
    let names: Vec<&str> = tools.iter().map(|entry| entry.spec.name).collect();
    Err(match ids::nearest(name, names.iter().copied()) {
        Some(near) => format!("there is no tool {shown:?}; did you mean {near}?"),
        None => format!(
            "there is no tool {shown:?}; there are: {}",
            names.join(", ")
        ),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn names(lead: bool, reviews: bool, merges: bool) -> Vec<&'static str> {
        of(lead, reviews, merges)
            .iter()
            .map(|entry| entry.spec.name)
            .collect()
    }

    #[test]
    fn everybody_gets_the_tools_of_the_contract() {
        let all = "bash read_file write_file edit_file glob grep todo_write list_tasks get_task claim_task \
                   complete_task send_message";
        let lead = "create_task update_task release_task cancel_task propose_team spawn_teammate list_teammates \
                    request_shutdown request_plan create_worktree";
        let joined = |names: Vec<&str>| names.join(" ");
        assert_eq!(
            joined(names(false, true, true)),
            format!("{all} submit_plan")
        );
        assert_eq!(joined(names(true, false, false)), format!("{all} {lead}"));
        assert_eq!(
            joined(names(true, true, false)),
            format!("{all} {lead} review_plan")
        );
        assert_eq!(
            joined(names(true, false, true)),
            format!("{all} {lead} merge_worktree")
        );
    }

    /// Calls `look` with every schema in `schema`, itself first.
    fn each(schema: &Value, look: &mut impl FnMut(&Value)) {
        look(schema);
        let properties = schema.get("properties").and_then(Value::as_object);
        for inner in properties.into_iter().flat_map(|fields| fields.values()) {
            each(inner, look);
        }
        if let Some(items) = schema.get("items") {
            each(items, look);
        }
    }

    #[test]
    fn schemas_are_closed_explained_and_without_noise() {
        for entry in of(true, true, true).iter().chain(&of(false, false, false)) {
            let name = entry.spec.name;
            assert_eq!(entry.spec.schema["type"], "object", "{name}");
            each(&entry.spec.schema, &mut |schema| {
                for noise in [
                    "$ref", "$schema", "$defs", "title", "anyOf", "oneOf", "format", "default",
                ] {
                    assert!(schema.get(noise).is_none(), "{name}: {noise} in {schema}");
                }
                assert!(schema["type"].is_string(), "{name}: {schema}");
                if schema["type"] == "object" {
                    assert_eq!(schema["additionalProperties"], false, "{name}: {schema}");
                }
                let fields = schema.get("properties").and_then(Value::as_object);
                for (field, inner) in fields.into_iter().flatten() {
                    assert!(
                        inner.get("description").is_some(),
                        "{name}.{field} is not explained"
                    );
                }
            });
        }
    }

    #[test]
    fn schemas_are_the_same_text_every_time() {
        let text = || -> String {
            of(true, true, true)
                .iter()
                .map(|entry| entry.spec.schema.to_string())
                .collect()
        };
        assert_eq!(text(), text());
    }

    #[test]
    fn an_unknown_tool_is_answered_with_the_nearest() {
        let teammate = of(false, false, false);
        let said = |name: &str| find(&teammate, name).err().unwrap_or_default();
        assert!(find(&teammate, "bash").is_ok());
        assert!(
            said("Bash").contains("did you mean bash"),
            "{}",
            said("Bash")
        );
        assert!(said("read_fle").contains("did you mean read_file"));
        assert!(said("frobnicate").contains("there are: bash, read_file"));
        assert!(said("spawn_teammate").contains("for the lead only"));
        assert!(said(&"x".repeat(10_000)).len() < 1_000);
    }
}
