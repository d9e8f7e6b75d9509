//! What the command sees: the whole file system read-only, with what is its own put on top.
//!
//! Composed first and attached once. Whatever will be writable is copied while all is; after that nothing is opened through
//! a path that a command of the same agent can change, and what `/tmp` covers is copied whole, with all that was put on it,
//! before `/tmp` is covered.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use super::devices::{DEV, Devices, Own, make_place};
use super::ruleset::Grant;
use super::{Failed, tree};
use crate::process::sandbox::Sandbox;

/// Where programs keep what is temporary.
const TMP: &str = "/tmp";

/// Where services listen. Hidden but for the files that say how names are resolved, which `/etc/resolv.conf` often links to.
const RUN: &str = "/run";
const RESOLVERS: [&str; 2] = ["/run/systemd/resolve", "/run/resolvconf"];

/// A path and what is to be seen there.
type Placed = (PathBuf, OwnedFd);

/// The file system as it is to be, for this process and its children.
#[derive(Debug)]
pub(super) struct Composed {
    /// Where the command works.
    pub(super) dir: OwnedFd,
    /// What it may write to.
    pub(super) grants: Vec<Grant>,
}

/// Copies, taken while everything is as it is outside.
struct Copies {
    dir: OwnedFd,
    tmp: OwnedFd,
    writable: Vec<Placed>,
    binds: Vec<OwnedFd>,
    /// Of what stands beneath something hidden.
    given_back: Vec<Placed>,
}

/// Needs a mount namespace of this process's own.
pub(super) fn compose(plan: &Sandbox) -> Result<Composed, Failed> {
    let tmp = Path::new(TMP)
        .canonicalize()
        .map_err(|error| Failed::at(TMP, error))?;
    check(plan, &tmp)?;
    tree::keep_apart().map_err(|error| Failed::at("/", error))?;
    let copies = Copies::take(plan)?;
    let devices = Devices::take()?;
    tree::open(Path::new("/"))
        .and_then(tree::seal)
        .map_err(|error| Failed::at("/", error))?;
    copies.attach(plan)?;
    let mut covered = covered_by(Path::new(DEV), plan.shown.iter().chain([&plan.dir]))?;
    let mut own = devices.set_up(&beneath(DEV, &covered))?;
    covered.extend(hide(plan, &copies.given_back, &mut own)?);
    covered.extend(cover_tmp(plan, &tmp, &copies)?);
    let dir = open_dir(plan, &covered)?;
    let mut grants = own.grants;
    grants.extend([Grant::Tree(copies.dir), Grant::Tree(copies.tmp)]);
    grants.extend(copies.writable.into_iter().map(|(_, fd)| Grant::Tree(fd)));
    let binds = plan.binds.iter().zip(copies.binds);
    grants.extend(binds.filter_map(|(bind, fd)| bind.writable.then_some(Grant::Tree(fd))));
    Ok(Composed { dir, grants })
}

/// What would undo the sandbox from inside.
fn check(plan: &Sandbox, tmp: &Path) -> Result<(), Failed> {
    if tmp.starts_with(&plan.dir) {
        let why = io::Error::other(
            "it holds the directory for temporary files, which each command has its own of; work in a directory beneath it",
        );
        return Err(Failed::at(plan.dir.display(), why));
    }
    Ok(())
}

impl Copies {
    fn take(plan: &Sandbox) -> Result<Self, Failed> {
        let resolvers = RESOLVERS.iter().map(Path::new);
        let sockets = plan.sockets.iter().map(PathBuf::as_path);
        Ok(Self {
            dir: copy(&plan.dir)?,
            tmp: copy(&plan.tmp)?,
            writable: copies_of(plan.writable.iter().map(PathBuf::as_path))?,
            binds: plan
                .binds
                .iter()
                .map(|bind| copy(&bind.from))
                .collect::<Result<_, _>>()?,
            given_back: copies_of(resolvers.chain(sockets))?,
        })
    }

