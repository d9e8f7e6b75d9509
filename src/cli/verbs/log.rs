//! `lead log`: one timeline of the team (SPEC §14).

use std::sync::mpsc;

use super::follow::{self, Wake};
use super::happened;
use crate::cli::exit::{Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::safe::{safe, safe_line};
use crate::cli::shell::{self, Style};
use crate::cli::wrap::wrap;
use crate::timeline::{Event, Happened, History};
use crate::workspace::Workspace;

/// Longest text of a line, in characters.
const MAX_TEXT: usize = 300;

/// Runs the verb.
pub fn run(place: &Place, follow: bool, verbose: bool, as_json: bool) -> Outcome {
    let mut history = History::new(&place.workspace, place.roster(), place.requests());
    let mut page = Page::new(place.style, verbose);
    if follow {
        return go_on(&place.workspace, &mut history, |event| {
            if as_json {
                shell::out_line_to_reader(&shell::json_line(&event.json()))
            } else {
                page.print(event)
            }
        });
    }
    if as_json {
        print_array(&mut history)?;
    } else {
        history.read_on(|event| page.print(event))?;
    }
    tell_skipped(&history);
    Ok(Kind::Completed)
}

/// An array of all events, one a line, as they are read.
fn print_array(history: &mut History) -> Result<(), crate::store::StoreError> {
    let mut before = "[";
    history.read_on(|event| {
        let open = shell::out_to_reader(&format!("{before}\n{}", shell::json_line(&event.json())));
        before = ",";
        open
    })?;
    shell::out_line(if before == "[" { "[]" } else { "\n]" });
    Ok(())
}

fn tell_skipped(history: &History) {
    match history.skipped() {
        0 => {}
        1 => shell::err_line("1 line could not be read; lead doctor tells which"),
        more => shell::err_line(&format!(
            "{more} lines could not be read; lead doctor tells which"
        )),
    }
}

/// Reads on whenever anything was written, until a signal comes or nobody reads any more.
fn go_on(
    workspace: &Workspace,
    history: &mut History,
    mut print: impl FnMut(&Event) -> bool,
) -> Outcome {
    let (wake, woken) = mpsc::channel();
    follow::signals_to(wake.clone());
    let _watcher = follow::files_to(workspace, wake);
    let mut open = true;
    loop {
        history.read_on(|event| {
            open = print(event);
            open
        })?;
        let kind = match follow::next(&woken) {
            Wake::Changed if open => continue,
            Wake::Changed => Kind::Completed,
            Wake::End(kind) => kind,
        };
        tell_skipped(history);
        return Ok(kind);
    }
}

/// How events are printed.
struct Page {
    style: Style,
    /// Columns, if a person reads it on a terminal.
    width: Option<usize>,
    /// Whether routine is told, too.
    verbose: bool,
    /// The day that was told of last.
    day: String,
}

impl Page {
    fn new(style: Style, verbose: bool) -> Self {
        Self {
            style,
            width: shell::width(),
            verbose,
            day: String::new(),
        }
    }

    /// `false` once nobody reads it any more.
    fn print(&mut self, event: &Event) -> bool {
        if !self.verbose && happened::is_routine(&event.what) {
            return true;
        }
        let lines = self.lines(event);
        shell::out_line_to_reader(&lines.join("\n"))
    }

    /// One line with the whole time; on a terminal the time of day, beneath its day, and as many rows as it takes.
    fn lines(&mut self, event: &Event) -> Vec<String> {
        let Some(width) = self.width else {
            return vec![line(self.style, event)];
        };
        let at = event.at.to_string();
        let (day, time) = at.split_once('T').unwrap_or(("", &at));
        let time = time.get(..8).unwrap_or(time);
        let indent = head(Style::default(), time, event).chars().count();
        let room = width.saturating_sub(indent).max(20);
        let rows = wrap(&text(event), room).into_iter().enumerate();
        let mut lines: Vec<String> = rows
            .map(|(nr, row)| match nr {
                0 => head(self.style, time, event) + &row,
                _ => " ".repeat(indent) + &row,
            })
            .collect();
        if self.day != day {
            lines.insert(0, self.style.bold(&format!("{day}, times are UTC")));
            day.clone_into(&mut self.day);
        }
        lines
    }
}

/// One event on one line, safe for a terminal.
fn line(style: Style, event: &Event) -> String {
    head(style, &event.at.to_string(), event) + &text(event)
}

fn head(style: Style, time: &str, event: &Event) -> String {
    let agent = style.name(&format!("{:<10}", safe_line(&event.agent, 64)));
    let kind = happened::kind(&event.what);
    format!("{}  {agent}  {kind:<7}  ", style.dim(time))
}

fn text(event: &Event) -> String {
    safe_line(&happened::text(&event.what), MAX_TEXT)
}

/// The same with the id under which [`whole`] is to be had.
pub fn short(style: Style, event: &Event) -> String {
    let id = match &event.what {
        Happened::ToolUse { id, .. } | Happened::ToolResult { id, .. } => id,
        Happened::Message(message) => &message.id,
        _ => return line(style, event),
    };
    let id = style.dim(&format!("  {}", safe_line(id, 100)));
    format!("{}{id}", line(style, event))
}

/// One event with all that was said.
pub fn whole(style: Style, event: &Event) -> Vec<String> {
    let text = safe(&happened::whole(&event.what));
    let mut lines = vec![format!(
        "{}  {}",
        style.dim(&event.at.to_string()),
        style.name(&safe_line(&event.agent, 64))
    )];
    lines.extend(text.lines().map(|line| format!("  {line}")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;

    fn page(width: Option<usize>) -> Page {
        Page {
            style: Style::default(),
            width,
            verbose: false,
            day: String::new(),
        }
    }

    #[test]
    fn a_terminal_gets_rows_that_fit_beneath_their_day() {
        let event = |text: &str| Event {
            at: Timestamp::from_ms(1_764_522_000_123),
            agent: "alice".to_owned(),
            what: Happened::Text(text.to_owned()),
        };
        let mut narrow = page(Some(60));
        assert_eq!(
            narrow.lines(&event("one two three four five six seven")),
            [
                "2025-11-30, times are UTC",
                "17:00:00  alice       says     one two three four five six",
                "                               seven",
            ]
        );
        assert_eq!(
            narrow.lines(&event("more")).len(),
            1,
            "the day is told once"
        );
        assert_eq!(
            page(None).lines(&event("one\ntwo")),
            ["2025-11-30T17:00:00.123Z  alice       says     one⏎two"]
        );
    }
}
