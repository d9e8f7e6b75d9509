//! What a command of an agent may see and change (SPEC §10.2), from where the agent works and what the settings say.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::AgentContext;
use super::place::Place;
use crate::ids::WorktreeName;
use crate::policy::{Confinement, Network, SandboxMode};
use crate::process::sandbox::{Held, Parts, Sandbox, probe};
use crate::workspace::{RUNTIME_DIRS, Workspace};
use crate::worktree::{committing, kept_in, view, writable_parts};

/// Where the agent's own temporary directory is to a command with mounts of its own.
pub(crate) const TMP: &str = "/tmp";

/// With which walls commands run; `None`: without a sandbox. `Err` says why none may run and what to do.
pub(crate) fn parts(confinement: &Confinement) -> Result<Option<Parts>, String> {
    match confinement.mode {
        SandboxMode::Off => Ok(None),
        mode => decide(mode, probe()),
    }
}

/// The same with a word for each wall that does not hold here, for people.
pub fn missing(confinement: &Confinement) -> Vec<String> {
    match confinement.mode {
        SandboxMode::Off => Vec::new(),
        SandboxMode::Preferred | SandboxMode::Required => why_not(probe()),
    }
}

fn decide(mode: SandboxMode, held: &Held) -> Result<Option<Parts>, String> {
    let missing = why_not(held);
    if missing.is_empty() {
        return Ok(Some(held.parts()));
    }
    if mode == SandboxMode::Required {
        return Err(format!(
            "the sandbox does not hold here ({}), and without it no command runs; the person can mend that (`lead doctor` says more) \
             or set `sandbox` to \"preferred\" in their settings",
            missing.join("; ")
        ));
    }
    let parts = held.parts();
    Ok((parts.namespaces || parts.landlock).then_some(parts))
}

fn why_not(held: &Held) -> Vec<String> {
    [
        ("namespaces", &held.namespaces),
        ("Landlock", &held.landlock),
    ]
    .into_iter()
    .filter_map(|(wall, held)| Some(format!("{wall}: {}", held.as_ref().err()?)))
    .collect()
}

/// The sandbox of a command in `place`, with what it needs made: the agent's temporary directory, directories that are to
/// stay as they are, caches. `None`: it runs without one. One that `commits` may write the repository of the workspace.
pub(crate) fn sandbox(
    context: &AgentContext,
    place: &Place,
    commits: bool,
) -> Result<Option<Sandbox>, String> {
    let confinement = &context.confinement;
    make(&place.tmp, 0o700)?;
    let Some(parts) = parts(confinement)? else {
        return Ok(None);
    };
    for cache in &confinement.caches {
        // A home that cannot be written to has no caches.
        make(cache, 0o755).ok();
    }
    let mut writable: Vec<PathBuf> = confinement
        .caches
        .iter()
        .chain(&confinement.cache_locks)
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    let (mut read_only, mut binds) = (Vec::new(), Vec::new());
    if let Some(name) = worktree(place) {
        if parts.namespaces {
            binds = view::open(&context.workspace, &name)?;
        } else {
            // Without mounts there is no view of its own.
            writable.extend(writable_parts(&context.workspace, &name)?);
            read_only.push(place.dir.join(".git"));
        }
    } else {
        for name in RUNTIME_DIRS.into_iter().chain([".git"]) {
            let path = place.dir.join(name);
            if !path.exists() {
                make(&path, 0o700)?;
            }
            read_only.push(path);
        }
        if commits && parts.namespaces {
            binds = committing(&context.workspace).unwrap_or_default();
        }
    }
    let hidden = resolved(&confinement.hidden);
    let repository = kept_in(&context.workspace)
        .into_iter()
        .filter(|path| !hidden.iter().any(|hidden| path.starts_with(hidden)));
    Ok(Some(Sandbox {
        dir: place.dir.clone(),
        writable,
        read_only,
        binds,
        tmp: place.tmp.clone(),
        shown: [&place.root]
            .into_iter()
            .chain(&place.home)
            .cloned()
            .chain(repository)
            .collect(),
        hidden,
        sockets: resolved(&confinement.sockets),
        network: confinement.network == Network::Allow,
        parts,
    }))
}

/// Takes away the empty `.git` that kept commands from making one where there is no repository; one with something in it
/// stays. For when no command runs any more.
pub fn tidy(workspace: &Workspace) {
    let stand_in = workspace.root().join(".git");
    if stand_in
        .symlink_metadata()
        .is_ok_and(|found| found.is_dir())
    {
        // Removes nothing that holds anything.
        std::fs::remove_dir(stand_in).ok();
    }
}

/// Whether the walls can let a command write the repository of the workspace and nothing else that is read-only.
pub(crate) fn can_commit(context: &AgentContext) -> bool {
    cfg!(target_os = "linux")
        && parts(&context.confinement)
            .is_ok_and(|parts| parts.is_some_and(|parts| parts.namespaces))
        && committing(&context.workspace).is_some()
}

/// The worktree that `place` is in.
pub(crate) fn worktree(place: &Place) -> Option<WorktreeName> {
    let name = place.dir.strip_prefix(place.root.join(".worktrees")).ok()?;
    WorktreeName::parse(name.to_str()?).ok()
}

/// Without what does not exist.
fn resolved(paths: &[PathBuf]) -> Vec<PathBuf> {
    let resolved = paths.iter().filter_map(|path| path.canonicalize().ok());
    resolved.collect()
}

fn make(dir: &Path, mode: u32) -> Result<(), String> {
    DirBuilder::new()
        .recursive(true)
        .mode(mode)
        .create(dir)
        .map_err(|error| format!("cannot make {}: {error}", dir.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(namespaces: bool, landlock: bool) -> Held {
        let held = |holds: bool, why: &str| if holds { Ok(()) } else { Err(why.to_owned()) };
        Held {
            namespaces: held(namespaces, "not permitted"),
            landlock: held(landlock, "not in this kernel"),
        }
    }

    #[test]
    fn what_is_required_is_refused_where_one_wall_does_not_hold() {
        let all = Parts {
            namespaces: true,
            landlock: true,
        };
        for mode in [SandboxMode::Required, SandboxMode::Preferred] {
            assert_eq!(decide(mode, &held(true, true)), Ok(Some(all)));
        }
        for (held, word) in [
            (held(false, true), "namespaces: not permitted"),
            (held(true, false), "Landlock: not in this kernel"),
            (held(false, false), "not permitted; Landlock"),
        ] {
            let why = decide(SandboxMode::Required, &held).unwrap_err();
            assert!(why.contains(word) && why.contains("preferred"), "{why}");
        }
    }

    #[test]
    fn what_is_preferred_goes_on_with_what_holds() {
        for (namespaces, landlock) in [(true, false), (false, true)] {
            let parts = Parts {
                namespaces,
                landlock,
            };
            let decided = decide(SandboxMode::Preferred, &held(namespaces, landlock));
            assert_eq!(decided, Ok(Some(parts)));
        }
        let decided = decide(SandboxMode::Preferred, &held(false, false));
        assert_eq!(decided, Ok(None));
    }
}
