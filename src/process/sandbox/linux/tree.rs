//! Mounts by descriptor: a copy of a tree, its flags, and its place. No path that is opened here leads through a link.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::mount::{
    MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount_change, move_mount,
    open_tree,
};

use crate::process::raw;

/// Refuses a path with a link in it: somebody may have put it there since the path was looked at.
pub(super) fn open(path: &Path) -> io::Result<OwnedFd> {
    Ok(openat2(
        CWD,
        path,
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS,
    )?)
}

/// `path` beneath `dir`; empty: `dir` itself.
pub(super) fn open_beneath(dir: impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    Ok(openat2(
        dir,
        path,
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH,
    )?)
}

/// A copy of all that is seen at `place`, mounts on it too, that stands nowhere yet.
pub(super) fn copy(place: impl AsFd) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(place, "", flags)?)
}

/// Puts a copy on top of what stands at `place`.
pub(super) fn attach(tree: impl AsFd, place: impl AsFd) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(tree, "", place, "", flags)?)
}

/// Makes a tree read-only with all mounts on it, modes, owners and times included. Devices in it are dead.
pub(super) fn seal(tree: impl AsFd) -> io::Result<()> {
    let flags = MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NODEV;
    raw::add_mount_flags(tree, flags, true)
}

/// Makes one mount read-only, and none of those on it.
pub(super) fn seal_alone(tree: impl AsFd) -> io::Result<()> {
    raw::add_mount_flags(tree, MountAttrFlags::MOUNT_ATTR_RDONLY, false)
}

/// Nothing that is mounted from here on is seen outside, and nothing that is mounted there is seen here.
pub(super) fn keep_apart() -> io::Result<()> {
    let flags = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    Ok(mount_change("/", flags)?)
}

/// `None` for what does not exist.
pub(super) fn if_there<T>(answer: io::Result<T>) -> io::Result<Option<T>> {
    match answer {
        Ok(there) => Ok(Some(there)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Whether a directory is seen at `place`.
pub(super) fn is_dir(place: impl AsFd) -> io::Result<bool> {
    Ok(FileType::from_raw_mode(fstat(place)?.st_mode) == FileType::Directory)
}
