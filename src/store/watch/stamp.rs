//! How a file looks, to see that it has changed: where the system does not notify, and between two looks.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The state of a file as far as a look at it tells; `None` for a missing one.
///
/// No field alone is enough: inodes are used again, and a quick rewrite may keep size and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(Option<(u64, u64, u64, i64, i64, i64, i64)>);

impl Stamp {
    /// What is at `path` now, links followed.
    pub fn of(path: &Path) -> Self {
        Self(path.metadata().ok().map(|found| {
            (
                found.dev(),
                found.ino(),
                found.size(),
                found.mtime(),
                found.mtime_nsec(),
                found.ctime(),
                found.ctime_nsec(),
            )
        }))
    }
}

/// Whether `path`, or its nearest existing ancestor, is on a file system whose changes may come from another machine,
/// unseen by notification.
#[cfg(target_os = "linux")]
pub(super) fn is_remote(path: &Path) -> bool {
    use nix::sys::statfs;

    /// CIFS, SMB2, 9p, Ceph: not all are named by the system's headers.
    const OTHERS: [statfs::FsType; 4] = [
        statfs::FsType(0xFF53_4D42),
        statfs::FsType(0xFE53_4D42),
        statfs::FsType(0x0102_1997),
        statfs::FsType(0x00C3_6400),
    ];
    path.ancestors()
        .find_map(|near| statfs::statfs(near).ok())
        .is_some_and(|found| {
            let kind = found.filesystem_type();
            [
                statfs::NFS_SUPER_MAGIC,
                statfs::AFS_SUPER_MAGIC,
                statfs::CODA_SUPER_MAGIC,
                statfs::NCP_SUPER_MAGIC,
                statfs::SMB_SUPER_MAGIC,
            ]
            .contains(&kind)
                || OTHERS.contains(&kind)
        })
}

/// Elsewhere nothing is known about it.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_remote(_path: &Path) -> bool {
    false
}
