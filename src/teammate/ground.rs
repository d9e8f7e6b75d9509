//! What is known before anything is opened: settings, role, model, and the teammate's own record.

use anyhow::{Context as _, anyhow};

use super::Options;
use super::card::Card;
use crate::clock::Timestamp;
use crate::config::Settings;
use crate::config::settings::MemberSettings;
use crate::ids::AgentName;
use crate::model::{self, ModelSpec};
use crate::store::{Durability, atomic};
use crate::team::{Member, MemberStatus, PlanGate, Roster, Session};

/// How many old conversations of one name are kept.
const MOST_KEPT: u32 = 10_000;

/// Why a teammate that a person starts could call no model, if it could not: looked at before anything is made, since
/// nobody supervises it.
pub(super) fn refuse_unusable(options: &Options) -> Result<(), String> {
    let settings = in_force(options, Session::load(&options.workspace).as_ref());
    let own = settings.member(&options.name).cloned().unwrap_or_default();
    let spec = model_spec(options, &settings, &own)?;
    let (workspace, me) = (&options.workspace, options.name.as_str());
    let opened = model::open(&spec, &options.credentials, workspace, me);
    opened.map(drop).map_err(|error| error.to_string())
}

/// See the module.
pub(super) struct Ground {
    pub(super) options: Options,
    pub(super) settings: Settings,
    pub(super) session: Option<Session>,
    pub(super) card: Card,
    /// The role and settings under which it works.
    pub(super) role: String,
    pub(super) spec: Result<ModelSpec, String>,
}

impl Ground {
    /// Writes the teammate's own record. The presence is held already.
    pub(super) fn new(mut options: Options) -> anyhow::Result<Self> {
        let workspace = options.workspace.clone();
        let session = Session::load(&workspace);
        let settings = in_force(&options, session.as_ref());
        let roster = Roster::new(workspace, Durability::Process);
        let before = roster
            .get(&options.name)
            .context("cannot read the member's record")?;
        if let Some(before) = &before {
            options.name = before.name.clone();
        }
        let own = settings.member(&options.name).cloned().unwrap_or_default();
        let role = options
            .role
            .clone()
            .or_else(|| before.as_ref().map(|member| member.role.clone()))
            .or_else(|| own.role.clone())
            .unwrap_or_default();
        let spec = model_spec(&options, &settings, &own);
        options.require_plan |= own.require_plan == Some(true);
        if !options.started_by_lead {
            set_aside(&options, before.as_ref())?;
        }
        let member = record(&options, before, &role, spec.as_ref().ok());
        let card = Card::open(roster, member).context("cannot write the member's record")?;
        Ok(Self {
            options,
            settings,
            session,
            card,
            role,
            spec,
        })
    }
}

/// The session's settings, else its own.
fn in_force(options: &Options, session: Option<&Session>) -> Settings {
    session
        .and_then(|session| serde_json::from_value(session.settings.clone()).ok())
        .unwrap_or_else(|| options.settings.clone())
}

fn model_spec(
    options: &Options,
    settings: &Settings,
    own: &MemberSettings,
) -> Result<ModelSpec, String> {
    if let Some(spec) = &options.model {
        return Ok(spec.clone());
    }
    let named = [&own.model, &settings.teammate_model, &settings.model]
        .into_iter()
        .flatten()
        .next();
    match (named, &options.fallback_model) {
        (Some(text), _) => ModelSpec::parse(text).map_err(|error| error.to_string()),
        (None, Some(spec)) => Ok(spec.clone()),
        (None, None) => Err(format!(
            "no model for {}; neither a session nor the settings name one, no key is set and no Ollama answers; start `lead`, \
             which starts teammates itself, or give --model PROVIDER:NAME",
            options.name
        )),
    }
}

/// The record of this process; what others left in it that is none of ours is kept.
fn record(
    options: &Options,
    before: Option<Member>,
    role: &str,
    spec: Option<&ModelSpec>,
) -> Member {
    let started_by = if options.started_by_lead {
        AgentName::lead()
    } else {
        AgentName::user()
    };
    let model = spec.map(ToString::to_string).unwrap_or_default();
    match before {
        Some(before) => Member {
            role: role.to_owned(),
            model,
            status: MemberStatus::Starting,
            pid: Some(std::process::id()),
            started_by: Some(started_by),
            prompt: before.prompt.filter(|_| options.started_by_lead),
            require_plan: options.require_plan,
            last_error: None,
            started_at: if options.started_by_lead {
                before.started_at
            } else {
                Timestamp::now()
            },
            ..before
        },
        None => Member {
            name: options.name.clone(),
            role: role.to_owned(),
            model,
            status: MemberStatus::Starting,
            pid: Some(std::process::id()),
            started_at: Timestamp::now(),
            task: None,
            plan_gate: PlanGate::NotRequired,
            plan_request: None,
            turns: 0,
            tokens: 0,
            restarts: 0,
            last_error: None,
            started_by: Some(started_by),
            prompt: None,
            require_plan: options.require_plan,
            extra: serde_json::Map::new(),
        },
    }
}

/// A person starts a stopped name again: its old conversation is kept aside. (A lead does that itself.)
fn set_aside(options: &Options, before: Option<&Member>) -> anyhow::Result<()> {
    let path = options.workspace.transcript(&options.name);
    let ended = before.is_some_and(|member| member.status == MemberStatus::Stopped);
    if !ended || !path.exists() {
        return Ok(());
    }
    let aside = (1..=MOST_KEPT)
        .map(|n| path.with_extension(format!("{n}.jsonl")))
        .find(|aside| !aside.exists())
        .ok_or_else(|| anyhow!("too many old conversations"))?;
    atomic::rename(&path, &aside, Durability::Power).context("cannot keep the old conversation")
}
