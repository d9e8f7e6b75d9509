//! The workspace as a verb sees it: found, not entered. Nothing is made before a verb changes something.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::exit::Failure;
use super::shell::Style;
use crate::agent::joined::open_board;
use crate::board::Board;
use crate::config::{self, Environment, Loaded, Settings, Sources};
use crate::ids::AgentName;
use crate::mailbox::Post;
use crate::request::Requests;
use crate::store::Durability;
use crate::team::{Roster, Session, lead_presence};
use crate::workspace::{AGENT, Workspace};
use crate::worktree;

/// Where a verb works.
#[derive(Debug)]
pub struct Place {
    /// The workspace.
    pub workspace: Workspace,
    /// The current directory, if the workspace was found around it and not named.
    pub found_around: Option<PathBuf>,
    /// The environment of this process.
    pub environment: Environment,
    /// How standard output is written.
    pub style: Style,
}

impl Place {
    /// Finds the workspace: `--root`, `PITCREW_ROOT`, else around the current directory.
    pub fn find(
        root: Option<&Path>,
        environment: Environment,
        style: Style,
    ) -> Result<Self, Failure> {
        let here = std::env::current_dir().map_err(|error| {
            Failure::usage(format!(
                "cannot tell the current directory; {error}; give --root DIR"
            ))
        })?;
        let named = root.or(environment.root.as_deref());
        let workspace = Workspace::discover(named, &here).map_err(|error| {
            Failure::usage(format!(
                "{error}; a workspace is a directory; give an existing one with --root DIR"
            ))
        })?;
        let place = Self {
            workspace,
            found_around: named.is_none().then_some(here),
            environment,
            style,
        };
        if place.found_around.is_some() {
            place.refuse_strangers()?;
        }
        Ok(place)
    }

    /// Refuses a workspace that was found and not named, if another user made it.
    fn refuse_strangers(&self) -> Result<(), Failure> {
        let us = nix::unistd::geteuid().as_raw();
        let Some(owner) = self.workspace.stranger(us) else {
            return Ok(());
        };
        let root = self.workspace.root().display();
        Err(Failure::usage(format!(
            "{root} is a workspace of another user (uid {owner}); what stands in its files would be obeyed here; name the \
             directory you mean with --root DIR, that one or your own"
        )))
    }

    /// What a person may not expect of where the team works: found around the current directory, it may be more than meant.
    pub fn surprises(&self) -> Vec<String> {
        let Some(here) = &self.found_around else {
            return Vec::new();
        };
        let root = self.workspace.root();
        let home = self.environment.home.as_deref();
        let whole = (root == Path::new("/") || home.is_some_and(|home| home == root)).then(|| {
            format!(
                "the workspace is {}: agents may change all that is in it; start lead in a project's directory, or name \
                 one with --root DIR",
                root.display()
            )
        });
        let checkout = self.workspace.checkout_within(here);
        let outer = checkout.map(|checkout| {
            format!(
                "the workspace is {}, which has a team's files, and not the git checkout {} in it; for that one start lead \
                 with --root {}",
                root.display(),
                checkout.display(),
                checkout.display()
            )
        });
        whole.into_iter().chain(outer).collect()
    }

    /// Refuses a workspace where one of the team's directories is a link: what is kept there would be kept somewhere else.
    pub fn refuse_links(&self) -> Result<(), Failure> {
        self.link_in_words()
            .map_or(Ok(()), |what| Err(Failure::usage(what)))
    }

    /// Says which of the team's directories is a link, if one is.
    pub fn link_in_words(&self) -> Option<String> {
        let dir = self.workspace.linked_dir()?;
        Some(format!(
            "{} is a symbolic link; the team's files are kept in the workspace itself; put a plain directory there",
            dir.display()
        ))
    }

