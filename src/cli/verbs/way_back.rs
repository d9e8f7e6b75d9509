//! `lead diff` and `lead undo`: what the team did to the workspace in a session, told and taken back.

use crate::cli::exit::{Failure, Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::safe::{safe, safe_line};
use crate::cli::shell;
use crate::cli::yes_no;
use crate::ids::SessionId;
use crate::team::{MemberStatus, Session};
use crate::worktree::snapshot::{self, Differences, Form, Undone};

/// Longest list of paths in one line, in characters.
const MAX_LINE: usize = 2_000;

/// `lead diff`
pub fn diff(place: &Place, stat: bool, session: Option<&str>) -> Outcome {
    let session = named_or_last(place, session)?;
    let form = if stat { Form::Stat } else { Form::Patch };
    let changes = snapshot::diff(&place.workspace, &session, form);
    let Differences { text, besides } = changes.map_err(Failure::failed)?;
    tell_besides(besides.as_deref());
    if text.is_empty() {
        shell::out_line(&format!(
            "nothing has changed since {session} began its work"
        ));
    } else {
        shell::out_line(safe(&text).trim_end());
    }
    Ok(Kind::Completed)
}

/// `lead undo`
pub fn undo(place: &Place, yes: bool, session: Option<&str>) -> Outcome {
    let session = named_or_last(place, session)?;
    refuse_at_work(place)?;
    let changes = snapshot::diff(&place.workspace, &session, Form::Stat);
    let Differences { text, besides } = changes.map_err(Failure::failed)?;
    tell_besides(besides.as_deref());
    if text.is_empty() {
        shell::out_line(&format!(
            "nothing has changed since {session} began its work"
        ));
        return Ok(Kind::Completed);
    }
    shell::out_line(safe(&text).trim_end());
    let question = "Take all of this back? What is replaced is kept as another snapshot.";
    if !yes && !yes_no::ask(question)? {
        return Err(Failure::failed(
            "nothing was taken back; nobody said yes; answer y, or give --yes",
        ));
    }
    refuse_at_work(place)?;
    let undone = snapshot::undo(&place.workspace, &session).map_err(Failure::failed)?;
    for line in told(&undone) {
        shell::out_line(&safe_line(&line, MAX_LINE));
    }
    Ok(Kind::Completed)
}

/// On standard error: it is no part of the changes.
fn tell_besides(besides: Option<&str>) {
    if let Some(besides) = besides {
        shell::err_line(&safe_line(&format!("not looked at: {besides}"), MAX_LINE));
    }
}

fn named_or_last(place: &Place, named: Option<&str>) -> Result<SessionId, Failure> {
    match named {
        Some(text) => SessionId::parse(text).map_err(Failure::usage),
        None => Session::load(&place.workspace)
            .map(|session| session.id)
            .ok_or_else(|| {
                Failure::failed(
                    "no session has worked here; there is no snapshot to compare with; start one with `lead`",
                )
            }),
    }
}

/// Whoever works would go on with files that are not what it has read.
fn refuse_at_work(place: &Place) -> Result<(), Failure> {
    let roster = place.roster();
    let mut busy: Vec<String> = roster
        .list()?
        .into_iter()
        .filter(|member| {
            let rests = matches!(
                member.status,
                MemberStatus::Idle | MemberStatus::Stopped | MemberStatus::Failed
            );
            !rests && roster.is_alive(&member.name)
        })
        .map(|member| member.name.to_string())
        .collect();
    let lead_works =
        Session::load(&place.workspace).is_some_and(|session| session.status == "working");
    if lead_works && place.has_lead() {
        busy.push("the lead".to_owned());
    }
    if busy.is_empty() {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "nothing was taken back; still at work: {}; wait until they rest, or stop them first",
        busy.join(", ")
    )))
}

fn told(undone: &Undone) -> Vec<String> {
    let paths = |paths: &[std::path::PathBuf]| {
        let names: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        names.join(", ")
    };
    let mut lines = vec![format!(
        "{} {} put back",
        undone.files,
        if undone.files == 1 {
            "file was"
        } else {
            "files were"
        }
    )];
    if let Some(replaced) = &undone.replaced {
        lines.push(format!(
            "what was replaced is kept: git restore --source={replaced} -- . brings it back"
        ));
    }
    if !undone.ignored.is_empty() {
        lines.push(format!(
            "left alone, since git ignored them before: {}",
            paths(&undone.ignored)
        ));
    }
    if let Some(left_out) = undone.left_out.told() {
        lines.push(format!(
            "left alone, since no snapshot holds them: {left_out}"
        ));
    }
    if !undone.unread.is_empty() {
        lines.push(format!(
            "left alone, since they cannot be read: {}",
            undone.unread
        ));
    }
    if let Some(head) = &undone.head_was {
        lines.push(format!(
            "commits made since stay on the branch; git reset --mixed {head} takes the branch back, too"
        ));
    }
    lines
}
