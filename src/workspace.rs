//! Every path of a workspace, spelled once, and how its root is found.
//!
//! Paths are built only from validated names ([`crate::ids`]). Nothing here creates or writes anything.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::ids::{AgentName, RequestId, SessionId, TaskId, WorktreeName};

/// The variable that says whose process something is which an agent has started: `<name>@<root>` (SPEC §5.5).
pub const AGENT: &str = "PITCREW_AGENT";

/// Names in the workspace's root that belong to the runtime.
pub const RUNTIME_DIRS: [&str; 4] = [".tasks", ".mailboxes", ".worktrees", ".team"];

/// Why no workspace root could be determined.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// The named root is not a directory.
    #[error("{0} is not a directory")]
    NotADirectory(PathBuf),
    /// The root's path could not be resolved.
    #[error("cannot resolve {path}")]
    Resolve {
        /// The path in question.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// What makes a directory a workspace, wherever beneath it one starts.
const MARKS: [&str; 3] = [".team", ".tasks", ".mailboxes"];

/// The directories in `.team/state`: what is in them is written and removed by the runtime itself.
const STATE_DIRS: [&str; 10] = [
    "archive",
    "git",
    "hooks",
    "leases",
    "logs",
    "members",
    "quarantine",
    "requests",
    "tmp",
    "transcripts",
];

/// A workspace: the directory the team works in. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The workspace at exactly `root`, which must be an absolute path to a directory.
    pub fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// Finds the root by the order of SPEC §2. `named` is `--root` or `PITCREW_ROOT`.
    pub fn discover(named: Option<&Path>, current: &Path) -> Result<Self, RootError> {
        let start = named.unwrap_or(current);
        let start = start.canonicalize().map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                RootError::NotADirectory(start.into())
            }
            _ => RootError::Resolve {
                path: start.into(),
                source,
            },
        })?;
        if !start.is_dir() {
            return Err(RootError::NotADirectory(start));
        }
        if named.is_some() {
            return Ok(Self { root: start });
        }
        Ok(Self {
            root: enclosing_root(&start).unwrap_or(start),
        })
    }

    /// The top of the git checkout around `current` that lies within this workspace and is not itself it or one of its
    /// worktrees: whoever starts there may have meant that one.
    pub fn checkout_within(&self, current: &Path) -> Option<PathBuf> {
        current
            .ancestors()
            .take_while(|dir| *dir != self.root && dir.starts_with(&self.root))
            .find(|dir| dir.join(".git").exists())
            .filter(|dir| !dir.starts_with(self.worktrees_dir()))
            .map(Path::to_path_buf)
    }

    /// The owner of what makes this directory a workspace, if that is neither `us` nor root: what stands in such files would
    /// be obeyed though another wrote it.
    pub fn stranger(&self, us: u32) -> Option<u32> {
        let owners = MARKS.iter().filter_map(|name| {
            let mark = self.root.join(name).symlink_metadata().ok()?;
            Some(mark.uid())
        });
        let mut strangers = owners.filter(|owner| us != 0 && *owner != us && *owner != 0);
        strangers.next()
    }

    /// The root directory, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The first of the runtime's own directories that is a link: what is kept there would be kept somewhere else, where
    /// no sandbox guards it.
    pub fn linked_dir(&self) -> Option<PathBuf> {
        let dirs = [
            self.tasks_dir(),
            self.mailboxes_dir(),
            self.worktrees_dir(),
            self.team_dir(),
            self.state_dir(),
        ];
        let below = STATE_DIRS.iter().map(|name| self.state(name));
        dirs.into_iter().chain(below).find(|dir| dir.is_symlink())
    }

    /// `.tasks`
    pub fn tasks_dir(&self) -> PathBuf {
        self.root.join(".tasks")
    }

    /// `.tasks/<id>.json`
    pub fn task(&self, id: &TaskId) -> PathBuf {
        self.tasks_dir().join(format!("{id}.json"))
    }

    /// `.tasks/.lock`
    pub fn board_lock(&self) -> PathBuf {
        self.tasks_dir().join(".lock")
    }

    /// `.tasks/.journal.jsonl`
    pub fn journal(&self) -> PathBuf {
        self.tasks_dir().join(".journal.jsonl")
    }

    /// `.tasks/.index`
    pub fn board_index(&self) -> PathBuf {
        self.tasks_dir().join(".index")
    }

    /// `.tasks/.bell`
    pub fn bell(&self) -> PathBuf {
        self.tasks_dir().join(".bell")
    }

    /// `.mailboxes`
    pub fn mailboxes_dir(&self) -> PathBuf {
        self.root.join(".mailboxes")
    }

    /// `.mailboxes/<agent>.jsonl`; mail to `user` waits in the lead's.
    pub fn mailbox(&self, agent: &AgentName) -> PathBuf {
        let owner = if *agent == AgentName::user() {
            AgentName::lead()
        } else {
            agent.clone()
        };
        self.mailboxes_dir().join(format!("{owner}.jsonl"))
    }

    /// `.worktrees`
    pub fn worktrees_dir(&self) -> PathBuf {
        self.root.join(".worktrees")
    }

    /// `.worktrees/<name>`
    pub fn worktree(&self, name: &WorktreeName) -> PathBuf {
        self.worktrees_dir().join(name.as_str())
    }

    /// `.team`
    pub fn team_dir(&self) -> PathBuf {
        self.root.join(".team")
    }

    /// `.team/team.json`
    pub fn team_settings(&self) -> PathBuf {
        self.team_dir().join("team.json")
    }

    /// `.team/agents`
    pub fn roles_dir(&self) -> PathBuf {
        self.team_dir().join("agents")
    }

    /// `.team/state`
    pub fn state_dir(&self) -> PathBuf {
        self.team_dir().join("state")
    }

    /// A file or directory of the runtime's state by its fixed name, such as `usage.jsonl`.
    fn state(&self, name: &str) -> PathBuf {
        self.state_dir().join(name)
    }

    /// `lead.lock`: the election, touched only by leads.
    pub fn lead_lock(&self) -> PathBuf {
        self.state("lead.lock")
    }

    /// `lead.alive`: held by the lead for life, watched by teammates.
    pub fn lead_alive(&self) -> PathBuf {
        self.state("lead.alive")
    }

    /// `session.json`
    pub fn session(&self) -> PathBuf {
        self.state("session.json")
    }

    /// `members/`
    pub fn members_dir(&self) -> PathBuf {
        self.state("members")
    }

    /// `members/<name>.json`
    pub fn member(&self, name: &AgentName) -> PathBuf {
        self.members_dir().join(format!("{name}.json"))
    }

    /// `members/<name>.lock`: held by the teammate for life.
    pub fn member_lock(&self, name: &AgentName) -> PathBuf {
        self.members_dir().join(format!("{name}.lock"))
    }

    /// `requests/`
    pub fn requests_dir(&self) -> PathBuf {
        self.state("requests")
    }

    /// `requests/<id>.json`
    pub fn request(&self, id: &RequestId) -> PathBuf {
        self.requests_dir().join(format!("{id}.json"))
    }

    /// `transcripts/`
    pub fn transcripts_dir(&self) -> PathBuf {
        self.state("transcripts")
    }

    /// `transcripts/<teammate>.jsonl`
    pub fn transcript(&self, teammate: &AgentName) -> PathBuf {
        self.transcripts_dir().join(format!("{teammate}.jsonl"))
    }

    /// `transcripts/lead.<session>.jsonl`
    pub fn lead_transcript(&self, session: &SessionId) -> PathBuf {
        self.transcripts_dir().join(format!("lead.{session}.jsonl"))
    }

    /// `archive/`
    pub fn archive_dir(&self) -> PathBuf {
        self.state("archive")
    }

    /// `archive/<agent>.jsonl`
    pub fn archive(&self, agent: &AgentName) -> PathBuf {
        self.archive_dir().join(format!("{agent}.jsonl"))
    }

    /// `grants.jsonl`
    pub fn grants(&self) -> PathBuf {
        self.state("grants.jsonl")
    }

    /// `leases/`
    pub fn leases_dir(&self) -> PathBuf {
        self.state("leases")
    }

    /// `worktrees.lock`: held by whoever makes a worktree.
    pub fn worktrees_lock(&self) -> PathBuf {
        self.state("worktrees.lock")
    }

    /// `git/<name>/`: what is kept of the repository as the worktree's agent sees it.
    pub fn git_view(&self, name: &WorktreeName) -> PathBuf {
        self.state("git").join(name.as_str())
    }

    /// `gate.json`: until when a provider asked everybody to wait.
    pub fn rate_gate(&self) -> PathBuf {
        self.state("gate.json")
    }

    /// `usage.jsonl`
    pub fn usage(&self) -> PathBuf {
        self.state("usage.jsonl")
    }

    /// `script.json`: the names that a script's replies have bound.
    pub fn script_names(&self) -> PathBuf {
        self.state("script.json")
    }

    /// `logs/`
    pub fn logs_dir(&self) -> PathBuf {
        self.state("logs")
    }

    /// `logs/<agent>.log`
    pub fn log(&self, agent: &AgentName) -> PathBuf {
        self.logs_dir().join(format!("{agent}.log"))
    }

    /// `quarantine/`
    pub fn quarantine_dir(&self) -> PathBuf {
        self.state("quarantine")
    }

    /// `hooks/`: what a running hook reads.
    pub fn hooks_dir(&self) -> PathBuf {
        self.state("hooks")
    }

    /// `tmp/<agent>/`: the agent's own temporary directory.
    pub fn agent_tmp(&self, agent: &AgentName) -> PathBuf {
        self.state("tmp").join(agent.as_str())
    }
}

