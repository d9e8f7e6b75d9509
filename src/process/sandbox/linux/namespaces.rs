//! Namespaces of a process's own: directly where it may, else as the owner of a user namespace in which it is whom it was.

use std::io;
use std::net::UdpSocket;

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, capabilities};

use super::Failed;
use crate::process::raw;

/// Leaves the namespaces of whoever started this process, which must have one thread. The PID namespace holds its children
/// from now on, not itself.
pub(super) fn leave(network: bool) -> Result<(), Failed> {
    let mut flags = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC;
    if !network {
        flags |= CloneFlags::CLONE_NEWNET;
    }
    let may = capabilities(None).is_ok_and(|own| own.effective.contains(CapabilitySet::SYS_ADMIN));
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    if !may {
        flags |= CloneFlags::CLONE_NEWUSER;
    }
    unshare(flags).map_err(|error| match error {
        Errno::ENOSPC => Failed::at(
            "namespaces of its own (/proc/sys/user/max_*_namespaces allows no more)",
            error.into(),
        ),
        other => Failed::at("namespaces of its own", other.into()),
    })?;
    if !may {
        stay(user, group).map_err(|error| Failed::at("a user namespace", error))?;
    }
    if !network {
        loopback().map_err(|error| Failed::at("the loopback device", error))?;
    }
    Ok(())
}

/// Files keep their owner: the one user and the one group that there are in the namespace are those outside.
#[expect(clippy::disallowed_methods, reason = "the kernel makes these files")]
fn stay(user: u32, group: u32) -> io::Result<()> {
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

fn loopback() -> io::Result<()> {
    raw::switch_loopback_on(UdpSocket::bind("0.0.0.0:0")?)
}