    /// Refuses what changes something if this process was started by an agent's tool in this very workspace (SPEC §5.5), or
    /// if it is not clear by whose: nobody but such a tool has a reason to hide it.
    pub fn refuse_agents(&self, program: &str) -> Result<(), Failure> {
        let said = self.environment.inside_agents();
        let here = |root: &Path| {
            root.canonicalize()
                .is_ok_and(|root| root == *self.workspace.root())
        };
        let agent = said
            .iter()
            .filter_map(|value| whose(value))
            .find(|(_, root)| here(root));
        let why = if let Some((agent, _)) = agent {
            format!(
                "{program} was started by a tool of {agent}; from there it only reads in this workspace; use the tools"
            )
        } else if let Some(value) = said.iter().find(|value| whose(value).is_none()) {
            format!(
                "{program} was started with {AGENT}={}, which names no agent and its workspace; as if started by a tool it \
                 only reads; take the variable out of the environment",
                value.display()
            )
        } else {
            return Ok(());
        };
        super::log::to_file(&self.workspace, &AgentName::lead());
        tracing::warn!(why, "refused");
        Err(Failure::usage(why))
    }

    /// The settings in force for verbs: the files' and the environment's.
    pub fn settings(&self) -> Result<Loaded, Failure> {
        config::load_from(Sources {
            workspace: &self.workspace,
            environment: &self.environment,
            flags: &Settings::default(),
            trust: false,
        })
        .map_err(Failure::usage)
    }

    /// The settings in force: the session's, else those of the files.
    pub fn in_force(&self) -> Result<Settings, Failure> {
        let of_session = Session::load(&self.workspace)
            .and_then(|session| serde_json::from_value(session.settings).ok());
        match of_session {
            Some(settings) => Ok(settings),
            None => Ok(self.settings()?.settings),
        }
    }

    /// The board for reading.
    pub fn board(&self) -> Result<Board, Failure> {
        self.board_with(&Settings::default())
    }

    /// The board for changing.
    pub fn board_to_change(&self) -> Result<Board, Failure> {
        self.board_with(&self.in_force()?)
    }

    /// The board for mending: settings that cannot be read must not keep anybody from it.
    pub fn board_to_repair(&self) -> Result<Board, Failure> {
        self.board_with(&self.in_force().unwrap_or_default())
    }

    fn board_with(&self, settings: &Settings) -> Result<Board, Failure> {
        let board = open_board(
            &self.workspace,
            settings.durability(),
            settings.max_attempts,
        );
        Ok(board?)
    }

    /// Sending.
    pub fn post(&self) -> Result<Post, Failure> {
        Ok(Post::new(
            self.workspace.clone(),
            self.in_force()?.durability(),
        ))
    }

    /// Keeps what a verb has just made out of git, as every start of a lead does. Nothing that was done depends on it.
    pub fn keep_out_of_git(&self) {
        if let Err(error) = worktree::exclude_runtime_files(&self.workspace) {
            tracing::warn!(%error, "the runtime's files are not kept out of git");
        }
    }

    /// The requests.
    pub fn requests(&self) -> Requests {
        Requests::new(self.workspace.clone(), Durability::Power)
    }

    /// The members.
    pub fn roster(&self) -> Roster {
        Roster::new(self.workspace.clone(), Durability::Power)
    }

    /// Whether a lead lives.
    pub fn has_lead(&self) -> bool {
        lead_presence::is_there(&self.workspace)
    }

    /// The lead, every member as far as the records can be read, and whoever else has a mailbox.
    pub fn agents(&self) -> Vec<AgentName> {
        let mut agents = vec![AgentName::lead()];
        let members = self.roster().list().unwrap_or_default();
        agents.extend(members.into_iter().map(|member| member.name));
        if let Ok(entries) = std::fs::read_dir(self.workspace.mailboxes_dir()) {
            let named = entries.flatten().filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                AgentName::parse(name.strip_suffix(".jsonl")?).ok()
            });
            for name in named {
                if !agents.contains(&name) {
                    agents.push(name);
                }
            }
        }
        agents
    }
}

/// The agent and its workspace in a value of `PITCREW_AGENT`; `None` if it is none that a tool was ever given.
fn whose(value: &OsStr) -> Option<(AgentName, &Path)> {
    let value = value.as_bytes();
    let at = value.iter().position(|byte| *byte == b'@')?;
    let name = std::str::from_utf8(&value[..at]).ok()?;
    let root = Path::new(OsStr::from_bytes(&value[at + 1..]));
    let agent = AgentName::parse(name).ok()?;
    root.is_absolute().then_some((agent, root))
}
