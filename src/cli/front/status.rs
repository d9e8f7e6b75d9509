//! The status row above the prompt: who does what, since when, and what it has cost. Pure: what is shown goes in, a row comes out.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use unicode_width::UnicodeWidthChar;

use crate::board;
use crate::cli::safe::safe_line;
use crate::cli::shell::Style;
use crate::cli::wrap::columns;
use crate::ids::{AgentName, RequestId, TaskId};
use crate::lead::{PromptFor, Shown, Used};
use crate::model::gate::Held;
use crate::request::RequestKind;
use crate::team::{Member, MemberStatus};

/// One for each tick.
const SPINNER: [char; 4] = ['◐', '◓', '◑', '◒'];
/// How long a tick lasts.
pub const TICK: Duration = Duration::from_millis(250);
const BETWEEN: &str = " · ";
/// Most columns of a task's subject.
const SUBJECT: usize = 24;

/// How much is told of each teammate, the most first: what fits is shown.
#[derive(Debug, Clone, Copy)]
enum Detail {
    Subject,
    Id,
    Doing,
}

/// What the row is made of.
#[derive(Debug, Default)]
pub struct Status {
    /// Since when the lead's model works.
    works_since: Option<Instant>,
    /// Until when its server has asked it to wait.
    waits_until: Option<Instant>,
    team: BTreeMap<AgentName, Member>,
    /// What the tasks that are not done yet are about.
    subjects: BTreeMap<TaskId, String>,
    /// Whose call waits for a permission.
    asking: BTreeMap<RequestId, AgentName>,
    /// The providers that are not asked, and until when.
    held: BTreeMap<String, Instant>,
    open: usize,
    used: Option<Used>,
}

impl Status {
    /// Takes in what is shown.
    pub fn note(&mut self, item: &Shown, now: Instant) {
        match item {
            Shown::Working(true) => self.works_since = self.works_since.or(Some(now)),
            Shown::Working(false) => {
                self.works_since = None;
                self.waits_until = None;
            }
            Shown::Retrying { wait, .. } => self.waits_until = now.checked_add(*wait),
            Shown::Held(held) => {
                let until = |held: &Held| now.checked_add(held.left());
                let held = held.iter();
                self.held = held
                    .filter_map(|(provider, held)| Some((provider.clone(), until(held)?)))
                    .collect();
            }
            Shown::Used(used) => self.used = Some(*used),
            Shown::Teammate(news) => {
                let name = &news.member.name;
                let ended = matches!(
                    news.member.status,
                    MemberStatus::Stopped | MemberStatus::Failed
                );
                if news.alive && !ended {
                    self.team.insert(name.clone(), (*news.member).clone());
                } else {
                    self.team.remove(name);
                }
            }
            Shown::Recovered(account) => self.subjects.extend(account.open.iter().cloned()),
            Shown::Task(news) => {
                let (id, subject) = (news.task.id.clone(), news.task.subject.clone());
                match news.task.status {
                    board::Status::Pending | board::Status::InProgress => {
                        self.subjects.insert(id, subject);
                    }
                    board::Status::Completed
                    | board::Status::Cancelled
                    | board::Status::Other(_) => {
                        self.subjects.remove(&id);
                    }
                }
            }
            Shown::RequestOpened(record) if record.kind == RequestKind::Permission => {
                let (id, who) = (record.request_id.clone(), record.sender.clone());
                self.asking.insert(id, who);
            }
            Shown::RequestClosed(record) => {
                self.asking.remove(&record.request_id);
            }
            Shown::Prompt(PromptFor::Question(open)) => self.open = open.behind + 1,
            Shown::Prompt(PromptFor::Message | PromptFor::Nothing) => self.open = 0,
            _ => {}
        }
    }

    /// Whether the row changes with time alone.
    pub fn ticks(&self, now: Instant) -> bool {
        let team_waits = !self.team.is_empty() && self.waits(now).next().is_some();
        self.works_since.is_some() || team_waits
    }

