//! `write_file`: a whole file, old or new, never mixed.

use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{Call, Class, Said, Tool};
use super::path::{Access, Opened, Target};
use super::seen::{Known, MAX_EDIT};
use super::{diff, edits, leases};

pub(crate) struct WriteFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteFileInput {
    /// The file, relative to your working directory or absolute; missing directories are made.
    path: String,
    /// The whole new content.
    content: String,
}

impl Tool for WriteFile {
    type Input = WriteFileInput;
    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str = "Makes a file, or replaces a whole file that you have read. For a change in a file use edit_file.";
    const CLASS: Class = Class::Workspace;
    const GATED: bool = true;
    const CHANGES: bool = true;

    fn path(input: &WriteFileInput) -> Option<(&str, Access)> {
        Some((&input.path, Access::Write))
    }

    fn preview(call: &Call<'_>, input: &WriteFileInput) -> Result<Option<String>, String> {
        let target = call.target()?;
        leases::check(call, target)?;
        let old = match Opened::parent_of(&target.real, false) {
            Ok(parent) => old_content(call, target, &parent)?.map(|(bytes, _)| bytes),
            Err(_) => None,
        };
        let old = old.unwrap_or_default();
        edits::show(call, &old);
        let old = String::from_utf8_lossy(&old);
        Ok(Some(diff::full(&target.shown, &old, &input.content)))
    }

    fn run(call: &Call<'_>, input: WriteFileInput) -> Result<Said, String> {
        let target = call.target()?;
        if input.content.len() as u64 > MAX_EDIT {
            return Err(format!(
                "`content` has {} bytes; at most {MAX_EDIT} are written in one call",
                input.content.len()
            ));
        }
        edits::under_lease(call, target, || write(call, target, input.content))
    }
}

fn write(call: &Call<'_>, target: &Target, mut content: String) -> Result<Said, String> {
    let parent = Opened::parent_of(&target.real, true)
        .map_err(|error| edits::cannot("write", target, &error))?;
    let old = old_content(call, target, &parent)?;
    let bytes = old.as_ref().map_or(&[][..], |(bytes, _)| bytes);
    edits::check_agreed(call, target, bytes)?;
    let had_newline = old
        .as_ref()
        .is_some_and(|(bytes, _)| bytes.ends_with(b"\n"));
    if had_newline && !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
    }
    let lines = content.lines().count();
    edits::replace(
        call,
        target,
        &parent,
        content.as_bytes(),
        old.as_ref().map(|old| old.1),
    )?;
    Ok(match old {
        None if content.is_empty() => format!("made {} (0 lines)", target.shown),
        None => format!(
            "made {} ({lines} lines)\n{}",
            target.shown,
            diff::short(&target.shown, "", &content)
        ),
        Some((bytes, _)) if bytes == content.as_bytes() => {
            format!("{} has exactly this content already", target.shown)
        }
        Some((bytes, _)) => {
            let old = String::from_utf8_lossy(&bytes);
            format!(
                "replaced {} ({lines} lines)\n{}",
                target.shown,
                diff::short(&target.shown, &old, &content)
            )
        }
    }
    .into())
}

/// What is there now with its permission bits. `Err` unless this agent knows it.
fn old_content(
    call: &Call<'_>,
    target: &Target,
    parent: &Opened,
) -> Result<Option<(Vec<u8>, u32)>, String> {
    let old = parent
        .content(MAX_EDIT)
        .map_err(|error| edits::cannot("write", target, &error))?;
    if let Some((bytes, _)) = &old {
        match call.seen.known(&target.real, bytes) {
            Known::Same => {}
            Known::Never => {
                return Err(format!(
                    "{} exists and you have not read it; read it first, or change it with edit_file",
                    target.shown
                ));
            }
            Known::Changed => return Err(edits::changed(call, target)),
        }
    }
    Ok(old)
}
