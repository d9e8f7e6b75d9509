//! A workspace with all that is worth attacking around one agent's assignment.

use std::collections::BTreeMap;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::Command;

use pitcrew::policy::confinement::SECRETS;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::support::agent::Agent;
use crate::support::{Bed, Running};

/// In every secret, and nowhere else.
const SECRET: &str = "hush-5d1e";

/// Where the agent works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Workspace,
    Worktree,
}

pub(super) struct Scene {
    bed: Bed,
    alice: Agent,
    dir: PathBuf,
    task: String,
    /// Somebody else's process, and its abstract socket.
    victim: Running,
    listener: UnixListener,
}

/// What came of an attempt.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) succeeded: bool,
    pub(super) saw_secret: bool,
    pub(super) said: String,
}

/// Every file by its path: kind and rights, time of the last change, a hash of what it holds.
type Everything = BTreeMap<PathBuf, (u32, Option<(i64, i64)>, String)>;

impl Scene {
    pub(super) fn new(beneath: &str, place: Place) -> Self {
        let bed = Bed::beneath(Path::new(beneath)).with_git();
        for secret in [
            ".ssh/id_ed25519",
            ".aws/credentials",
            ".gnupg/key",
            ".netrc",
            ".git-credentials",
            ".docker/config.json",
            ".config/gh/hosts.yml",
            ".config/pitcrew/trust.json",
        ] {
            bed.put(&bed.home().join(secret), SECRET);
        }
        let others = SECRETS.iter().map(|name| bed.home().join(name));
        for other in others.filter(|path| !path.exists()) {
            bed.put(&other, SECRET);
        }
        bed.put(&bed.home().join("file"), "mine\n");
        bed.put(&bed.home().join(".local/bin/tool"), "");
        let lead = Agent::new(&bed, "lead");
        lead.make_task(json!({"subject": "other", "worktree": "other"}));
        let worktree = (place == Place::Worktree).then_some("own");
        let id = lead.make_task(json!({"subject": "try", "worktree": worktree}));
        for (name, text) in [
            (".mailboxes/lead.jsonl", ""),
            (".team/team.json", "{}"),
            (".team/state/grants.jsonl", ""),
            (".team/state/session.json", "{}"),
            (".team/state/members/alice.json", "{}"),
            (
                ".team/state/requests/req_00000001.json",
                "{\"status\": \"pending\"}",
            ),
        ] {
            bed.write(name, text);
        }
        let alice = Agent::new(&bed, "alice");
        alice.claim(&id);
        let dir = match place {
            Place::Workspace => bed.root(),
            Place::Worktree => bed.root().join(".worktrees/own"),
        };
        bed.put(&dir.join("x"), "x\n");
        let mut victim = Command::new("sh");
        // Waits for its input, and so has no process beneath it that would outlive it.
        victim.args(["-c", "read -r line; : victim.of.escapes"]);
        let victim = Running::start(&mut victim);
        let name = format!("pitcrew-abstract-{}", victim.pid());
        let address = SocketAddr::from_abstract_name(name).unwrap();
        Self {
            listener: UnixListener::bind_addr(&address).unwrap(),
            bed,
            alice,
            dir,
            task: id,
            victim,
        }
    }

    pub(super) fn put_attempt(&self, number: usize, text: &str) {
        self.bed.put(&self.attempt(number, ""), text);
    }

    fn attempt(&self, number: usize, end: &str) -> PathBuf {
        self.dir.join(format!("attempts/{number:03}{end}"))
    }

    /// A `bash` call of the agent.
    pub(super) fn run(&self, command: &str) -> Result<String, String> {
        let variables: String = [
            ("A", self.dir.to_str().unwrap()),
            ("R", self.bed.root().to_str().unwrap()),
            ("H", self.bed.home().to_str().unwrap()),
            ("L", &self.victim.pid().to_string()),
            ("TASK", &self.task),
        ]
        .map(|(name, value)| format!("export {name}='{value}'; "))
        .concat();
        let input = json!({"command": variables + command, "timeout_secs": 300});
        self.alice.run("bash", &input)
    }

    pub(super) fn outcome(&self, number: usize) -> Outcome {
        let read = |end: &str| std::fs::read(self.attempt(number, end)).unwrap_or_default();
        let said = String::from_utf8_lossy(&read(".out")).into_owned();
        let code = read(".code");
        assert!(!code.is_empty(), "attempt {number} was not made");
        Outcome {
            succeeded: code == b"0\n",
            saw_secret: said.contains(SECRET),
            said,
        }
    }

    /// What the agent may change, and what is changed by its runtime.
    fn is_its_own(&self, path: &Path) -> bool {
        let root = self.bed.root();
        let kept =
            [".tasks", ".mailboxes", ".team", ".git", ".worktrees"].map(|name| root.join(name));
        let in_workspace = self.dir == root
            && path.starts_with(&root)
            && !kept.iter().any(|kept| path.starts_with(kept));
        let own = [
            ".team/state/tmp/alice",
            ".team/state/git",
            ".worktrees/own",
            ".git/worktrees/own",
            ".git/refs/heads/wt/own",
            ".git/logs/refs/heads/wt/own",
        ];
        let caches = [".cache", ".npm", ".cargo"].map(|name| self.bed.home().join(name));
        in_workspace
            || path == root
            || own.iter().any(|own| path.starts_with(root.join(own)))
            || caches.iter().any(|cache| path.starts_with(cache))
    }

    /// All but the agent's own.
    pub(super) fn everything_else(&self) -> Everything {
        let mut found = Everything::new();
        let mut open = vec![self.bed.root().parent().unwrap().to_path_buf()];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(dir).unwrap().flatten() {
                let path = entry.path();
                let data = entry.metadata().unwrap();
                if self.is_its_own(&path) && path != self.bed.root() {
                    continue;
                }
                if data.is_dir() {
                    open.push(path.clone());
                }
                let changed = data.is_file().then(|| (data.mtime(), data.mtime_nsec()));
                let hash = if data.is_file() {
                    format!("{:x}", Sha256::digest(std::fs::read(&path).unwrap()))
                } else {
                    String::new()
                };
                found.insert(path, (data.mode(), changed, hash));
            }
        }
        found
    }

    /// Nothing else has changed, or is new but objects that were taken over from a worktree.
    #[track_caller]
    pub(super) fn assert_same(&self, before: &Everything) {
        let after = self.everything_else();
        let changed: Vec<_> = before
            .iter()
            .filter(|(path, was)| after.get(*path) != Some(was))
            .collect();
        assert!(changed.is_empty(), "changed: {changed:#?}");
        let objects = self.bed.root().join(".git/objects");
        let new: Vec<_> = after
            .keys()
            .filter(|path| !before.contains_key(*path) && !path.starts_with(&objects))
            .collect();
        assert!(new.is_empty(), "new: {new:#?}");
    }

    #[track_caller]
    pub(super) fn assert_nobody_hurt(&mut self) {
        assert!(self.victim.has_ended().is_none(), "the victim is dead");
        let state = std::fs::read_to_string(format!("/proc/{}/stat", self.victim.pid())).unwrap();
        assert!(!state.contains(") T "), "the victim is stopped");
        self.listener.set_nonblocking(true).unwrap();
        assert!(
            self.listener.accept().is_err(),
            "somebody has reached the socket"
        );
    }
}
