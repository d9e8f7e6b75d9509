//! A sandbox in the order in which it is built and entered.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::RulesetCreated;
use nix::sys::stat::{Mode, umask};
use rustix::mount::{MountFlags, mount};

use super::ruleset::{self, Grant};
use super::{Failed, mounts, namespaces, privileges, tree};
use crate::process::sandbox::{Parts, Sandbox};

/// Files of `/proc` that change the system for whoever is root there.
const SYSTEM_FILES: [&str; 5] = ["sys", "sysrq-trigger", "irq", "bus", "fs"];

/// What a command may write to where nothing is mounted: the usual devices.
const DEVICES: [&str; 7] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
];
const DEVICE_DIRS: [&str; 2] = ["/dev/shm", "/dev/pts"];

/// A sandbox that stands, with nobody in it yet.
#[derive(Debug)]
pub(in crate::process) struct Built {
    dir: OwnedFd,
    rules: Option<RulesetCreated>,
    parts: Parts,
}

impl Built {
    /// Builds it around this process, which must have a single thread and read nothing from the file system afterwards.
    pub(in crate::process) fn build(plan: &Sandbox) -> Result<Self, Failed> {
        let (dir, grants) = if plan.parts.namespaces {
            namespaces::leave(plan.network)?;
            // Others than this process's user may use what is made, such as devices.
            let before = umask(Mode::empty());
            let composed = mounts::compose(plan);
            umask(before);
            let composed = composed?;
            (composed.dir, composed.grants)
        } else {
            without_mounts(plan)?
        };
        let rules = plan
            .parts
            .landlock
            .then(|| ruleset::make(&grants))
            .transpose()?;
        Ok(Self {
            dir,
            rules,
            parts: plan.parts,
        })
    }

    /// Whether the next child is the first process of a PID namespace.
    pub(in crate::process) fn has_namespaces(&self) -> bool {
        self.parts.namespaces
    }

    /// In the first process of the PID namespace: a `/proc` of its own. Where a container's is masked a user may not have
    /// one; the old one shows who runs outside and no more.
    pub(in crate::process) fn show_processes(&self) -> Result<(), Failed> {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        match mount("proc", "/proc", "proc", flags, None) {
            Ok(()) => {}
            Err(rustix::io::Errno::PERM) => return Ok(()),
            Err(error) => return Err(Failed::at("/proc", error.into())),
        }
        if self.parts.landlock {
            return Ok(());
        }
        for name in SYSTEM_FILES {
            let path = Path::new("/proc").join(name);
            seal_in_place(&path).map_err(|error| Failed::at(path.display(), error))?;
        }
        Ok(())
    }

    /// Takes this process inside, for good: what it executes next is held.
    pub(in crate::process) fn enter(&self) -> io::Result<()> {
        rustix::process::fchdir(&self.dir)?;
        privileges::give_up()?;
        if let Some(rules) = &self.rules {
            let rules = rules.try_clone()?;
            rules.restrict_self().map_err(io::Error::other)?;
        }
        Ok(())
    }
}

fn seal_in_place(path: &Path) -> io::Result<()> {
    let Some(place) = tree::if_there(tree::open(path))? else {
        return Ok(());
    };
    let copy = tree::copy(&place)?;
    tree::seal(&copy)?;
    tree::attach(copy, place)
}

fn without_mounts(plan: &Sandbox) -> Result<(OwnedFd, Vec<Grant>), Failed> {
    let open = |path: &Path| {
        tree::if_there(tree::open(path)).map_err(|error| Failed::at(path.display(), error))
    };
    let mut grants = Vec::new();
    let dirs = DEVICE_DIRS.iter().map(Path::new);
    let dirs = dirs.chain(plan.writable.iter().map(PathBuf::as_path));
    for path in dirs.chain([plan.tmp.as_path(), plan.dir.as_path()]) {
        grants.extend(open(path)?.map(Grant::Tree));
    }
    for path in DEVICES {
        grants.extend(open(Path::new(path))?.map(Grant::Device));
    }
    let dir = tree::open(&plan.dir).map_err(|error| Failed::at(plan.dir.display(), error))?;
    Ok((dir, grants))
}
