//! Teammates that work without a sign (SPEC §6.5). [`Stalls`] is pure; a tool that runs is a sign until it has ended, seen
//! in the transcript.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant, UNIX_EPOCH};

use serde_json::Value;

use super::session::Session;
use crate::clock::{self, Timestamp};
use crate::ids::AgentName;
use crate::mailbox::Kind;
use crate::store::Durability;
use crate::store::read;
use crate::team::MemberStatus;

/// How much of a transcript's end is looked at, in bytes.
const TAIL: u64 = 1024 * 1024;

/// Since when each working teammate has finished no turn. Monotonic time: the machine's sleep does not count, nor does a
/// clock that is set.
#[derive(Debug, Default)]
pub(super) struct Stalls {
    working: BTreeMap<AgentName, Sign>,
}

#[derive(Debug, Clone, Copy)]
struct Sign {
    turns: u64,
    since: Instant,
    told: bool,
}

impl Stalls {
    /// A record as it is now.
    pub(super) fn observe(
        &mut self,
        name: &AgentName,
        status: MemberStatus,
        turns: u64,
        now: Instant,
    ) {
        if status != MemberStatus::Working {
            self.working.remove(name);
            return;
        }
        let fresh = Sign {
            turns,
            since: now,
            told: false,
        };
        let sign = self.working.entry(name.clone()).or_insert(fresh);
        if sign.turns != turns {
            *sign = fresh;
        }
    }

    /// A sign of life without a finished turn, given `at` that time.
    pub(super) fn lives(&mut self, name: &AgentName, at: Instant) {
        if let Some(sign) = self.working.get_mut(name) {
            sign.since = at;
            sign.told = false;
        }
    }

    /// Those without a sign for `limit`, each once.
    pub(super) fn due(&mut self, limit: Duration, now: Instant) -> Vec<AgentName> {
        let mut due = Vec::new();
        for (name, sign) in &mut self.working {
            if !sign.told && now.saturating_duration_since(sign.since) >= limit {
                sign.told = true;
                due.push(name.clone());
            }
        }
        due
    }

    /// Those that were told of and have given no sign since, with for how long each has given none.
    pub(super) fn told(&self, now: Instant) -> impl Iterator<Item = (&AgentName, Duration)> {
        let told = self.working.iter().filter(|(_, sign)| sign.told);
        told.map(move |(name, sign)| (name, now.saturating_duration_since(sign.since)))
    }

    fn is_told(&self, name: &AgentName) -> bool {
        self.working.get(name).is_some_and(|sign| sign.told)
    }

    /// When [`Self::due`] will name somebody.
    pub(super) fn deadline(&self, limit: Duration) -> Option<Instant> {
        self.working
            .values()
            .filter(|sign| !sign.told)
            .map(|sign| sign.since + limit)
            .min()
    }
}

impl Session {
    /// How long a working teammate may give no sign.
    pub(super) fn stall_limit(&self) -> Duration {
        Duration::from_secs(self.options.settings.stall_secs.unwrap_or(600))
    }

    /// Tells of those that have given no sign for too long, and keeps for `lead status` who they are.
    pub(super) fn report_stalls(&mut self) {
        let (limit, now) = (self.stall_limit(), clock::instant());
        for name in self.stalls.due(limit, now) {
            // This process may have been stopped for a while: the last sign counts, not the last that was heard of.
            self.on_member_changed(&name);
            if !self.stalls.is_told(&name) {
                continue;
            }
            let silent = silence(&self.files.workspace.transcript(&name));
            if silent < limit {
                self.stalls
                    .lives(&name, now.checked_sub(silent).unwrap_or(now));
                continue;
            }
            let text = format!(
                "{name} works without a sign for {} s; its model may hang; /team interrupt {name} ends the call, /team kill {name} the process",
                limit.as_secs()
            );
            self.say(text);
            let text = format!("has finished no turn for {} s", limit.as_secs());
            self.tell_model(&name, Kind::ErrorReport, text);
        }
        self.record_stalls(now);
    }

    fn record_stalls(&mut self, now: Instant) {
        let is_news = !self
            .stalls
            .told(now)
            .map(|(name, _)| name)
            .eq(self.record.stalled.keys());
        if !is_news {
            return;
        }
        let since = |silent: Duration| {
            let silent = u64::try_from(silent.as_millis()).unwrap_or(u64::MAX);
            Timestamp::from_ms(clock::now_ms().saturating_sub(silent))
        };
        self.record.stalled = self
            .stalls
            .told(now)
            .map(|(name, silent)| (name.clone(), since(silent)))
            .collect();
        let saved = self.record.save(&self.files.workspace, Durability::Process);
        if let Err(error) = saved {
            self.complain("who gives no sign was not recorded", &error);
        }
    }
}

