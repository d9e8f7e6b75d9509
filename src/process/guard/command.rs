//! The command's own process: a fork of the guard that goes inside the sandbox and executes the shell there.

use std::ffi::OsStr;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use nix::unistd::ForkResult;

use crate::process::{harden, raw};

/// Where the command runs.
#[cfg(target_os = "linux")]
pub(super) type Inside<'a> = Option<crate::process::sandbox::linux::Built>;
/// Where the command runs.
#[cfg(not(target_os = "linux"))]
pub(super) type Inside<'a> = Option<&'a crate::process::sandbox::Sandbox>;

/// Starts `text` in `shell` as the leader of a process group, with the person's umask and no signal ignored; its pid.
pub(super) fn start(shell: &OsStr, text: &OsStr, inside: Inside<'_>) -> io::Result<u32> {
    let (failure, fail) = io::pipe()?;
    match raw::fork_single_threaded()? {
        ForkResult::Parent { child } => {
            drop(fail);
            started(failure)?;
            Ok(child.as_raw().unsigned_abs())
        }
        ForkResult::Child => {
            drop(failure);
            become_command(shell, text, inside, fail)
        }
    }
}

/// The pipe closes by itself when the shell is executed.
fn started(mut failure: PipeReader) -> io::Result<()> {
    let mut why = String::new();
    failure.read_to_string(&mut why)?;
    if why.is_empty() {
        Ok(())
    } else {
        Err(io::Error::other(why))
    }
}

#[expect(clippy::exit, reason = "there is nobody to return to")]
fn become_command(shell: &OsStr, text: &OsStr, inside: Inside<'_>, mut fail: PipeWriter) -> ! {
    let why = match execute(shell, text, inside) {
        Ok(never) => match never {},
        Err(error) => error,
    };
    fail.write_all(why.to_string().as_bytes()).ok();
    std::process::exit(125)
}

fn execute(
    shell: &OsStr,
    text: &OsStr,
    inside: Inside<'_>,
) -> io::Result<std::convert::Infallible> {
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    let mut command = program(shell, text, inside)?;
    command
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0);
    let error = harden::as_if_by_the_person(&mut command).exec();
    Err(io::Error::other(format!(
        "cannot start {}: {error}",
        shell.display()
    )))
}

#[cfg(target_os = "linux")]
fn program(shell: &OsStr, text: &OsStr, inside: Inside<'_>) -> io::Result<Command> {
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
fn program(shell: &OsStr, text: &OsStr, inside: Inside<'_>) -> io::Result<Command> {
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
fn program(shell: &OsStr, text: &OsStr, inside: Inside<'_>) -> io::Result<Command> {
    if inside.is_some() {
        return Err(io::Error::other("there is no sandbox on this system"));
    }
    let mut command = Command::new(shell);
    command.arg("-c").arg(text);
    Ok(command)
}
