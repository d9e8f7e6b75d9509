//! `edit_file`: one text for another, where there is no doubt which.

use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{Call, Class, Said, Tool};
use super::path::{Access, Opened, Target};
use super::seen::{Known, MAX_EDIT};
use super::{diff, edits, leases};

/// How many places are named in a refusal.
const PLACES: usize = 20;

pub(crate) struct EditFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditFileInput {
    /// The file, relative to your working directory or absolute.
    path: String,
    /// The text to replace, exactly as it stands in the file, without line numbers.
    old_text: String,
    /// The text to put in its place.
    new_text: String,
    /// Replace every occurrence; otherwise there must be exactly one.
    replace_all: Option<bool>,
}

/// An edit worked out, not done.
struct Planned {
    parent: Opened,
    mode: u32,
    old: String,
    new: String,
    places: Vec<usize>,
}

impl Tool for EditFile {
    type Input = EditFileInput;
    const NAME: &'static str = "edit_file";
    const DESCRIPTION: &'static str = "Replaces text in a file. old_text must occur exactly once, unless replace_all is true; \
        give enough of what surrounds it.";
    const CLASS: Class = Class::Workspace;
    const GATED: bool = true;
    const CHANGES: bool = true;

    fn path(input: &EditFileInput) -> Option<(&str, Access)> {
        Some((&input.path, Access::Write))
    }

    fn preview(call: &Call<'_>, input: &EditFileInput) -> Result<Option<String>, String> {
        let target = call.target()?;
        leases::check(call, target)?;
        let planned = plan(call, target, input)?;
        edits::show(call, planned.old.as_bytes());
        Ok(Some(diff::full(&target.shown, &planned.old, &planned.new)))
    }

    fn run(call: &Call<'_>, input: EditFileInput) -> Result<Said, String> {
        let target = call.target()?;
        edits::under_lease(call, target, || edit(call, target, &input))
    }
}

fn edit(call: &Call<'_>, target: &Target, input: &EditFileInput) -> Result<Said, String> {
    let planned = plan(call, target, input)?;
    edits::check_agreed(call, target, planned.old.as_bytes())?;
    edits::replace(
        call,
        target,
        &planned.parent,
        planned.new.as_bytes(),
        Some(planned.mode),
    )?;
    let spots = match planned.places.as_slice() {
        [line] => format!("line {line}"),
        lines => format!("{} places, lines {}", lines.len(), listed(lines)),
    };
    Ok(format!(
        "edited {} ({spots})\n{}",
        target.shown,
        diff::short(&target.shown, &planned.old, &planned.new)
    )
    .into())
}

fn plan(call: &Call<'_>, target: &Target, input: &EditFileInput) -> Result<Planned, String> {
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => absent(target),
        _ => edits::cannot("edit", target, &error),
    };
    let parent = Opened::parent_of(&target.real, false).map_err(failed)?;
    let (bytes, mode) = parent
        .content(MAX_EDIT)
        .map_err(failed)?
        .ok_or_else(|| absent(target))?;
    if call.seen.known(&target.real, &bytes) == Known::Changed {
        return Err(edits::changed(call, target));
    }
    let old = String::from_utf8(bytes)
        .map_err(|_| format!("{} is not UTF-8 text; change it with bash", target.shown))?;
    let (new, places) = replaced(&old, input).map_err(|why| format!("{}: {why}", target.shown))?;
    Ok(Planned {
        parent,
        mode,
        old,
        new,
        places,
    })
}

fn absent(target: &Target) -> String {
    format!("there is no file {}; write_file makes one", target.shown)
}

/// The new content and the lines in which the replaced places begin.
fn replaced(old: &str, input: &EditFileInput) -> Result<(String, Vec<usize>), String> {
    if input.old_text.is_empty() {
        return Err("`old_text` is empty; say what is to be replaced".to_owned());
    }
    if input.old_text == input.new_text {
        return Err("`old_text` and `new_text` are the same; nothing would change".to_owned());
    }
    let (from, to) = in_the_files_line_ends(old, input);
    let all = input.replace_all == Some(true);
    let mut starts: Vec<usize> = old.match_indices(&from).map(|(start, _)| start).collect();
    if let ([only], false) = (starts.as_slice(), all) {
        starts.extend(overlapping(old, &from, *only));
    }
    let places = lines_of(old, &starts);
    match places.len() {
        0 => return Err(not_found(old, &from)),
        1 => {}
        _ if all => {}
        count => {
            return Err(format!(
                "`old_text` was found {count} times, in lines {}; give more of what surrounds it, or set replace_all",
                listed(&places)
            ));
        }
    }
    let mut new = old.replace(&from, &to);
    if old.ends_with('\n') && !new.is_empty() && !new.ends_with('\n') {
        new.push('\n');
    }
    Ok((new, places))
}

/// Where `from` begins inside of itself, as found at `start`: either may be meant.
fn overlapping(old: &str, from: &str, start: usize) -> Option<usize> {
    let next = old.ceil_char_boundary(start + 1);
    old[next..].find(from).map(|later| next + later)
}

/// Lines are shown without their `\r`, so a text of several lines cannot have it.
fn in_the_files_line_ends(old: &str, input: &EditFileInput) -> (String, String) {
    let windows = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
    if old.contains("\r\n") && !old.contains(&input.old_text) {
        (windows(&input.old_text), windows(&input.new_text))
    } else {
        (input.old_text.clone(), input.new_text.clone())
    }
}

/// The line numbers, from 1, of ascending byte offsets.
fn lines_of(text: &str, starts: &[usize]) -> Vec<usize> {
    let mut line = 1;
    let mut from = 0;
    starts
        .iter()
        .map(|start| {
            line += text[from..*start].matches('\n').count();
            from = *start;
            line
        })
        .collect()
}

fn listed(places: &[usize]) -> String {
    let mut shown: Vec<String> = places.iter().take(PLACES).map(usize::to_string).collect();
    if places.len() > PLACES {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

/// Says where the same words stand with other white space, which is the usual slip.
fn not_found(old: &str, from: &str) -> String {
    let squeezed = |text: &str| -> Vec<String> {
        text.lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect()
    };
    let wanted = squeezed(from.trim_matches('\n'));
    let have = squeezed(old);
    let near = wanted
        .iter()
        .any(|line| !line.is_empty())
        .then(|| have.windows(wanted.len()).position(|lines| lines == wanted))
        .flatten();
    match near {
        Some(index) => format!(
            "`old_text` was not found; line {} has the same words with other white space, so read it again and copy it exactly",
            index + 1
        ),
        None => {
            "`old_text` was not found; read the file again and copy the text exactly".to_owned()
        }
    }
}
