//! Carrying out what the machine decides.

use super::letters;
use super::machine::{Effect, Event, Final, Part};
use super::mate::Mate;
use crate::clock;
use crate::request::{Decision, RequestKind, RequestStatus};
use crate::team::MemberStatus;
use crate::tool::leases;

impl Mate {
    pub(super) fn carry_out(&mut self, effect: Effect) -> anyhow::Result<()> {
        tracing::debug!(?effect);
        match effect {
            Effect::Status(status) => self.status(status)?,
            Effect::Look => self.look()?,
            Effect::TakeMail => self.take_mail()?,
            Effect::Claim => {
                let got = self.claim()?;
                self.queue.push_back(Event::Claimed(got));
            }
            Effect::Begin(parts) => {
                let inputs = self.inputs(&parts);
                if parts.contains(&Part::WrapUp) {
                    self.thinker.begin_last_round(inputs)?;
                } else {
                    self.thinker.begin_round(inputs)?;
                }
                if parts.contains(&Part::Assignment) {
                    self.told_of()?;
                }
            }
            Effect::NextTurn => {
                let inputs = self.waiting_inputs();
                self.thinker.next_turn(inputs)?;
            }
            Effect::ConsultIdle => self.thinker.consult_idle()?,
            Effect::RestAtBoundary => {
                leases::round_over(&self.context);
                self.thinker.rest()?;
            }
            Effect::Interrupt(why) => self.thinker.interrupt(why),
            Effect::EndWait(why) => self.end_wait(why)?,
            Effect::Result(text) => {
                self.tell(&self.result(&text))?;
                self.keep(None)?;
            }
            Effect::LateResult(text) => self.late_result(&text)?,
            Effect::Keep(text) => self.keep(Some(&text))?,
            Effect::Farewell(text) => self.farewell(text)?,
            Effect::ErrorReport(why) => self.error_report(&why)?,
            Effect::Announce(said) => {
                self.tell(&letters::idle(&self.me, said, self.last_work.as_ref()))?;
            }
            Effect::Release { why, note } => {
                if let Some(work) = self.open_work() {
                    let (why, note) = self.gate.verdict(why, note);
                    self.release(&work, why, note)?;
                }
            }
            Effect::CloseAssignment => self.close_assignment()?,
            Effect::Acknowledge => self.step_stop(RequestStatus::Acknowledged),
            Effect::WrapUpMode => self.context.desk.state().wrapping_up = true,
            Effect::Drain => {
                self.take_in()?;
            }
            Effect::AnswerStop { clean } => self.answer_stop(clean)?,
            Effect::SetTimer(timer, after) => self.timers.set(timer, clock::instant(), after),
            Effect::ClearTimer(timer) => self.timers.clear(timer),
            Effect::SayNoLead => {
                (self.say)(
                    "no lead is running in this workspace; waiting for one: start `lead` in another terminal, or end this with \
                     Ctrl-C",
                );
            }
            Effect::End(end) => self.end(end)?,
        }
        Ok(())
    }

    fn status(&mut self, status: MemberStatus) -> anyhow::Result<()> {
        let ended = matches!(status, MemberStatus::Stopped | MemberStatus::Failed);
        self.card.change(|member| {
            member.status = status;
            member.pid = (!ended).then(std::process::id);
        })?;
        Ok(())
    }

    fn farewell(&mut self, text: Option<String>) -> anyhow::Result<()> {
        let text = text
            .filter(|text| !text.trim().is_empty())
            .or_else(|| self.thinker.last_text())
            .unwrap_or_default();
        let held = self.assignment().filter(|held| !held.over);
        let open = held.as_ref().map(|held| &*held.snapshot);
        self.tell(&letters::farewell(&self.me, &text, open))
    }

    fn error_report(&mut self, why: &str) -> anyhow::Result<()> {
        self.card
            .change(|member| member.last_error = Some(why.to_owned()))?;
        self.tell(&letters::error_report(
            &self.me,
            why,
            self.last_work.as_ref(),
        ))
    }

    /// The answer wakes the lead, so the record comes first.
    fn answer_stop(&mut self, clean: bool) -> anyhow::Result<()> {
        self.step_stop(if clean {
            RequestStatus::Completed
        } else {
            RequestStatus::Failed
        });
        if let Some(stop) = self.machine.stop() {
            self.tell(&letters::stopped(&self.me, &stop.request, clean))?;
        }
        Ok(())
    }

    /// That somebody else closed the request is no failure: this teammate ends all the same.
    fn step_stop(&self, status: RequestStatus) {
        let Some(stop) = self.machine.stop() else {
            return;
        };
        let decision = Decision {
            kind: RequestKind::Shutdown,
            by: self.me.clone(),
            status,
            feedback: None,
            scope: None,
        };
        if let Err(error) = self.requests.decide(&stop.request, &decision) {
            tracing::info!(%error, "the request to stop was not marked");
        }
    }

    fn end(&mut self, end: Final) -> anyhow::Result<()> {
        let error = match &end {
            Final::WrapUpFailed => Some("the wrap-up failed".to_owned()),
            Final::LeadLost => Some("lead lost".to_owned()),
            Final::Failed(why) => Some(why.clone()),
            Final::Stopped | Final::Signalled(_) => None,
        };
        if let Some(error) = error {
            self.card.change(|member| member.last_error = Some(error))?;
        }
        self.ended = Some(end);
        Ok(())
    }
}
