//! Landlock: writing is granted to what is named and to nothing else. Reading is left to the mounts.

use std::io;
use std::os::fd::OwnedFd;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, Scope,
};

use super::{Failed, tree};

/// What every kernel with Landlock can hold; one that cannot is no wall.
const LEAST: ABI = ABI::V1;

/// What was tried: with it renames between directories, truncation, requests to devices, signals and abstract sockets are
/// held, too. An older kernel holds what it knows.
const KNOWN: ABI = ABI::V6;

/// What this kernel's Landlock does not know, of what a newer one holds; empty without any Landlock.
///
/// Renames are not among it: an old Landlock forbids those between directories.
pub(in crate::process) fn unknown() -> Vec<&'static str> {
    let knows = |rules: Result<Ruleset, landlock::RulesetError>| rules.is_ok();
    let hard = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    if !knows(hard().handle_access(AccessFs::WriteFile)) {
        return Vec::new();
    }
    [
        (
            "truncation",
            knows(hard().handle_access(AccessFs::Truncate)),
        ),
        (
            "requests to devices",
            knows(hard().handle_access(AccessFs::IoctlDev)),
        ),
        ("signals", knows(hard().scope(Scope::Signal))),
        (
            "abstract sockets",
            knows(hard().scope(Scope::AbstractUnixSocket)),
        ),
    ]
    .into_iter()
    .filter_map(|(name, known)| (!known).then_some(name))
    .collect()
}

/// Something that may be written to.
#[derive(Debug)]
pub(super) enum Grant {
    /// A file, or a directory with all beneath it; no device is made there.
    Tree(OwnedFd),
    /// A device.
    Device(OwnedFd),
}

/// The rules, not in force yet.
pub(super) fn make(grants: &[Grant]) -> Result<RulesetCreated, Failed> {
    let failed = |error: landlock::RulesetError| Failed::at("Landlock", io::Error::other(error));
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(LEAST))
        .map_err(failed)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_write(KNOWN))
        .map_err(failed)?
        .scope(Scope::from_all(KNOWN))
        .map_err(failed)?
        .create()
        .map_err(failed)?;
    for grant in grants {
        let (fd, access) = match grant {
            Grant::Tree(tree) => (tree, tree_access(tree)),
            Grant::Device(device) => (device, file_access() | AccessFs::IoctlDev),
        };
        rules = rules
            .add_rule(PathBeneath::new(fd, access))
            .map_err(failed)?;
    }
    Ok(rules)
}

fn tree_access(tree: &OwnedFd) -> BitFlags<AccessFs> {
    if tree::is_dir(tree).is_ok_and(|is_dir| is_dir) {
        AccessFs::from_write(KNOWN) & !(AccessFs::MakeChar | AccessFs::MakeBlock)
    } else {
        file_access()
    }
}

fn file_access() -> BitFlags<AccessFs> {
    AccessFs::WriteFile | AccessFs::Truncate
}
