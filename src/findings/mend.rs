//! Does what findings name, each under the lock of whoever writes there, and only if the file still looks as it did.

use std::fs::Permissions;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::Books;
use super::files::{self, LineFile, What};
use super::judge::BadLine;
use super::leases;
use super::survey::{Act, Seen, shown};
use crate::board::Released;
use crate::ids::{AgentName, RequestId};
use crate::lease::Leases;
use crate::mailbox;
use crate::request::{Decision, RequestKind, RequestStatus};
use crate::store::lock::{FileLock, LOCK_WAIT};
use crate::store::watch::Stamp;
use crate::store::{StoreError, jsonl, quarantine, read};
use crate::workspace::Workspace;

/// Does it for `by`; answers with what was done.
pub fn mend(books: Books<'_>, by: &AgentName, act: &Act) -> anyhow::Result<String> {
    match act {
        Act::SetAside(seen, why) => {
            let kept = under_lock(books, by, seen, || set_aside(books, seen, why))??;
            Ok(format!("moved to {}", shown(books, &kept)))
        }
        Act::SetLinesAside(seen, bad) => {
            let kept = under_lock(books, by, seen, || set_lines_aside(books, seen, bad))??;
            Ok(format!("moved to {}", shown(books, &kept)))
        }
        Act::Sweep(seen) => {
            under_lock(books, by, seen, || sweep(seen))??;
            Ok("deleted".to_owned())
        }
        Act::SetMode(path, mode) => set_mode(path, *mode),
        Act::CatchUp => {
            drop(books.board.lock(by)?);
            Ok("told the other processes what had changed".to_owned())
        }
        Act::Release(id, owner, version) => {
            let holder = owner.as_ref().map(|owner| (owner, *version));
            let mut board = books.board.lock(by)?;
            board.release(id, holder, Released::Failed, None)?;
            Ok("pending again".to_owned())
        }
        Act::EndLeases(agent) => {
            leases::end(books, agent)?;
            Ok("noted as free".to_owned())
        }
        Act::Undo(name) => undo(books, by, name),
        Act::Close(id, kind, status) => close(books, by, id, *kind, *status),
    }
}

/// Runs `act` while nobody writes where the file is.
fn under_lock<R>(
    books: Books<'_>,
    by: &AgentName,
    seen: &Seen,
    act: impl FnOnce() -> R,
) -> anyhow::Result<R> {
    let path = &seen.kept.path;
    let dir = path.parent();
    let workspace = books.workspace;
    match &seen.kept.what {
        // Nobody can lock what is no file.
        What::Lock | What::Directory | What::Output | What::Session => Ok(act()),
        _ if dir == Some(&workspace.tasks_dir()) => {
            let board = books.board.lock(by)?;
            let done = act();
            drop(board);
            Ok(done)
        }
        _ if dir == Some(&workspace.members_dir()) => Ok(books.roster.locked(act)?),
        _ if dir == Some(&workspace.requests_dir()) => Ok(books.requests.locked(act)?),
        _ if dir == Some(&workspace.leases_dir()) => {
            Ok(Leases::new(workspace.clone()).locked(act)?)
        }
        What::Lines(LineFile::Mailbox(owner)) if read::other_than_plain(path)?.is_none() => {
            let transcripts = transcripts_of(workspace, owner)?;
            let transcripts: Vec<&Path> = transcripts.iter().map(PathBuf::as_path).collect();
            mailbox::unless_recorded(path, &transcripts, act)?.with_context(|| {
                format!("{owner} has taken mail in that still stands there; it goes on when {owner} starts again")
            })
        }
        What::Lines(LineFile::Usage | LineFile::Grants) | What::ScriptNames
            if read::other_than_plain(path)?.is_none() =>
        {
            let lock = FileLock::exclusive(path, LOCK_WAIT)?;
            let done = act();
            drop(lock);
            Ok(done)
        }
        _ => Ok(act()),
    }
}

