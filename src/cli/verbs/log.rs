//! `lead log`: one timeline of the team (SPEC §14).

use std::iter;
use std::sync::mpsc;

use super::follow::{self, Wake};
use super::happened;
use crate::cli::exit::{Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::safe::{safe, safe_line};
use crate::cli::shell::{self, Style};
use crate::cli::wrap::{styled, wrap};
use crate::timeline::{Event, Happened, History};
use crate::workspace::Workspace;

/// Longest text of a line, in characters.
const MAX_TEXT: usize = 300;
/// Fewest columns for it beside its head; where there are fewer it comes beneath, after this.
const LEAST: usize = 24;
const NARROW: &str = "  ";

/// Runs the verb.
pub fn run(place: &Place, follow: bool, verbose: bool, as_json: bool) -> Outcome {
    let mut history = History::new(&place.workspace, place.roster(), place.requests());
    let mut page = Page::new(place.style, shell::width());
    // Routine is left out; `false` once nobody reads it any more.
    let mut print = |event: &Event| {
        let wanted = verbose || !event.what.is_routine();
        !wanted || shell::out_line_to_reader(&page.lines(event).join("\n"))
    };
    if follow {
        return go_on(&place.workspace, &mut history, |event| {
            if as_json {
                shell::out_line_to_reader(&shell::json_line(&event.json()))
            } else {
                print(event)
            }
        });
    }
    if as_json {
        print_array(&mut history)?;
    } else {
        history.read_on(print)?;
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

/// How events are written.
pub struct Page {
    style: Style,
    /// Columns, if a person reads it on a terminal.
    width: Option<usize>,
    /// The day that was told of last.
    day: String,
}

impl Page {
    /// For a terminal as wide as that, or for whoever wants one line an event.
    pub fn new(style: Style, width: Option<usize>) -> Self {
        Self {
            style,
            width,
            day: String::new(),
        }
    }

    /// One line with the whole time; on a terminal the time of day, beneath its day, and as many rows as it takes.
    fn lines(&mut self, event: &Event) -> Vec<String> {
        self.with(event, "")
    }

    /// The same with the id under which [`whole`] is to be had.
    pub fn with_id(&mut self, event: &Event) -> Vec<String> {
        match &event.what {
            Happened::ToolUse { id, .. } | Happened::ToolResult { id, .. } => self.with(event, id),
            Happened::Message(message) => self.with(event, &message.id),
            _ => self.with(event, ""),
        }
    }

    fn with(&mut self, event: &Event, id: &str) -> Vec<String> {
        let id = match id {
            "" => String::new(),
            id => self.style.dim(&format!("  {}", safe_line(id, 100))),
        };
        let text = text(event) + &id;
        let Some(width) = self.width else {
            return vec![head(self.style, &event.at.to_string(), event) + &text];
        };
        let at = event.at.to_string();
        let (day, time) = at.split_once('T').unwrap_or(("", &at));
        let time = time.get(..8).unwrap_or(time);
        let mut lines = Vec::new();
        if self.day != day {
            lines.push(self.style.bold(&format!("{day}, times are UTC")));
            day.clone_into(&mut self.day);
        }
        let mut head = head(self.style, time, event);
        let mut indent = styled::width(&head);
        if width < indent + LEAST {
            lines.push(head.trim_end().to_owned());
            NARROW.clone_into(&mut head);
            indent = NARROW.len();
        }
        let rows = wrap(&text, width.saturating_sub(indent).max(LEAST));
        for (row, head) in rows
            .iter()
            .zip(iter::once(head).chain(iter::repeat(" ".repeat(indent))))
        {
            lines.push(head + row);
        }
        lines
    }
}

fn head(style: Style, time: &str, event: &Event) -> String {
    let agent = style.name(&format!("{:<10}", safe_line(&event.agent, 64)));
    let kind = happened::kind(&event.what);
    format!("{}  {agent}  {kind:<7}  ", style.dim(time))
}

fn text(event: &Event) -> String {
    safe_line(&happened::text(&event.what), MAX_TEXT)
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
        Page::new(Style::default(), width)
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
            page(Some(40)).lines(&event("one two three four five six seven"))[1..],
            [
                "17:00:00  alice       says",
                "  one two three four five six seven",
            ]
        );
        assert_eq!(
            page(None).lines(&event("one\ntwo")),
            ["2025-11-30T17:00:00.123Z  alice       says     one⏎two"]
        );
    }
}
