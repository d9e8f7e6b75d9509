//! `/log`: the last events of the team, or everything that bears one id, in full.

use std::collections::VecDeque;

use super::View;
use super::session::Session;
use crate::timeline::{Event, Happened, History};

/// How many events are shown where nobody says.
const USUAL: usize = 20;
/// Most events at once.
const MOST: usize = 1000;
const USAGE: &str = "/log takes a number or an id; write /log 50 for the last 50 events, /log task_1a2b3c4d for one thing in full, \
    or /log alone";

/// What of the log is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// That many events from the end.
    Last(usize),
    /// Everything that bears this id: of a call, a message, a request, a task.
    Of(String),
}

/// Reads what stands after `/log`.
pub(super) fn parse(args: &[&str]) -> Result<Part, String> {
    match args {
        [] => Ok(Part::Last(USUAL)),
        [number] if number.bytes().all(|byte| byte.is_ascii_digit()) => match number.parse() {
            Ok(0) | Err(_) => Err(USAGE.to_owned()),
            Ok(count) => Ok(Part::Last(MOST.min(count))),
        },
        [id] => Ok(Part::Of((*id).to_owned())),
        _ => Err(USAGE.to_owned()),
    }
}

/// Whether `event` bears `id`.
fn bears(event: &Event, id: &str) -> bool {
    match &event.what {
        Happened::ToolUse { id: own, .. } | Happened::ToolResult { id: own, .. } => own == id,
        Happened::Message(message) => message.id == id,
        Happened::Request(record) => record.request_id.as_str() == id,
        Happened::Task { task, .. } => task.get("id").is_some_and(|own| own == id),
        Happened::Began { session } => session.as_deref() == Some(id),
        Happened::Text(_)
        | Happened::Interrupted(_)
        | Happened::Teammate(_)
        | Happened::Usage(_)
        | Happened::Log(_) => false,
    }
}

/// The events that are wanted, as they come.
struct Kept {
    part: Part,
    events: VecDeque<Event>,
}

impl Kept {
    fn look_at(&mut self, event: &Event) {
        match &self.part {
            Part::Last(_) if event.what.is_routine() => {}
            Part::Last(count) => {
                if self.events.len() == *count {
                    self.events.pop_front();
                }
                self.events.push_back(event.clone());
            }
            Part::Of(id) if bears(event, id) => {
                // A provider may give an id to a later call again.
                if matches!(event.what, Happened::ToolUse { .. }) {
                    self.events.clear();
                }
                self.events.push_back(event.clone());
            }
            Part::Of(_) => {}
        }
    }

    fn view(self) -> Result<View, String> {
        let events = Vec::from(self.events);
        match self.part {
            Part::Last(_) => Ok(View::Log(events)),
            Part::Of(id) if events.is_empty() => Err(format!(
                "nothing bears the id {id}; /log shows the last events with their ids"
            )),
            Part::Of(_) => Ok(View::Whole(events)),
        }
    }
}

impl Session {
    pub(super) fn show_log(&mut self, part: Part) {
        let files = &self.files;
        let mut history = History::new(
            &files.workspace,
            files.roster.clone(),
            files.requests.clone(),
        );
        self.look(move || {
            let mut kept = Kept {
                part,
                events: VecDeque::new(),
            };
            let read = history.read_on(|event| {
                kept.look_at(event);
                true
            });
            read.map_err(|error| error.to_string())?;
            kept.view()
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clock::Timestamp;

    fn event(what: Happened) -> Event {
        Event {
            at: Timestamp::from_ms(1),
            agent: "lead".to_owned(),
            what,
        }
    }

    fn called(id: &str) -> Event {
        event(Happened::ToolUse {
            id: id.to_owned(),
            name: "bash".to_owned(),
            input: json!({}),
        })
    }

    fn got(id: &str, output: &str) -> Event {
        event(Happened::ToolResult {
            id: id.to_owned(),
            ok: true,
            output: output.to_owned(),
        })
    }

    fn kept(part: Part, events: &[Event]) -> Result<Vec<Event>, String> {
        let mut kept = Kept {
            part,
            events: VecDeque::new(),
        };
        for event in events {
            kept.look_at(event);
        }
        match kept.view()? {
            View::Log(events) | View::Whole(events) => Ok(events),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_last_ones_leave_out_what_is_routine() {
        let used = event(Happened::Usage(serde_json::Map::default()));
        let all = [called("1"), used.clone(), called("2"), got("2", "x"), used];
        assert_eq!(
            kept(Part::Last(2), &all).unwrap(),
            [called("1"), called("2")]
        );
    }

    #[test]
    fn an_id_that_was_given_twice_names_the_later_call() {
        let all = [
            called("1"),
            got("1", "old"),
            called("2"),
            called("1"),
            got("1", "new"),
        ];
        let part = Part::Of("1".to_owned());
        assert_eq!(kept(part, &all).unwrap(), [called("1"), got("1", "new")]);
        let missing = kept(Part::Of("9".to_owned()), &all).unwrap_err();
        assert!(missing.contains("9; /log"), "{missing}");
    }

    #[test]
    fn what_is_wanted_is_read_or_explained() {
        assert_eq!(parse(&[]), Ok(Part::Last(USUAL)));
        assert_eq!(parse(&["7"]), Ok(Part::Last(7)));
        assert_eq!(parse(&["99999"]), Ok(Part::Last(MOST)));
        assert_eq!(parse(&["req_1"]), Ok(Part::Of("req_1".to_owned())));
        for args in [&["0"][..], &["99999999999999999999999"], &["1", "2"]] {
            assert_eq!(parse(args), Err(USAGE.to_owned()), "{args:?}");
        }
    }
}
