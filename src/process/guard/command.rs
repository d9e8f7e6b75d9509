//! The command's own process: a child of the guard that goes inside the sandbox and executes the shell there.

use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::process::harden;
#[cfg(target_os = "linux")]
use crate::process::raw;

/// Where the command runs.
#[cfg(target_os = "linux")]
pub(super) type Inside = Option<crate::process::sandbox::linux::Built>;
/// Where the command runs.
#[cfg(not(target_os = "linux"))]
pub(super) type Inside = Option<crate::process::sandbox::Sandbox>;

/// Starts `text` in `shell` as the leader of a process group, with the person's umask and no signal ignored; its pid.
#[cfg(target_os = "linux")]
pub(super) fn start(shell: &OsStr, text: &OsStr, inside: &Inside) -> io::Result<u32> {
    let mut failed = None;
    let child = raw::lend_memory_to_child(|| {
        failed = Some(match prepare(shell, text, inside) {
            Ok(mut command) => cannot_start(shell, &command.exec()),
            Err(error) => error,
        });
    })?;
    match failed {
        None => Ok(child.as_raw().unsigned_abs()),
        Some(error) => Err(error),
    }
}

/// Starts `text` in `shell` as the leader of a process group, with the person's umask and no signal ignored; its pid.
#[cfg(not(target_os = "linux"))]
#[expect(
    clippy::disallowed_methods,
    reason = "the guard is the only waiter of its process, and waits for whatever ends"
)]
pub(super) fn start(shell: &OsStr, text: &OsStr, inside: &Inside) -> io::Result<u32> {
    let child = prepare(shell, text, inside)?.spawn();
    Ok(child.map_err(|error| cannot_start(shell, &error))?.id())
}

fn cannot_start(shell: &OsStr, error: &io::Error) -> io::Error {
    io::Error::other(format!("cannot start {}: {error}", shell.display()))
}

/// What is to be executed. On Linux this process is inside already, so it must be the command's own.
fn prepare(shell: &OsStr, text: &OsStr, inside: &Inside) -> io::Result<Command> {
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    let mut command = program(shell, text, inside)?;
    command
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0);
    harden::as_if_by_the_person(&mut command);
    Ok(command)
}

#[cfg(target_os = "linux")]
fn program(shell: &OsStr, text: &OsStr, inside: &Inside) -> io::Result<Command> {
    if let Some(sandbox) = inside {
        sandbox
            .enter()
            .map_err(|error| io::Error::other(format!("cannot enter the sandbox: {error}")))?;
    }
    let mut command = Command::new(shell);
    command.arg("-c").arg(text);
    Ok(command)
}

#[cfg(target_os = "macos")]
fn program(shell: &OsStr, text: &OsStr, inside: &Inside) -> io::Result<Command> {
    use crate::process::sandbox::seatbelt;

    let mut command = match inside {
        None => Command::new(shell),
        Some(sandbox) => {
            let mut command = Command::new(seatbelt::PROGRAM);
            command
                .arg("-p")
                .arg(seatbelt::profile(sandbox)?)
                .arg(shell);
            command
        }
    };
    command.arg("-c").arg(text);
    Ok(command)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn program(shell: &OsStr, text: &OsStr, inside: &Inside) -> io::Result<Command> {
    if inside.is_some() {
        return Err(io::Error::other("there is no sandbox on this system"));
    }
    let mut command = Command::new(shell);
    command.arg("-c").arg(text);
    Ok(command)
}
