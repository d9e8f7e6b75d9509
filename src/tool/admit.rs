//! Whether a call that fits may run: wrapping up, the plan gate, the directory rule, the rules, the person. In this order.

use serde_json::{Value, json};

use super::call::{Call, Class, Entry, Ready};
use super::path::{Target, resolve};
use super::place::Place;
use super::tasks::staged;
use super::{AgentContext, HostCall, PermissionAsk, confined};
use crate::policy::{Scope, Verdict, is_plain_git};
use crate::team::PlanGate;

/// Fills in where the call works and asks whoever must be asked. `Ok` holds the person's comment; `Err` goes to the model.
pub(crate) fn admit(
    entry: &Entry,
    ready: &dyn Ready,
    input: &Value,
    call: &mut Call<'_>,
) -> Result<Option<String>, String> {
    let name = entry.spec.name;
    check_desk(entry, call.context)?;
    if entry.class == Class::Workspace {
        let place = if name == "bash" {
            Place::of_commands(call.context)
        } else {
            Place::of(call.context)
        };
        let place = place.map_err(|why| format!("{name}: {why}"))?;
        if let Some((path, access)) = ready.path() {
            let target = resolve(&place, path, access).map_err(|why| format!("{name}: {why}"))?;
            call.target = Some(target);
        }
        call.commits =
            name == "bash" && may_commit(call.context, &place, input["command"].as_str());
        call.place = Some(place);
    }
    let scope = scope(name, call);
    let verdict = judge(name, input, call, &scope);
    match verdict {
        Verdict::Allow => Ok(None),
        Verdict::Deny(_) | Verdict::Unasked { .. } => {
            Err(refused(name, name, input, &verdict, call))
        }
        Verdict::Ask { because, always } => {
            let ask = PermissionAsk {
                tool: name.to_owned(),
                input: input.clone(),
                diff: ready.preview(call)?,
                because,
                always,
                dir: scope.dir.display().to_string(),
            };
            ask_for(ask, call)
        }
    }
}

/// Whether a call of the lead in the workspace is plain git, which its walls can let write the repository and nothing else.
fn may_commit(context: &AgentContext, place: &Place, command: Option<&str>) -> bool {
    context.agent.is_lead()
        && place.dir == place.root
        && command.is_some_and(is_plain_git)
        && confined::can_commit(context)
}

/// Judges a command that a later call will run, as if this agent ran it now: a task's `verify` is no way round the rules.
pub(crate) fn admit_command(command: &str, call: &Call<'_>) -> Result<(), String> {
    let input = json!({ "command": command });
    let scope = scope("bash", call);
    let verdict = judge("bash", &input, call, &scope);
    match verdict {
        Verdict::Allow => Ok(()),
        Verdict::Deny(_) | Verdict::Unasked { .. } => {
            Err(refused("`verify`", "bash", &input, &verdict, call))
        }
        Verdict::Ask { because, .. } => {
            let ask = PermissionAsk {
                tool: "bash".to_owned(),
                input,
                diff: None,
                because: format!("{because}; it is to verify a task"),
                always: None,
                dir: scope.dir.display().to_string(),
            };
            ask_for(ask, call).map(drop)
        }
    }
}

/// What the model is told. Where only nobody was asked, the person is told, too, and of the rule that would allow it.
fn refused(what: &str, tool: &str, input: &Value, verdict: &Verdict, call: &Call<'_>) -> String {
    if let Verdict::Unasked { because, always } = verdict {
        let text = unasked(tool, input, because, always.as_deref());
        call.context.host.denied(text);
    }
    let why = verdict.refusal().unwrap_or_default();
    format!("{what} is denied: {why}")
}

fn unasked(tool: &str, input: &Value, because: &str, rule: Option<&str>) -> String {
    let about = ["command", "path"]
        .iter()
        .find_map(|key| input[*key].as_str());
    let about = about.map_or_else(String::new, |about| format!(" `{about}`"));
    let way = rule.map_or_else(
        || "start `lead` on a terminal to be asked".to_owned(),
        |rule| format!("the rule {rule} under permissions.allow of your settings allows it"),
    );
    format!("denied: {tool}{about}; nobody is asked in this run, and {because}; {way}")
}

