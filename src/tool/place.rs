//! Where an agent's workspace tools work: the directory rule of SPEC §10.2.
//!
//! Nothing falls back: a teammate without an assignment has no directory, and a worktree that cannot be used is an error.

use std::path::{Path, PathBuf};

use super::{AgentContext, confined};
use crate::policy::Scope;
use crate::workspace::Workspace;
use crate::worktree::{self, Unusable};

/// The directories of one call, resolved when it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The assignment's directory; the workspace for a lead without one.
    pub(crate) dir: PathBuf,
    /// The agent's own temporary directory; may not exist yet.
    pub(crate) tmp: PathBuf,
    /// Where that directory is to the agent's commands.
    pub(crate) tmp_seen: PathBuf,
    /// The workspace.
    pub(crate) root: PathBuf,
    /// The person's home.
    pub(crate) home: Option<PathBuf>,
    /// What nobody but the person may read; not resolved, may not exist.
    pub(crate) hidden: Vec<PathBuf>,
}

impl Place {
    /// Where `context`'s agent works now, or in plain words why nowhere.
    pub(crate) fn of(context: &AgentContext) -> Result<Self, String> {
        let Some(assignment) = context.desk.assignment() else {
            if context.agent.is_lead() {
                return Self::at(context, context.workspace.root());
            }
            return Err(
                "you have no task, so there is no directory to work in; claim a task first (list_tasks shows what there is)"
                    .to_owned(),
            );
        };
        if let Some(name) = &assignment.worktree {
            worktree::usable(&context.workspace, name).map_err(refusal)?;
        }
        Self::at(context, &assignment.dir)
    }

    /// The same for commands, which also run where they alone can bring `HEAD` of a worktree back.
    pub(crate) fn of_commands(context: &AgentContext) -> Result<Self, String> {
        let assignment = context.desk.assignment();
        if let Some(assignment) = &assignment
            && let Some(name) = &assignment.worktree
            && let Err(Unusable::Astray(astray)) = worktree::usable(&context.workspace, name)
        {
            astray.put_back(&context.workspace)?;
            return Self::at(context, &assignment.dir);
        }
        Self::of(context)
    }

    /// The same for a directory that is known.
    pub(crate) fn at(context: &AgentContext, dir: &Path) -> Result<Self, String> {
        let resolved = |path: &Path| {
            path.canonicalize().map_err(|error| {
                format!(
                    "the working directory {} cannot be used: {error}; tell the lead",
                    path.display()
                )
            })
        };
        let root = resolved(context.workspace.root())?;
        // Not resolved: a link put in its place is somewhere else, not the agent's own.
        let tmp = Workspace::at(root.clone()).agent_tmp(&context.agent);
        let mounts = confined::parts(&context.confinement).is_ok_and(|parts| {
            cfg!(target_os = "linux") && parts.is_some_and(|parts| parts.namespaces)
        });
        Ok(Self {
            dir: resolved(dir)?,
            tmp_seen: if mounts {
                confined::TMP.into()
            } else {
                tmp.clone()
            },
            tmp,
            home: context
                .home
                .as_ref()
                .map(|home| home.canonicalize().unwrap_or_else(|_| home.clone())),
            hidden: context.confinement.hidden.clone(),
            root,
        })
    }

    /// The same for rules on what commands do, which see the temporary directory where it is to them.
    pub(crate) fn scope_of_commands(&self) -> Scope {
        Scope {
            tmp: self.tmp_seen.clone(),
            ..self.scope()
        }
    }

    /// `path` as it is named to the agent.
    pub(crate) fn as_seen(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.tmp) {
            Ok(rest) => self.tmp_seen.join(rest),
            Err(_) => path.to_owned(),
        }
    }

    /// The path that the agent means by `named`.
    pub(crate) fn as_meant(&self, named: &str) -> PathBuf {
        match Path::new(named).strip_prefix(&self.tmp_seen) {
            Ok(rest) if self.is_temporary(named) => self.tmp.join(rest),
            _ => self.dir.join(named),
        }
    }

    /// Whether it is in the temporary directory as commands see it.
    pub(crate) fn is_temporary(&self, named: &str) -> bool {
        let named = Path::new(named);
        named.starts_with(&self.tmp_seen) && !self.is_shown(named)
    }

    /// Whether it stays where it is though commands see the temporary directory above.
    fn is_shown(&self, path: &Path) -> bool {
        let shown = [&self.root, &self.dir].into_iter().chain(&self.home);
        let mut beneath = shown.filter(|top| top.starts_with(&self.tmp_seen));
        beneath.any(|top| path.starts_with(top))
    }

    /// The same for rules on files.
    pub(crate) fn scope(&self) -> Scope {
        Scope {
            dir: self.dir.clone(),
            tmp: self.tmp.clone(),
            root: self.root.clone(),
            home: self.home.clone(),
        }
    }

    /// `path` as short as it can be said.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let path = self.as_seen(path);
        let short = path.strip_prefix(&self.dir).unwrap_or(&path);
        if short.as_os_str().is_empty() {
            ".".to_owned()
        } else {
            in_one_line(short)
        }
    }
}

fn refusal(why: Unusable) -> String {
    match why {
        Unusable::Astray(astray) => astray.refusal(),
        Unusable::Broken(why) => format!("{why}; your task works only there, so tell the lead"),
    }
}

/// A path with control characters in it as a JSON string, which is how it is to be given to a tool: written as it is, a name
/// with a line break would be taken for two.
pub(crate) fn in_one_line(path: &Path) -> String {
    let text = path.display().to_string();
    if text.contains(char::is_control) {
        serde_json::Value::String(text).to_string()
    } else {
        text
    }
}
