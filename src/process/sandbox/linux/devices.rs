//! Devices, terminals and shared memory of a command's own, and the empty places that stand in for what is hidden: one
//! small file system in memory, seen in parts.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat, makedev, mkdirat, openat, symlinkat};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen,
};

use super::ruleset::Grant;
use super::{Failed, tree};

/// Where devices are found.
pub(super) const DEV: &str = "/dev";

/// Device nodes by name, with their numbers.
const NODES: [(&str, u32, u32); 6] = [
    ("null", 1, 3),
    ("zero", 1, 5),
    ("full", 1, 7),
    ("random", 1, 8),
    ("urandom", 1, 9),
    ("tty", 5, 0),
];

/// Links in `/dev`.
const LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// The usual devices as they stand outside.
#[derive(Debug)]
pub(super) struct Devices {
    nodes: Vec<(&'static str, OwnedFd)>,
}

/// The file system in memory, and what may be written to in it.
#[derive(Debug)]
pub(super) struct Own {
    memory: OwnedFd,
    stand_ins: usize,
    pub(super) grants: Vec<Grant>,
}

impl Devices {
    /// Copies of those that are there and are what their name says: a file of that name would carry words from one command
    /// to another.
    pub(super) fn take() -> Result<Self, Failed> {
        let mut nodes = Vec::new();
        for (name, major, minor) in NODES {
            let path = Path::new(DEV).join(name);
            let failed = |error| Failed::at(path.display(), error);
            let Some(place) = tree::if_there(tree::open(&path)).map_err(failed)? else {
                continue;
            };
            if is_device(&place, major, minor).map_err(failed)? {
                nodes.push((name, tree::copy(&place).map_err(failed)?));
            }
        }
        Ok(Self { nodes })
    }

    /// Puts a `/dev` of its own in place, and in it what is given back: the paths beneath it and what is to be seen there.
    pub(super) fn set_up(self, given_back: &[(&Path, &OwnedFd)]) -> Result<Own, Failed> {
        self.set_up_in_memory(given_back)
            .map_err(|error| Failed::at("devices of its own", error))
    }

    fn set_up_in_memory(self, given_back: &[(&Path, &OwnedFd)]) -> io::Result<Own> {
        let dev = tree::open(Path::new(DEV))?;
        let memory = memory()?;
        // Beneath what is seen in the end; only what stands somewhere can be copied in parts.
        tree::attach(&memory, &dev)?;
        for (dir, mode) in [("dev", 0o755), ("dev/pts", 0o755), ("dev/shm", 0o1777)] {
            mkdirat(&memory, dir, Mode::from_bits_retain(mode))?;
        }
        let own_dev = tree::copy(tree::open_beneath(&memory, Path::new("dev"))?)?;
        for (name, to) in LINKS {
            symlinkat(to, &own_dev, name)?;
        }
        tree::attach(&own_dev, &memory)?;
        let mut grants = Vec::new();
        for (name, node) in self.nodes {
            tree::attach(&node, make_file(&own_dev, Path::new(name))?)?;
            grants.push(Grant::Device(node));
        }
        let shm = tree::copy(tree::open_beneath(&own_dev, Path::new("shm"))?)?;
        tree::attach(&shm, tree::open_beneath(&own_dev, Path::new("shm"))?)?;
        let terminals = terminals()?;
        tree::attach(&terminals, tree::open_beneath(&own_dev, Path::new("pts"))?)?;
        for (path, tree) in given_back {
            tree::attach(tree, make_place(&own_dev, path, tree::is_dir(tree)?)?)?;
        }
        tree::seal_alone(&own_dev)?;
        grants.extend([Grant::Tree(shm), Grant::Tree(terminals)]);
        Ok(Own {
            memory,
            stand_ins: 0,
            grants,
        })
    }
}

impl Own {
    /// An empty read-only directory for somebody else's place, with places for what is given back in it: the paths beneath
    /// it and whether each is a directory.
    pub(super) fn stand_in(&mut self, given_back: &[(&Path, bool)]) -> io::Result<OwnedFd> {
        let name = format!("empty{}", self.stand_ins);
        let name = Path::new(&name);
        if given_back.is_empty() {
            match mkdirat(&self.memory, "empty", Mode::from_bits_retain(0o755)) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            return sealed(tree::open_beneath(&self.memory, Path::new("empty"))?);
        }
        self.stand_ins += 1;
        mkdirat(&self.memory, name, Mode::from_bits_retain(0o755))?;
        let dir = tree::open_beneath(&self.memory, name)?;
        for (path, is_dir) in given_back {
            make_place(&dir, path, *is_dir)?;
        }
        sealed(dir)
    }
}

fn sealed(dir: OwnedFd) -> io::Result<OwnedFd> {
    let stand_in = tree::copy(dir)?;
    tree::seal_alone(&stand_in)?;
    Ok(stand_in)
}

/// Makes an empty directory or file at `path` beneath `dir`, with what leads there, for something to be put on; opens what
/// is there already.
pub(super) fn make_place(dir: impl AsFd, path: &Path, is_dir: bool) -> io::Result<OwnedFd> {
    let mut place = tree::open_beneath(&dir, Path::new(""))?;
    let mut names = path.components().peekable();
    while let Some(name) = names.next() {
        let name: &Path = name.as_ref();
        place = if is_dir || names.peek().is_some() {
            match mkdirat(&place, name, Mode::from_bits_retain(0o755)) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            tree::open_beneath(&place, name)?
        } else {
            make_file(&place, name)?
        };
    }
    Ok(place)
}

fn make_file(dir: impl AsFd, name: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDONLY | OFlags::CLOEXEC;
    match openat(&dir, name, flags, Mode::from_bits_retain(0o644)) {
        Ok(_) | Err(rustix::io::Errno::EXIST) => tree::open_beneath(dir, name),
        Err(error) => Err(error.into()),
    }
}

fn is_device(node: &OwnedFd, major: u32, minor: u32) -> io::Result<bool> {
    let stat = fstat(node)?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    Ok(kind == FileType::CharacterDevice && stat.st_rdev == makedev(major, minor))
}

fn memory() -> io::Result<OwnedFd> {
    let made = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&made, "mode", "0755")?;
    fsconfig_create(&made)?;
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(&made, FsMountFlags::FSMOUNT_CLOEXEC, flags)?)
}

fn terminals() -> io::Result<OwnedFd> {
    let made = fsopen("devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_flag(&made, "newinstance")?;
    fsconfig_set_string(&made, "ptmxmode", "0666")?;
    fsconfig_set_string(&made, "mode", "0620")?;
    fsconfig_create(&made)?;
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    Ok(fsmount(&made, FsMountFlags::FSMOUNT_CLOEXEC, flags)?)
}