    fn attach(&self, plan: &Sandbox) -> Result<(), Failed> {
        attach(&self.dir, &plan.dir)?;
        for (path, tree) in &self.writable {
            attach(tree, path)?;
        }
        for (path, copy) in copies_of(plan.read_only.iter().map(PathBuf::as_path))? {
            tree::seal(&copy).map_err(|error| Failed::at(path.display(), error))?;
            attach(&copy, &path)?;
        }
        for (bind, copy) in plan.binds.iter().zip(&self.binds) {
            if !bind.writable {
                tree::seal(copy).map_err(|error| Failed::at(bind.at.display(), error))?;
            }
            attach(copy, &bind.at)?;
        }
        Ok(())
    }
}

/// Puts something empty on each hidden place, and on that what is given back: besides `given_back`, where the command works
/// and what is shown to it, whole, if that lies there. Returns the latter.
fn hide(plan: &Sandbox, given_back: &[Placed], own: &mut Own) -> Result<Vec<Placed>, Failed> {
    let mut all_covered = Vec::new();
    let hidden = plan.hidden.iter().map(PathBuf::as_path);
    for path in hidden.chain([Path::new(RUN)]) {
        if plan.dir == path || plan.shown.iter().any(|shown| shown == path) {
            continue;
        }
        let failed = |error| Failed::at(path.display(), error);
        let Some(place) = tree::if_there(tree::open(path)).map_err(failed)? else {
            continue;
        };
        let covered = covered_by(path, plan.shown.iter().chain([&plan.dir]))?;
        let back = beneath(path, all_back(&covered, given_back));
        hide_one(&place, &back, own).map_err(failed)?;
        all_covered.extend(covered);
    }
    Ok(all_covered)
}

fn hide_one(place: &OwnedFd, back: &[(&Path, &OwnedFd)], own: &mut Own) -> io::Result<()> {
    if !tree::is_dir(place)? {
        let nothing = tree::copy(tree::open(Path::new("/dev/null"))?)?;
        return tree::attach(nothing, place);
    }
    let places: Vec<(&Path, bool)> = back
        .iter()
        .map(|(path, tree)| Ok((*path, tree::is_dir(tree)?)))
        .collect::<io::Result<_>>()?;
    let stand_in = own.stand_in(&places)?;
    tree::attach(&stand_in, place)?;
    for (path, tree) in back {
        tree::attach(tree, tree::open_beneath(&stand_in, path)?)?;
    }
    Ok(())
}

/// Puts the agent's own directory on `/tmp` and, in it, what is to be seen of what was there. Returns what was covered whole.
fn cover_tmp(plan: &Sandbox, tmp: &Path, copies: &Copies) -> Result<Vec<Placed>, Failed> {
    let named = plan.shown.iter().chain(&plan.writable).chain([&plan.dir]);
    let covered = covered_by(tmp, named)?;
    attach(&copies.tmp, tmp)?;
    for (path, tree) in beneath(tmp, all_back(&covered, &copies.given_back)) {
        tree::is_dir(tree)
            .and_then(|is_dir| make_place(&copies.tmp, path, is_dir))
            .and_then(|place| tree::attach(tree, place))
            .map_err(|error| Failed::at(tmp.join(path).display(), error))?;
    }
    Ok(covered)
}

/// Opens where the command works last, in the copy that it will work in, so that it is that directory whatever becomes of
/// the names that lead there.
fn open_dir(plan: &Sandbox, covered: &[Placed]) -> Result<OwnedFd, Failed> {
    let copied = covered.iter().find_map(|(path, tree)| {
        let inside = plan.dir.strip_prefix(path).ok()?;
        Some(tree::open_beneath(tree, inside))
    });
    copied
        .unwrap_or_else(|| tree::open(&plan.dir))
        .map_err(|error| Failed::at(plan.dir.display(), error))
}

