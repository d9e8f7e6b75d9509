//! Opening a session. Whatever can be refused is refused before the first file is made.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;

use super::care;
use super::history::JournalReader;
use super::host::LeadHost;
use super::inlet::Event;
use super::launch::Launcher;
use super::mind::Mind;
use super::session::{Files, Session};
use super::talk::{self, Talk};
use super::way_back::WayBack;
use super::{Inlet, Resume, RunError, SessionOptions, Shown, Ui};
use crate::agent::joined;
use crate::agent::prompt::{self, SystemParts};
use crate::agent::{Thinker, ThinkerParts};
use crate::board::BoardError;
use crate::clock::{self, Timestamp};
use crate::config::settings::{MergeBy, PlanReview};
use crate::config::{Settings, Standing};
use crate::ids::{AgentName, SessionId};
use crate::mailbox::{Message, Post};
use crate::model::{self, Model};
use crate::policy::{Mode, Policy};
use crate::request::Requests;
use crate::store::lock::LockError;
use crate::store::watch::Watcher;
use crate::store::{Durability, quarantine};
use crate::team::usage::Meter;
use crate::team::{LeadPresence, Prices, Roster};
use crate::tool::{AgentContext, Desk, TeamDirectory, ToolBox, leases};
use crate::workspace::Workspace;
use crate::worktree;

/// Opens everything, brings the workspace in order, and shows what was found.
pub(super) fn open(
    mut options: SessionOptions,
    mut ui: Box<dyn Ui>,
    inlet: Inlet,
) -> Result<Session, RunError> {
    let started = clock::instant();
    settle_mode(&mut options);
    let usage = |error: &dyn std::fmt::Display| RunError::Usage(error.to_string());
    let model = model::open(
        &options.model,
        &options.credentials,
        &options.workspace,
        "lead",
    )
    .map_err(|error| usage(&error))?;
    let policy = options
        .settings
        .policy(&AgentName::lead())
        .map_err(|error| usage(&error))?;
    let last = crate::team::Session::load(&options.workspace);
    let (id, resumed) = choose(&options, last.as_ref())?;
    if let Some(last) = last.as_ref().filter(|last| resumed && last.id == id) {
        keep_limits(&mut options.settings, &last.settings);
    }
    let workspace = options.workspace.clone();
    let clear = |paths: &[PathBuf]| {
        care::clear_the_way(paths, &workspace.quarantine_dir())
            .context("what stands in the place of the lead's files could not be moved away")
    };
    let mut moved = clear(&[workspace.lead_lock(), workspace.lead_alive()])?;
    let presence = match LeadPresence::take(&options.workspace) {
        Ok(Ok(presence)) => presence,
        Ok(Err(pid)) => return Err(RunError::Usage(second_lead(pid))),
        Err(error @ LockError::Unsupported { .. }) => return Err(unusable(error.into())),
        Err(error) => Err(error).context("cannot start a lead here")?,
    };
    if last.is_none() {
        keep_damaged_session(&options.workspace)?;
    }
    if workspace.tasks_dir().is_dir() {
        moved.extend(clear(&[workspace.board_lock()])?);
    }
    moved.extend(clear(&files_of_talk(&workspace, &id, last.as_ref()))?);
    options.warnings.extend(moved);
    worktree::exclude_runtime_files(&options.workspace)
        .context("the runtime's files were not excluded from git")?;
    let files = open_files(&options)?;
    let talk = talk::open(&mut options, &files, last.as_ref(), &id)?;
    let record = new_record(&options, &id, last.as_ref(), model.name());
    record
        .save(&files.workspace, durability(&options.settings))
        .context("the session was not recorded")?;
    ui.show(Shown::Started {
        session: id,
        root: options.workspace.root().to_path_buf(),
        model: record.model.clone(),
        resumed,
    });
    let parts = Parts {
        options,
        ui,
        inlet,
        files,
        presence,
        record,
        started,
    };
    let mut session = build(parts, model, policy, talk)?;
    if resumed {
        session.say_what_was_last();
    }
    session.show_held();
    session.begin()?;
    Ok(session)
}

/// What the lead has been told: its mailbox and the conversations of session `id` and of the last one.
fn files_of_talk(
    workspace: &Workspace,
    id: &SessionId,
    last: Option<&crate::team::Session>,
) -> Vec<PathBuf> {
    let before = last.map(|last| workspace.lead_transcript(&last.id));
    [
        workspace.mailbox(&AgentName::lead()),
        workspace.lead_transcript(id),
    ]
    .into_iter()
    .chain(before)
    .collect()
}

/// A record of a session that cannot be read is about to be written anew: what stands there is kept.
fn keep_damaged_session(workspace: &Workspace) -> anyhow::Result<()> {
    let path = workspace.session();
    if path.symlink_metadata().is_ok() {
        let why = "session.json is not the record of a session";
        quarantine::move_file(&workspace.quarantine_dir(), &path, why)
            .context("a damaged session.json could not be put into quarantine")?;
    }
    Ok(())
}

