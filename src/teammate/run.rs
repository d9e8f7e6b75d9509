//! One teammate from start to end.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Context as _, anyhow};

use super::ground::{self, Ground};
use super::machine::Final;
use super::{End, Options, RunError, letters, setup};
use crate::ids::AgentName;
use crate::mailbox::Post;
use crate::process::child;
use crate::store::Durability;
use crate::team::{MemberStatus, Presence};
use crate::workspace::Workspace;

/// Runs a teammate to its end on this thread, which owns all of its state. No process that its tools started is left.
///
/// The caller has hardened the process; no other thread exists yet.
pub fn run(options: Options) -> Result<End, RunError> {
    let (workspace, me) = (options.workspace.clone(), options.name.clone());
    if !options.started_by_lead {
        ground::refuse_unusable(&options).map_err(RunError::Usage)?;
    }
    let (inlet, inbound) = setup::listen();
    let presence = Presence::take(&workspace, &me)
        .with_context(|| format!("cannot take the presence of {me}"))?;
    let Some(presence) = presence else {
        return Err(RunError::Usage(format!(
            "{me} is running already; another process has that name in this workspace; choose another --name"
        )));
    };
    // Its lead was killed just after it was started, and the next one has undone that.
    if options.started_by_lead && !workspace.member(&me).exists() {
        return Err(RunError::Usage(format!(
            "the start of {me} was undone; its lead is gone; start it again"
        )));
    }
    let lived = catch_unwind(AssertUnwindSafe(|| live(options, inlet, &inbound)))
        .unwrap_or_else(|panic| Err(anyhow!("internal error: {}", panic_text(&*panic))));
    child::kill_strays();
    if let Err(error) = &lived {
        last_words(&workspace, &me, error);
    } else {
        // Its own and empty of value; that it stays is no failure.
        std::fs::remove_dir_all(workspace.agent_tmp(&me)).ok();
    }
    drop(presence);
    Ok(lived?)
}

fn live(
    options: Options,
    inlet: super::channel::Inlet,
    inbound: &std::sync::mpsc::Receiver<super::channel::Inbound>,
) -> anyhow::Result<End> {
    let ground = Ground::new(options)?;
    let mut mate = match ground.build(inlet)? {
        Ok(mate) => mate,
        Err((mut card, _, why)) => {
            card.change(|member| {
                member.status = MemberStatus::Failed;
                member.pid = None;
                member.last_error = Some(why.clone());
            })?;
            return Ok(End::Failed(why));
        }
    };
    Ok(match mate.run(inbound)? {
        Final::Stopped => End::Stopped,
        Final::WrapUpFailed => End::Failed("the wrap-up failed".to_owned()),
        Final::LeadLost => End::LeadLost,
        Final::Failed(why) => End::Failed(why),
        Final::Signalled(signal) => End::Signalled(signal),
    })
}

/// The last act of a teammate that cannot go on: the lead is told. Its record says that it was alive, so it counts as lost
/// and is started again.
fn last_words(workspace: &Workspace, me: &AgentName, error: &anyhow::Error) {
    let text = format!("{me} ends by an error that it cannot mend: {error:#}");
    let message = letters::error_report(me, &text, None);
    let post = Post::new(workspace.clone(), Durability::Process);
    if let Err(error) = post.deliver(&message) {
        tracing::error!(%error, "the lead could not be told");
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic".to_owned())
}
