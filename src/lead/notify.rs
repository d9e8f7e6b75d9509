//! The person's own command that tells of a question while they look elsewhere: setting `notify`.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use super::inlet::Event;
use super::session::Session;
use crate::ids::AgentName;
use crate::process::guard::{End, ShellCall, run_shell};
use crate::request::{Record, RequestKind};

/// How long it may take.
const TIME: Duration = Duration::from_secs(30);
/// How much of what it says is kept, in characters.
const KEEP: usize = 1_000;
/// Most characters of the question that it is told.
const LONGEST: usize = 300;

impl Session {
    /// A question to the person has opened: the command runs by itself, and is told what is asked in `PITCREW_QUESTION`, by
    /// whom in `PITCREW_FROM`, and its id in `PITCREW_REQUEST`. It has the person's environment without any key.
    pub(super) fn notify(&mut self, record: &Record) {
        let Some(command) = self.options.settings.notify.clone() else {
            return;
        };
        let workspace = &self.files.workspace;
        let mut env = self.options.teammate_env.clone();
        env.extend([
            ("PITCREW_QUESTION".into(), in_words(record).into()),
            ("PITCREW_FROM".into(), record.sender.as_str().into()),
            ("PITCREW_REQUEST".into(), record.request_id.as_str().into()),
        ]);
        let call = ShellCall {
            command,
            dir: workspace.root().to_owned(),
            env,
            timeout: TIME,
            spill: workspace.agent_tmp(&AgentName::lead()).join("notify.txt"),
            sandbox: None,
            keep: KEEP,
        };
        let (inlet, cancel) = (self.inlet.clone(), Arc::clone(&self.notifying));
        std::thread::spawn(move || {
            let why = match run_shell(&call, &cancel) {
                Ok(done) if done.end == End::Exited(0) => return,
                Ok(_) if cancel.is_cancelled() => return,
                Ok(done) => format!("{:?} {}", done.end, done.output.trim()),
                Err(error) => error.to_string(),
            };
            inlet.put(Event::Notice(format!(
                "the notify command of your settings failed: {why}"
            )));
        });
    }
}

/// The question in a line without control characters.
fn in_words(record: &Record) -> String {
    let part = |name: &str| record.payload[name].as_str().unwrap_or_default();
    let input = &record.payload["input"];
    let what = match record.kind {
        RequestKind::Permission => {
            let of = ["command", "path"]
                .iter()
                .find_map(|key| input[*key].as_str());
            format!(
                "asks for permission: {} {}",
                part("tool"),
                of.unwrap_or_default()
            )
        }
        RequestKind::PlanApproval => format!("submits a plan: {}", part("title")),
        RequestKind::Team => format!("proposes a team: {}", part("rationale")),
        RequestKind::Shutdown | RequestKind::PlanWish => "asks".to_owned(),
    };
    let mut words = String::new();
    let _ = write!(words, "{} {what}", record.sender);
    let plain = words
        .chars()
        .map(|ch| if ch.is_control() { ' ' } else { ch });
    plain.take(LONGEST).collect()
}