/// Headless, what would be asked is denied, unless the settings say how long to wait for an answer from elsewhere.
pub(super) fn settle_mode(options: &mut SessionOptions) {
    let waits = options.settings.permission_wait_secs.is_some();
    if options.goal.is_some() && !waits {
        let mode = &mut options.settings.permissions.mode;
        if matches!(mode, None | Some(Mode::Ask)) {
            *mode = Some(Mode::Deny);
        }
    }
}

/// A session that goes on keeps the limits it had, where none is named anew.
fn keep_limits(settings: &mut Settings, last: &serde_json::Value) {
    if let Ok(last) = serde_json::from_value::<Settings>(last.clone()) {
        let limits = &mut settings.limits;
        limits.tokens = limits.tokens.or(last.limits.tokens);
        limits.turns = limits.turns.or(last.limits.turns);
        limits.seconds = limits.seconds.or(last.limits.seconds);
        limits.cost = limits.cost.or(last.limits.cost);
        if settings.prices == Prices::default() {
            settings.prices = last.prices;
        }
    }
}

pub(super) fn durability(settings: &Settings) -> Durability {
    settings.durability.unwrap_or_default()
}

/// A board without working locks, or one that cannot be written, is refused, never worked around.
fn unusable(error: BoardError) -> RunError {
    let error = anyhow::Error::new(error);
    RunError::Usage(format!(
        "the team cannot work here; {error:#}; `lead doctor` shows what is not in order"
    ))
}

fn second_lead(pid: Option<u32>) -> String {
    let who = pid.map_or_else(String::new, |pid| format!(" (pid {pid})"));
    format!(
        "another lead runs in this workspace{who}; there is one at a time; talk to that one, or end it first"
    )
}

/// Which session this is, and whether its conversation goes on.
fn choose(
    options: &SessionOptions,
    last: Option<&crate::team::Session>,
) -> Result<(SessionId, bool), RunError> {
    let known = |id: &SessionId| options.workspace.lead_transcript(id).exists();
    match &options.resume {
        Resume::New => Ok((SessionId::random(), false)),
        Resume::Last => Ok(last
            .map(|last| last.id.clone())
            .filter(known)
            .map_or_else(|| (SessionId::random(), false), |id| (id, true))),
        Resume::Id(id) if known(id) => Ok((id.clone(), true)),
        Resume::Id(id) => Err(RunError::Usage(format!(
            "there is no session {id} in this workspace; lead sessions lists those there are"
        ))),
    }
}

fn open_files(options: &SessionOptions) -> Result<Files, RunError> {
    let (workspace, durability) = (&options.workspace, durability(&options.settings));
    let board = joined::open_board(workspace, durability, options.settings.max_attempts)
        .and_then(|board| board.check_changeable().map(|()| board))
        .map_err(unusable)?;
    let roster = Roster::new(workspace.clone(), Durability::Process);
    Ok(Files {
        workspace: workspace.clone(),
        board: Arc::new(board),
        directory: Arc::new(TeamDirectory::new(workspace.clone(), roster.clone())),
        roster,
        requests: Requests::new(workspace.clone(), durability),
        post: Post::new(workspace.clone(), durability),
    })
}

fn new_record(
    options: &SessionOptions,
    id: &SessionId,
    last: Option<&crate::team::Session>,
    model: &str,
) -> crate::team::Session {
    crate::team::Session {
        id: id.clone(),
        generation: last.map_or(0, |last| last.generation) + 1,
        pid: std::process::id(),
        model: model.to_owned(),
        started_at: Timestamp::now(),
        unattended: options.unattended(),
        status: "idle".to_owned(),
        // Nobody starts a lead but the person.
        person_at: Some(Timestamp::now()),
        stalled: BTreeMap::new(),
        settings: serde_json::json!(options.settings),
    }
}

struct Parts {
    options: SessionOptions,
    ui: Box<dyn Ui>,
    inlet: Inlet,
    files: Files,
    presence: LeadPresence,
    record: crate::team::Session,
    started: std::time::Instant,
}