    /// The providers that are not asked now, and for how long.
    fn waits(&self, now: Instant) -> impl Iterator<Item = (&str, Duration)> {
        self.held.iter().filter_map(move |(provider, until)| {
            let left = until.saturating_duration_since(now);
            (!left.is_zero()).then_some((provider.as_str(), left))
        })
    }

    /// The row, not wider than `width` columns; `None` while nothing is going on.
    pub fn row(&self, style: Style, now: Instant, width: usize) -> Option<String> {
        if self.works_since.is_none() && self.team.is_empty() {
            return None;
        }
        // The last column stays free: a terminal that has filled it is about to wrap.
        let width = width.saturating_sub(1);
        let fits = |row: &String| columns::width(row) <= width;
        let details = [Detail::Subject, Detail::Id, Detail::Doing];
        let mut rows = details.map(|detail| self.parts(detail, now).join(BETWEEN));
        let row = rows.iter_mut().find(|row| fits(row));
        let row = row.map_or_else(
            || cut(&self.parts(Detail::Doing, now).join(BETWEEN), width),
            std::mem::take,
        );
        Some(style.dim(&row))
    }

    fn parts(&self, detail: Detail, now: Instant) -> Vec<String> {
        let mut parts = Vec::new();
        parts.extend(self.works_since.map(|since| self.lead(since, now)));
        // Before the team, which may be wider than the row: this is what waits for the person.
        if self.open > 0 {
            parts.push(format!("{} open", self.open));
        }
        let waits = self.waits(now);
        parts.extend(
            waits.map(|(provider, left)| format!("{provider} again in {}", time(rounded_up(left)))),
        );
        let team = self.team.values();
        parts.extend(team.map(|member| self.teammate(member, detail, now)));
        parts.extend(self.used.iter().flat_map(self::used));
        parts
    }

    fn lead(&self, since: Instant, now: Instant) -> String {
        let elapsed = now.saturating_duration_since(since);
        let tick = elapsed.as_millis() / TICK.as_millis();
        let turn = usize::try_from(tick).unwrap_or_default() % SPINNER.len();
        let waits = self
            .waits_until
            .map(|until| until.saturating_duration_since(now))
            .filter(|left| !left.is_zero())
            .map_or_else(String::new, |left| {
                format!(", asks its server again in {}", time(rounded_up(left)))
            });
        format!("{} lead {}{waits}", SPINNER[turn], time(elapsed))
    }

    fn teammate(&self, member: &Member, detail: Detail, now: Instant) -> String {
        let asks = self.asking.values().any(|who| *who == member.name);
        let held = self
            .waits(now)
            .find(|(provider, _)| is_of(&member.model, provider));
        let waits = held.map(|(provider, _)| format!("waits for {provider}"));
        let doing = match member.status {
            MemberStatus::Starting => "starts",
            MemberStatus::Working if asks => "waits for you",
            MemberStatus::Working => waits.as_deref().unwrap_or("works"),
            MemberStatus::Idle => "idle",
            MemberStatus::WaitingApproval => "waits for you",
            MemberStatus::Stopping => "stops",
            MemberStatus::Stopped => "stopped",
            MemberStatus::Failed => "failed",
        };
        let mut words = vec![member.name.to_string(), doing.to_owned()];
        if let (Some(task), Detail::Subject | Detail::Id) = (&member.task, detail) {
            words.push(task.to_string());
            let subject = matches!(detail, Detail::Subject).then(|| self.subjects.get(task));
            words.extend(subject.flatten().map(|text| shortened(text)));
        }
        words.join(" ")
    }
}

/// Whether `model`, named `provider:name`, is the provider's.
fn is_of(model: &str, provider: &str) -> bool {
    model
        .strip_prefix(provider)
        .is_some_and(|rest| rest.starts_with(':'))
}

/// To a whole second: what is counted down ends with 1.
fn rounded_up(left: Duration) -> Duration {
    Duration::from_secs(left.as_secs() + u64::from(left.subsec_nanos() > 0))
}