/// Copies of those of `named` that lie beneath `dir`, with all that was put on them.
fn covered_by<'a>(
    dir: &Path,
    named: impl Iterator<Item = &'a PathBuf>,
) -> Result<Vec<Placed>, Failed> {
    topmost(named, dir)
        .into_iter()
        .map(|path| Ok((path.to_owned(), copy(path)?)))
        .collect()
}

/// `covered`, and of `given_back` what lies in none of it.
fn all_back<'a>(
    covered: &'a [Placed],
    given_back: &'a [Placed],
) -> impl Iterator<Item = &'a Placed> {
    let is_covered = |path: &Path| covered.iter().any(|(top, _)| path.starts_with(top));
    let apart = given_back.iter().filter(move |(path, _)| !is_covered(path));
    covered.iter().chain(apart)
}

/// Those of `placed` that lie beneath `dir`, by their paths in it.
fn beneath<'a>(
    dir: impl AsRef<Path>,
    placed: impl IntoIterator<Item = &'a Placed>,
) -> Vec<(&'a Path, &'a OwnedFd)> {
    placed
        .into_iter()
        .filter_map(|(path, tree)| Some((path.strip_prefix(&dir).ok()?, tree)))
        .collect()
}

/// What of `named` lies beneath `dir`, without what lies beneath something else of that.
fn topmost<'a>(named: impl Iterator<Item = &'a PathBuf>, dir: &Path) -> Vec<&'a Path> {
    let lower: Vec<&Path> = named
        .map(PathBuf::as_path)
        .filter(|path| path.starts_with(dir) && *path != dir)
        .collect();
    let mut top: Vec<&Path> = lower
        .iter()
        .filter(|path| {
            !lower
                .iter()
                .any(|other| path.starts_with(other) && *path != other)
        })
        .copied()
        .collect();
    top.sort_unstable();
    top.dedup();
    top
}

fn copy(path: &Path) -> Result<OwnedFd, Failed> {
    tree::open(path)
        .and_then(tree::copy)
        .map_err(|error| Failed::at(path.display(), error))
}

/// Without what is not there.
fn copies_of<'a>(paths: impl Iterator<Item = &'a Path>) -> Result<Vec<Placed>, Failed> {
    let mut copies = Vec::new();
    for path in paths {
        let there = tree::if_there(tree::open(path).and_then(tree::copy));
        let there = there.map_err(|error| Failed::at(path.display(), error))?;
        copies.extend(there.map(|copy| (path.to_owned(), copy)));
    }
    Ok(copies)
}

fn attach(tree: &OwnedFd, path: &Path) -> Result<(), Failed> {
    tree::open(path)
        .and_then(|place| tree::attach(tree, place))
        .map_err(|error| Failed::at(path.display(), error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::sandbox::Parts;

    fn plan(dir: &str) -> Sandbox {
        Sandbox {
            dir: dir.into(),
            writable: Vec::new(),
            read_only: Vec::new(),
            binds: Vec::new(),
            hidden: Vec::new(),
            tmp: "/t".into(),
            shown: Vec::new(),
            sockets: Vec::new(),
            network: true,
            parts: Parts {
                namespaces: true,
                landlock: true,
            },
        }
    }

    #[test]
    fn what_tmp_covers_is_kept_once_from_its_top() {
        let named = [
            "/tmp/w/.worktrees/a",
            "/tmp/w",
            "/tmp/home",
            "/tmp",
            "/home/me",
            "/tmp/home/.cache",
            "/tmp/w2",
            "/var/cache",
        ]
        .map(PathBuf::from);
        let top = topmost(named.iter(), Path::new("/tmp"));
        assert_eq!(top, ["/tmp/home", "/tmp/w", "/tmp/w2"].map(Path::new));
    }

    #[test]
    fn a_directory_that_holds_the_temporary_files_is_refused() {
        for dir in ["/", "/tmp"] {
            let refused = check(&plan(dir), Path::new("/tmp")).unwrap_err();
            assert!(refused.to_string().contains("work in a directory beneath"));
        }
        assert!(check(&plan("/tmp/w"), Path::new("/tmp")).is_ok());
    }
}