fn build(
    parts: Parts,
    model: Box<dyn Model>,
    policy: Policy,
    talk: Talk,
) -> anyhow::Result<Session> {
    let Parts {
        options,
        ui,
        inlet,
        files,
        presence,
        record,
        started,
    } = parts;
    let watcher = start_watcher(&options, &inlet);
    watcher.watch(&files.workspace.mailbox(&AgentName::lead()));
    watcher.watch(&files.workspace.journal());
    watcher.watch(&files.workspace.rate_gate());
    for file in options.standing.iter().flat_map(Standing::files) {
        watcher.watch(&file);
    }
    let journal = JournalReader::at_end(files.workspace.journal());
    let mut proposals = super::proposals::Proposals::default();
    super::agreed::restore(&mut proposals, &talk.replay, &files.requests, &options);
    let way_back = Arc::new(WayBack::new(
        files.workspace.clone(),
        record.id.clone(),
        inlet.clone(),
    ));
    let launcher = Launcher {
        program: std::env::current_exe().context("this program's own path is not known")?,
        workspace: files.workspace.clone(),
        environment: options.teammate_env.clone(),
        keys: serde_json::to_vec(&options.credentials).context("the keys cannot be handed on")?,
        way_back: Arc::clone(&way_back),
    };
    let meter = Meter::new(&files.workspace, Some(record.id.as_str()));
    let host = LeadHost {
        inlet: inlet.clone(),
        way_back,
    };
    let mind = build_mind(&options, &files, host, model, policy, talk);
    Ok(Session {
        options,
        ui,
        inlet,
        files,
        watcher,
        record,
        started,
        held: Vec::new(),
        mind,
        fleet: super::fleet::Fleet::default(),
        crew: super::supervisor::Crew::default(),
        launcher,
        questions: super::questions::Questions::default(),
        replies: std::collections::HashMap::new(),
        notifying: Arc::default(),
        proposals,
        revivals: std::collections::HashMap::new(),
        standstill: super::headless::Standstill::default(),
        stalls: super::stall::Stalls::default(),
        bringing: super::branches::Bringing::default(),
        eye: crate::findings::Eye::new(started),
        journal,
        person: super::person::Person::default(),
        leaving: None,
        meter,
        limit: None,
        time_ended: false,
        presence,
    })
}

fn start_watcher(options: &SessionOptions, inlet: &Inlet) -> Watcher {
    let (look, say) = (inlet.clone(), inlet.clone());
    Watcher::start(
        options.poll_only,
        move |path| look.put(Event::Changed(path.to_owned())),
        move |text| say.put(Event::Notice(text)),
    )
}

fn build_mind(
    options: &SessionOptions,
    files: &Files,
    host: LeadHost,
    model: Box<dyn Model>,
    policy: Policy,
    talk: Talk,
) -> Mind {
    let reports = host.inlet.clone();
    let context = Arc::new(AgentContext {
        agent: AgentName::lead(),
        role: "lead".to_owned(),
        workspace: files.workspace.clone(),
        board: Arc::clone(&files.board),
        post: files.post.clone(),
        directory: Arc::clone(&files.directory) as Arc<dyn crate::mailbox::Directory>,
        policy: policy.into(),
        grants: std::sync::Mutex::default(),
        desk: Desk::default(),
        host: Box::new(host),
        home: options.home.clone(),
        tool_env: options.tool_env.clone(),
        confinement: options.confinement.clone(),
        verify: options.settings.verify.clone(),
        hooks: options.settings.hooks.clone(),
        lead_reviews_plans: options.settings.plan_review == Some(PlanReview::Lead),
        lead_merges: options.settings.merge_by() == MergeBy::Lead,
    });
    let roster: Vec<String> = living(files);
    let system = prompt::system(&SystemParts {
        agent: &context.agent,
        role: "",
        roster: &roster,
        workspace: &files.workspace,
        plan_gate: false,
    });
    let waiting = talk
        .replay
        .pending_mail
        .iter()
        .filter_map(|message| serde_json::from_value::<Message>(message.clone()).ok())
        .collect();
    let thinker = Thinker::start(ThinkerParts {
        transcript: talk.transcript,
        replay: talk.replay,
        model,
        toolbox: Arc::new(ToolBox::new(Arc::clone(&context))),
        system,
        send: Box::new(move |report| reports.put(Event::Report(report))),
    });
    Mind {
        thinker,
        size: None,
        context,
        inbox: talk.inbox,
        waiting,
        said: std::collections::VecDeque::new(),
        account: None,
        nudge: None,
        failure: None,
    }
}

fn living(files: &Files) -> Vec<String> {
    let members = files.roster.list().unwrap_or_default();
    members
        .iter()
        .filter(|member| files.roster.is_alive(&member.name))
        .map(|member| format!("{} ({})", member.name, member.role))
        .collect()
}

impl Session {
    /// The first things that happen: warnings, what was left, waiting mail, the goal.
    fn begin(&mut self) -> anyhow::Result<()> {
        for warning in std::mem::take(&mut self.options.warnings) {
            self.say(warning);
        }
        // Watched from now on; they may have changed since they were read.
        self.look_at_settings();
        self.show_mode();
        leases::begin(&self.mind.context);
        let waiting = std::mem::take(&mut self.mind.waiting);
        self.receive(waiting)?;
        self.recover()?;
        self.take_mail()?;
        self.say_goal();
        self.deliver_held();
        Ok(())
    }
}