fn shortened(subject: &str) -> String {
    cut(&safe_line(subject, subject.len()), SUBJECT)
}

fn used(used: &Used) -> Vec<String> {
    if used.tokens == 0 {
        return Vec::new();
    }
    let mut parts = vec![tokens(used.tokens)];
    parts.extend(used.cost.map(|cost| format!("${cost:.2}")));
    parts.extend(used.context.map(|percent| format!("context {percent} %")));
    parts
}

fn tokens(count: u64) -> String {
    match count {
        0..10_000 => format!("{count} tokens"),
        10_000..10_000_000 => format!("{}k tokens", count / 1_000),
        _ => format!("{}M tokens", count / 1_000_000),
    }
}

fn time(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match seconds / 60 {
        0 => format!("{seconds} s"),
        minutes => format!("{minutes} min {:02} s", seconds % 60),
    }
}

/// The beginning of `text` that takes at most `width` columns.
fn cut(text: &str, width: usize) -> String {
    let mut taken = 0;
    let mut out = String::new();
    for ch in text.chars() {
        taken += ch.width().unwrap_or(0);
        if taken > width {
            out.pop();
            out.push('…');
            break;
        }
        out.push(ch);
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clock::{self, Timestamp};
    use crate::lead::{TaskNews, TeammateNews};

    fn news(name: &str, status: &str, alive: bool) -> Shown {
        let member = serde_json::from_value(json!({
            "name": name, "role": "coder", "model": "script:x", "status": status, "pid": null,
            "startedAt": "2026-11-30T17:00:00.000Z", "task": "task_00000001",
        }))
        .unwrap();
        Shown::Teammate(TeammateNews {
            member: Box::new(member),
            alive,
            note: None,
        })
    }

    fn row(status: &Status, now: Instant, width: usize) -> Option<String> {
        status.row(Style::default(), now, width)
    }

    #[test]
    fn the_row_says_who_does_what_and_what_it_costs() {
        let start = clock::instant();
        let mut status = Status::default();
        assert_eq!(row(&status, start, 80), None);
        status.note(&Shown::Working(true), start);
        status.note(&news("alice", "working", true), start);
        status.note(&news("bob", "idle", false), start);
        status.note(
            &Shown::Used(Used {
                tokens: 41_234,
                cost: Some(0.184),
                context: Some(42),
            }),
            start,
        );
        let later = start + Duration::from_millis(75_300);
        assert_eq!(
            row(&status, later, 120).unwrap(),
            "◓ lead 1 min 15 s · alice works task_00000001 · 41k tokens · $0.18 · context 42 %"
        );
        assert_eq!(row(&status, later, 20).unwrap(), "◓ lead 1 min 15 s …");
        assert_eq!(
            row(&status, later, 75).unwrap(),
            "◓ lead 1 min 15 s · alice works · 41k tokens · $0.18 · context 42 %"
        );
        status.note(&Shown::Working(false), later);
        status.note(&news("alice", "stopped", true), later);
        assert_eq!(row(&status, later, 120), None);
    }

    fn task(status: &str, subject: &str) -> Shown {
        let task = serde_json::from_value(json!({
            "id": "task_00000001", "subject": subject, "description": "", "status": status,
            "owner": "alice", "blockedBy": [], "worktree": null,
        }))
        .unwrap();
        Shown::Task(TaskNews {
            task: Box::new(task),
            by: "alice".to_owned(),
            change: json!({}),
        })
    }

    #[test]
    fn a_task_is_told_as_far_as_it_fits() {
        let now = clock::instant();
        let mut status = Status::default();
        status.note(&news("alice", "working", true), now);
        status.note(&news("bob", "idle", true), now);
        status.note(&task("in_progress", "漢字のある設定の読み込みを直す"), now);
        for (width, expected) in [
            (
                120,
                "alice works task_00000001 漢字のある設定の読み込… · bob idle task_00000001 漢字のある設定の読み込…",
            ),
            (80, "alice works task_00000001 · bob idle task_00000001"),
            (40, "alice works · bob idle"),
            (12, "alice work…"),
        ] {
            let row = row(&status, now, width).unwrap();
            assert!(columns::width(&row) < width, "{row}");
            assert_eq!(row, expected);
        }
        status.note(&task("in_progress", "a\u{1b}[2Jb"), now);
        assert!(!row(&status, now, 120).unwrap().contains('\u{1b}'));
        status.note(&task("completed", "漢字"), now);
        let row = row(&status, now, 120).unwrap();
        assert!(row.starts_with("alice works task_00000001 · bob"), "{row}");
    }

    #[test]
    fn whose_call_waits_for_a_permission_waits_for_the_person() {
        let now = clock::instant();
        let mut status = Status::default();
        status.note(&news("alice", "working", true), now);
        let record = |kind: &str| -> crate::request::Record {
            serde_json::from_value(json!({
                "request_id": "req_00000001", "type": kind, "sender": "alice", "target": "user",
                "status": "pending", "payload": {}, "work_version": 1, "task_id": null,
                "created_at": "2026-11-30T17:00:00.000Z", "decided_at": null, "decided_by": null,
                "feedback": null, "scope": null,
            }))
            .unwrap()
        };
        let starts = |status: &Status, part: &str| row(status, now, 80).unwrap().starts_with(part);
        status.note(&Shown::RequestOpened(record("shutdown")), now);
        assert!(starts(&status, "alice works"));
        status.note(&Shown::RequestOpened(record("permission")), now);
        assert!(starts(&status, "alice waits for you"));
        status.note(&Shown::RequestClosed(record("permission")), now);
        assert!(starts(&status, "alice works"));
    }

    #[test]
    fn a_wait_that_a_server_asks_for_is_counted_down() {
        let start = clock::instant();
        let mut status = Status::default();
        status.note(&Shown::Working(true), start);
        status.note(
            &Shown::Retrying {
                why: "overloaded".into(),
                wait: Duration::from_secs(5),
            },
            start,
        );
        let row_at = |seconds| row(&status, start + Duration::from_secs(seconds), 120).unwrap();
        assert!(row_at(2).ends_with("lead 2 s, asks its server again in 3 s"));
        assert!(row_at(6).ends_with("lead 6 s"));
    }

    #[test]
    fn who_waits_for_a_provider_is_seen_and_for_how_long() {
        let start = clock::instant();
        let mut status = Status::default();
        let held = |seconds: u64| {
            let held = json!({
                "until": Timestamp::from_ms(clock::now_ms() + seconds * 1000), "by": "alice", "why": "429",
            });
            Shown::Held(vec![(
                "script".to_owned(),
                serde_json::from_value(held).unwrap(),
            )])
        };
        status.note(&held(90), start);
        assert_eq!(row(&status, start, 80), None, "nobody waits for it");
        assert!(!status.ticks(start));
        status.note(&news("alice", "working", true), start);
        status.note(&news("bob", "idle", true), start);
        let after = |seconds| start + Duration::from_secs(seconds);
        let said = row(&status, after(30), 120).unwrap();
        let expected = " s · alice waits for script task_00000001 · bob idle task_00000001";
        assert!(
            said.starts_with("script again in ") && said.ends_with(expected),
            "{said}"
        );
        assert!(status.ticks(after(30)));
        assert!(
            row(&status, after(91), 80)
                .unwrap()
                .starts_with("alice works")
        );
        assert!(!status.ticks(after(91)));
        status.note(&Shown::Held(Vec::new()), after(5));
        assert!(
            row(&status, after(5), 80)
                .unwrap()
                .starts_with("alice works")
        );
    }

    #[test]
    fn wide_characters_are_not_cut_in_two() {
        assert_eq!(cut("漢字かな", 5), "漢…");
        assert_eq!(cut("abc", 3), "abc");
    }
}