fn check_desk(entry: &Entry, context: &AgentContext) -> Result<(), String> {
    let name = entry.spec.name;
    let desk = context.desk.state();
    if desk.wrapping_up && entry.class != Class::Always {
        return Err(format!(
            "{name} is refused: you are wrapping up, so no workspace tools and no new work; say what is done and what is open"
        ));
    }
    if entry.gated && !desk.gate.is_open() {
        let request = desk.plan_request.as_ref();
        let request = request.map_or_else(String::new, |id| format!(" ({id})"));
        let why = match desk.gate {
            PlanGate::Pending => format!("your plan{request} awaits its decision; wait for it"),
            PlanGate::Rejected => {
                format!("your plan{request} was rejected; submit a better one with submit_plan")
            }
            PlanGate::Required | PlanGate::NotRequired | PlanGate::Approved => {
                "a plan must be approved before you change anything; submit one with submit_plan"
                    .to_owned()
            }
        };
        return Err(format!("{name} is blocked by the plan gate: {why}"));
    }
    Ok(())
}

/// Tools that need no directory are judged as if they worked in the workspace.
fn scope(name: &str, call: &Call<'_>) -> Scope {
    match &call.place {
        Some(place) if name == "bash" => place.scope_of_commands(),
        Some(place) => place.scope(),
        None => Scope {
            dir: call.context.workspace.root().to_path_buf(),
            tmp: call.context.workspace.agent_tmp(&call.context.agent),
            root: call.context.workspace.root().to_path_buf(),
            home: call.context.home.clone(),
        },
    }
}

/// A path is judged twice, as given and as what it means through links: the stricter verdict counts.
fn judge(name: &str, input: &Value, call: &Call<'_>, scope: &Scope) -> Verdict {
    let grants = call
        .context
        .grants
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
        .clone();
    let policy = call
        .context
        .policy
        .read()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if call.commits {
        let command = input["command"].as_str().unwrap_or_default();
        return policy.judge_commits(command, scope, &grants);
    }
    let as_given = policy.judge(name, &given(input, call), scope, &grants);
    let Some(target) = &call.target else {
        return as_given;
    };
    let as_meant = policy.judge(name, &meant(input, target), scope, &grants);
    match (as_given, as_meant) {
        (deny @ Verdict::Deny(_), _) | (_, deny @ Verdict::Deny(_)) => deny,
        (_, ask @ (Verdict::Ask { .. } | Verdict::Unasked { .. }))
        | (ask @ (Verdict::Ask { .. } | Verdict::Unasked { .. }), Verdict::Allow) => ask,
        (Verdict::Allow, Verdict::Allow) => Verdict::Allow,
    }
}

/// A path in the temporary directory is named as commands see it.
fn given(input: &Value, call: &Call<'_>) -> Value {
    let mut given = input.clone();
    if let (Some(place), Some(path)) = (&call.place, given.get_mut("path"))
        && let Some(named) = path.as_str()
        && place.is_temporary(named)
    {
        *path = Value::String(place.as_meant(named).display().to_string());
    }
    given
}

fn meant(input: &Value, target: &Target) -> Value {
    let mut meant = input.clone();
    if let Some(path) = meant.get_mut("path") {
        *path = Value::String(target.real.display().to_string());
    }
    meant
}

fn ask_for(ask: PermissionAsk, call: &Call<'_>) -> Result<Option<String>, String> {
    // The question does not depend on them; the end of the turn tells of what stands in the way.
    if let Err(why) = staged::publish_before_asking(call.context) {
        tracing::warn!("{why}");
    }
    let comment = call.context.host.call(HostCall::Permit(ask), call.cancel)?;
    let comment = comment.trim();
    Ok((!comment.is_empty()).then(|| comment.to_owned()))
}