/// The conversations in which `owner` may have recorded its mail last.
fn transcripts_of(workspace: &Workspace, owner: &AgentName) -> anyhow::Result<Vec<PathBuf>> {
    let all = files::all(workspace)?.into_iter();
    Ok(all
        .filter(|kept| matches!(&kept.what, What::Lines(LineFile::Transcript(of)) if of == owner))
        .map(|kept| kept.path)
        .collect())
}

fn set_aside(books: Books<'_>, seen: &Seen, why: &str) -> anyhow::Result<PathBuf> {
    unchanged(seen)?;
    let dir = books.workspace.quarantine_dir();
    if seen.kept.path == dir {
        // What stands in its own place gives way to it.
        let elsewhere = books.workspace.state_dir();
        return Ok(quarantine::move_file(&elsewhere, &seen.kept.path, why)?);
    }
    Ok(quarantine::move_file(&dir, &seen.kept.path, why)?)
}

/// Keeps the lines first, so that a crash leaves them in both places.
fn set_lines_aside(books: Books<'_>, seen: &Seen, bad: &[BadLine]) -> anyhow::Result<PathBuf> {
    unchanged(seen)?;
    let path = &seen.kept.path;
    if let Some(long) = bad.iter().find(|line| line.length > jsonl::LONGEST as u64) {
        bail!("a line of {} bytes is too long to be moved", long.length);
    }
    let file = read::open_to_change(path)?.context("it is gone")?;
    let (mut bytes, mut reasons) = (Vec::new(), Vec::new());
    for line in bad {
        let from = bytes.len();
        bytes.resize(from + usize::try_from(line.length)?, 0);
        file.read_exact_at(&mut bytes[from..], line.offset)
            .map_err(StoreError::of("read", path))?;
        bytes.push(b'\n');
        reasons.push(format!("the line at byte {}: {}", line.offset, line.why));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let dir = books.workspace.quarantine_dir();
    let kept = quarantine::keep(&dir, &name, &bytes, &reasons.join("\n"))?;
    for line in bad {
        jsonl::blank(&file, line.offset, line.offset + line.length)
            .map_err(StoreError::of("write", path))?;
    }
    Ok(kept)
}

/// The board sweeps its own when it is locked.
fn sweep(seen: &Seen) -> anyhow::Result<()> {
    let path = &seen.kept.path;
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    unchanged(seen)?;
    Ok(std::fs::remove_file(path).map_err(StoreError::of("delete", path))?)
}

fn unchanged(seen: &Seen) -> anyhow::Result<()> {
    if Stamp::of(&seen.kept.path) == seen.stamp {
        return Ok(());
    }
    bail!("it has changed since it was looked at");
}

fn set_mode(path: &Path, mode: u32) -> anyhow::Result<String> {
    std::fs::set_permissions(path, Permissions::from_mode(mode))
        .map_err(StoreError::of("set the permissions of", path))?;
    Ok(format!("mode {mode:03o} now"))
}

/// As a lead does at its start, but that the record is kept.
fn undo(books: Books<'_>, by: &AgentName, name: &AgentName) -> anyhow::Result<String> {
    if books.roster.is_alive(name) {
        bail!("it lives by now");
    }
    if let Some(task) = books.board.owned_by(name)? {
        let mut board = books.board.lock(by)?;
        board.release(
            &task.id,
            Some((name, task.work_version)),
            Released::Orderly,
            None,
        )?;
    }
    let path = books.workspace.member(name);
    let dir = books.workspace.quarantine_dir();
    let why = "its start was cut short";
    let kept = books
        .roster
        .locked(|| quarantine::move_file(&dir, &path, why))??;
    Ok(format!("its record was moved to {}", shown(books, &kept)))
}

fn close(
    books: Books<'_>,
    by: &AgentName,
    id: &RequestId,
    kind: RequestKind,
    status: RequestStatus,
) -> anyhow::Result<String> {
    let decision = Decision {
        kind,
        by: by.clone(),
        status,
        feedback: Some("the process that it concerns is gone".to_owned()),
        scope: None,
    };
    let record = books.requests.decide(id, &decision)?;
    Ok(record.status.to_string())
}
