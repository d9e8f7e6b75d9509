//! What a process of ours takes from itself before it reads a key.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::sys::stat::{Mode, umask};

static PERSONS_UMASK: OnceLock<Mode> = OnceLock::new();

/// Makes this process non-dumpable, without core files, umask 077, and (Linux) the reaper of orphaned descendants.
///
/// For programs of ours only: from then on every child that is not registered is taken for an orphan and reaped.
pub fn harden() {
    let before = umask(Mode::from_bits_truncate(0o077));
    PERSONS_UMASK.get_or_init(|| before);
    if let Err(error) = setrlimit(Resource::RLIMIT_CORE, 0, 0) {
        tracing::warn!(%error, "cannot switch core files off");
    }
    #[cfg(target_os = "linux")]
    harden_linux();
    super::signals::survive_file_limit();
    adopt_orphans();
    super::reaper::adopt_strays();
}

#[cfg(target_os = "linux")]
fn harden_linux() {
    use nix::sys::prctl::set_dumpable;
    if let Err(error) = set_dumpable(false) {
        tracing::warn!(%error, "other processes of the same user may read this one's memory");
    }
}

/// Makes orphaned descendants this process's children (Linux).
pub(super) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    if let Err(error) = nix::sys::prctl::set_child_subreaper(true) {
        tracing::warn!(%error, "orphaned processes of tools cannot be ended");
    }
}

/// The umask that the person started us with, for the files that are theirs (what a shell command makes); `None` if
/// [`harden`] was not called.
#[cfg_attr(
    target_os = "linux",
    expect(clippy::useless_conversion, reason = "mode_t is 16 bits wide on macOS")
)]
pub fn persons_umask() -> Option<u32> {
    PERSONS_UMASK.get().map(|mask| mask.bits().into())
}

/// Signals that `nohup` or a script's background job may have had us ignore.
const PERHAPS_IGNORED: [Signal; 3] = [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGHUP];

/// Lets `command` begin with the umask that the person started us with (as it is if [`harden`] was not called): what it
/// makes is theirs, not the runtime's. And with no signal ignored: that we are left alone by a terminal says nothing of
/// whom we interrupt ourselves.
pub(super) fn as_if_by_the_person(command: &mut Command) -> &mut Command {
    let mask = PERSONS_UMASK.get().copied();
    #[expect(
        unsafe_code,
        reason = "std has no other way to give a child alone its umask and signals"
    )]
    // SAFETY: between fork and exec it makes two kinds of call, umask and sigaction, which are async-signal-safe, and
    // touches no memory of ours; the default action runs no code of ours.
    unsafe {
        command.pre_exec(move || {
            if let Some(mask) = mask {
                umask(mask);
            }
            for number in PERHAPS_IGNORED {
                signal(number, SigHandler::SigDfl)?;
            }
            Ok(())
        })
    }
}

/// Sets this process's umask from octal digits; anything else leaves it.
pub(super) fn set_umask(digits: &OsStr) {
    let bits = digits
        .to_str()
        .and_then(|digits| nix::libc::mode_t::from_str_radix(digits, 8).ok());
    if let Some(bits) = bits {
        umask(Mode::from_bits_truncate(bits));
    }
}

/// Sets the short name that `ps` shows (Linux; elsewhere nothing). Call it on the main thread.
pub fn set_process_name(name: &str) {
    #[cfg(target_os = "linux")]
    if let Ok(name) = std::ffi::CString::new(name) {
        // Only a name; the kernel cuts it at 15 bytes.
        let _ = nix::sys::prctl::set_name(&name);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = name;
}