/// For how long nothing has been written to the transcript, such as a tool's result; no time at all while a tool runs.
fn silence(path: &Path) -> Duration {
    let Ok(Some(transcript)) = read::open_plain(path) else {
        return Duration::MAX;
    };
    let written = transcript.metadata().and_then(|found| found.modified());
    if tail(transcript).is_ok_and(|text| has_open_call(&text)) {
        return Duration::ZERO;
    }
    let now = UNIX_EPOCH + Duration::from_millis(clock::now_ms());
    written.map_or(Duration::MAX, |at| {
        now.duration_since(at).unwrap_or_default()
    })
}

fn tail(mut file: File) -> std::io::Result<String> {
    let start = file.metadata()?.len().saturating_sub(TAIL);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn has_open_call(text: &str) -> bool {
    let mut open: Vec<String> = Vec::new();
    for line in text.lines() {
        let Ok(record) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        match record["type"].as_str() {
            Some("assistant") => {
                let blocks = record["content"].as_array().map_or(&[][..], Vec::as_slice);
                open = blocks
                    .iter()
                    .filter(|block| block["type"] == "tool_use")
                    .filter_map(|block| block["id"].as_str().map(str::to_owned))
                    .collect();
            }
            Some("result") => open.retain(|id| record["tool_use_id"] != id.as_str()),
            Some("user" | "interrupted") => open.clear(),
            _ => {}
        }
    }
    !open.is_empty()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn only_a_working_teammate_without_a_finished_turn_is_due_and_once() {
        let (name, now) = (AgentName::parse("alice").unwrap(), clock::instant());
        let (limit, second) = (Duration::from_secs(10), Duration::from_secs(1));
        let mut stalls = Stalls::default();
        stalls.observe(&name, MemberStatus::Working, 1, now);
        stalls.observe(&name, MemberStatus::Working, 1, now + second);
        assert_eq!(stalls.deadline(limit), Some(now + limit));
        assert_eq!(stalls.due(limit, now + limit), vec![name.clone()]);
        assert!(stalls.due(limit, now + limit * 2).is_empty());
        assert_eq!(stalls.deadline(limit), None);
        stalls.observe(&name, MemberStatus::Working, 2, now + limit);
        assert!(stalls.due(limit, now + limit + second).is_empty());
        stalls.lives(&name, now + limit * 2);
        assert!(stalls.due(limit, now + limit * 2 + second).is_empty());
        assert_eq!(stalls.due(limit, now + limit * 3), vec![name.clone()]);
        let told: Vec<_> = stalls.told(now + limit * 4).collect();
        assert_eq!(told, [(&name, limit * 2)]);
        stalls.lives(&name, now + limit * 4);
        assert_eq!(stalls.told(now + limit * 4).count(), 0);
        stalls.observe(&name, MemberStatus::Idle, 2, now);
        assert!(stalls.due(limit, now + limit * 9).is_empty());
    }

    #[test]
    fn the_end_of_a_tool_is_a_sign_and_its_run_is_one_all_the_time() {
        let transcript = tempfile::NamedTempFile::new().unwrap();
        let long = Duration::from_mins(15);
        let write = |line: &str| {
            writeln!(transcript.as_file(), "{line}").unwrap();
            let then = UNIX_EPOCH + Duration::from_millis(clock::now_ms()) - long;
            transcript.as_file().set_modified(then).unwrap();
            silence(transcript.path())
        };
        assert!(write(r#"{"type":"user","text":"go"}"#) >= long);
        let call = r#"{"type":"assistant","content":[{"type":"tool_use","id":"a"}]}"#;
        assert_eq!(write(call), Duration::ZERO);
        let ended = write(r#"{"type":"result","tool_use_id":"a"}"#);
        assert!(ended >= long && ended < 2 * long, "{ended:?}");
        assert_eq!(silence(Path::new("/nonexistent")), Duration::MAX);
    }

    #[test]
    fn a_call_without_a_result_is_a_tool_that_runs() {
        let call = r#"{"type":"assistant","content":[{"type":"tool_use","id":"a"},{"type":"tool_use","id":"b"}]}"#;
        let result = |id: &str| format!(r#"{{"type":"result","tool_use_id":"{id}"}}"#);
        let user = r#"{"type":"user","text":"x"}"#;
        for (lines, open) in [
            (vec![user.to_owned()], false),
            (vec![user.to_owned(), call.to_owned()], true),
            (vec![call.to_owned(), result("a")], true),
            (
                vec!["torn".into(), call.to_owned(), result("a"), result("b")],
                false,
            ),
            (vec![call.to_owned(), user.to_owned()], false),
        ] {
            assert_eq!(has_open_call(&lines.join("\n")), open, "{lines:?}");
        }
    }
}
