//! `glob`: files by name.

use globset::{GlobBuilder, GlobMatcher};
use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{Call, Class, Said, Tool};
use super::path::{Access, EntryKind};
use super::search::{self, MAX_RESULTS};

pub(crate) struct Glob;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GlobInput {
    /// Such as `**/*.rs` or `src/*.{c,h}`; `*` does not match `/`, `**` matches any directories.
    pattern: String,
    /// The directory to search; your working directory if left out.
    path: Option<String>,
}

impl Tool for Glob {
    type Input = GlobInput;
    const NAME: &'static str = "glob";
    const DESCRIPTION: &'static str =
        "Finds files by name, newest first, at most 200; what .gitignore names is left out.";
    const CLASS: Class = Class::Workspace;

    fn path(input: &GlobInput) -> Option<(&str, Access)> {
        Some((input.path.as_deref()?, Access::Read))
    }

    fn run(call: &Call<'_>, input: GlobInput) -> Result<Said, String> {
        let matcher = matcher(&input.pattern)?;
        let (start, kind) = search::start(call)?;
        if kind != EntryKind::Dir {
            return Err(format!(
                "`path` {} is not a directory",
                call.place()?.shown(start)
            ));
        }
        let walked = search::files(call, start, |path| {
            path.strip_prefix(start)
                .is_ok_and(|below| matcher.is_match(below))
        })?;
        let place = call.place()?;
        let mut lines: Vec<String> = walked
            .files
            .iter()
            .take(MAX_RESULTS)
            .map(|met| place.shown(&met.path))
            .collect();
        if lines.is_empty() {
            lines.push(nothing(&input.pattern));
        }
        let more = walked.files.len().saturating_sub(MAX_RESULTS);
        if more > 0 {
            lines.push(format!(
                "({more} older files are left out; narrow the pattern or the path)"
            ));
        }
        lines.extend(walked.notes());
        Ok(lines.join("\n").into())
    }
}

fn matcher(pattern: &str) -> Result<GlobMatcher, String> {
    if pattern.trim().is_empty() {
        return Err("`pattern` is empty; use ** for all files".to_owned());
    }
    if pattern.starts_with(['/', '~']) || pattern.split('/').any(|part| part == "..") {
        return Err(
            "`pattern` is matched beneath `path` and cannot lead out of it; give the directory as `path`"
                .to_owned(),
        );
    }
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| format!("`pattern` is not a glob: {}", error.kind()))
}

fn nothing(pattern: &str) -> String {
    if pattern.contains('/') {
        format!("no file matches {pattern}")
    } else {
        format!("no file matches {pattern}; **/{pattern} looks into all directories")
    }
}
