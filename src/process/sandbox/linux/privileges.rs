//! What a command must not be able to do, whatever it executes.

use std::io;

use rustix::io::Errno;
use rustix::process::geteuid;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

use crate::process::raw;

/// What root keeps: whose a file is, who runs a program, which of its own processes end. None of it reads another process
/// or changes the system.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Gives up what this process and all that it starts could do besides, for good.
pub(super) fn give_up() -> io::Result<()> {
    // A kernel without keyrings has none to leave.
    raw::leave_session_keyring().ok();
    let kept = if geteuid().is_root() {
        KEPT
    } else {
        CapabilitySet::empty()
    };
    let own = capabilities(None)?;
    if own.effective.contains(CapabilitySet::SETPCAP) {
        bound(kept)?;
    }
    clear_ambient_capability_set().ok();
    let kept = kept & own.permitted;
    set_capabilities(
        None,
        CapabilitySets {
            effective: kept,
            permitted: kept,
            inheritable: CapabilitySet::empty(),
        },
    )?;
    Ok(set_no_new_privs(true)?)
}

fn bound(kept: CapabilitySet) -> io::Result<()> {
    for capability in (0..u64::BITS).map(|bit| CapabilitySet::from_bits_retain(1 << bit)) {
        if kept.contains(capability) {
            continue;
        }
        match remove_capability_from_bounding_set(capability) {
            Ok(()) => {}
            // The kernel has no more.
            Err(Errno::INVAL) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