fn enclosing_root(start: &Path) -> Option<PathBuf> {
    let above_worktree = start.ancestors().find_map(|dir| {
        let worktrees = dir.parent()?;
        let root = worktrees.parent()?;
        (worktrees.file_name()? == ".worktrees" && dir.join(".git").exists())
            .then(|| root.to_path_buf())
    });
    above_worktree
        .or_else(|| {
            start
                .ancestors()
                .find(|dir| marks_a_workspace(dir))
                .map(Path::to_path_buf)
        })
        .or_else(|| {
            start
                .ancestors()
                .find(|dir| dir.join(".git").exists())
                .map(Path::to_path_buf)
        })
}

fn marks_a_workspace(dir: &Path) -> bool {
    MARKS.iter().any(|name| dir.join(name).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(root: &Path, dirs: &[&str]) {
        for dir in dirs {
            std::fs::create_dir_all(root.join(dir)).unwrap();
        }
    }

    #[test]
    fn the_root_is_found_in_the_order_of_the_contract() {
        let scratch = tempfile::tempdir().unwrap();
        let top = scratch.path().canonicalize().unwrap();
        made(
            &top,
            &[
                "repo/.git",
                "repo/src/deep",
                "ws/.tasks",
                "ws/sub",
                "ws/.worktrees/a/.git",
                "ws/.worktrees/a/src",
                "bare",
            ],
        );
        let found = |dir: &str| {
            Workspace::discover(None, &top.join(dir))
                .unwrap()
                .root()
                .to_path_buf()
        };
        assert_eq!(found("repo/src/deep"), top.join("repo"));
        assert_eq!(found("ws/sub"), top.join("ws"));
        assert_eq!(found("ws/.worktrees/a/src"), top.join("ws"));
        assert_eq!(found("bare"), top.join("bare"));
        let named = Workspace::discover(Some(&top.join("ws/sub")), &top).unwrap();
        assert_eq!(named.root(), top.join("ws/sub"));
        assert!(matches!(
            Workspace::discover(Some(&top.join("none")), &top),
            Err(RootError::NotADirectory(_))
        ));
    }

    #[test]
    fn a_checkout_within_a_workspace_is_known_and_its_worktrees_are_not_meant() {
        let scratch = tempfile::tempdir().unwrap();
        let top = scratch.path().canonicalize().unwrap();
        made(
            &top,
            &[
                ".tasks",
                ".git",
                "a/.git",
                "a/deep",
                ".worktrees/w/.git",
                "b",
            ],
        );
        let workspace = Workspace::at(top.clone());
        let within = |dir: &str| workspace.checkout_within(&top.join(dir));
        assert_eq!(within("a/deep"), Some(top.join("a")));
        assert_eq!(within("a"), Some(top.join("a")));
        for none in ["", "b", ".worktrees/w"] {
            assert_eq!(within(none), None, "{none}");
        }
        assert_eq!(workspace.checkout_within(Path::new("/")), None);
    }

    #[test]
    fn files_of_another_user_make_no_workspace_for_us() {
        let scratch = tempfile::tempdir().unwrap();
        let top = scratch.path().canonicalize().unwrap();
        made(&top, &[".team"]);
        let workspace = Workspace::at(top.clone());
        let owner = top.join(".team").metadata().unwrap().uid();
        assert_eq!(workspace.stranger(owner), None);
        assert_eq!(workspace.stranger(0), None, "root may look after anybody");
        let by_another = workspace.stranger(owner + 1);
        assert_eq!(
            by_another,
            (owner != 0).then_some(owner),
            "root may be trusted"
        );
    }

    #[test]
    fn mail_to_the_person_waits_in_the_leads_mailbox() {
        let workspace = Workspace::at("/w".into());
        assert_eq!(
            workspace.mailbox(&AgentName::user()),
            Path::new("/w/.mailboxes/lead.jsonl")
        );
    }
}
