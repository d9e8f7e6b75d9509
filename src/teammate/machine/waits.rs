//! A tool's waits.

use super::facts::{Machine, Phase};
use super::{Effect, Timer, WaitEnd, WaitKind};
use crate::team::MemberStatus;

impl Machine {
    pub(super) fn wait_began(&mut self, kind: WaitKind) -> Vec<Effect> {
        if self.phase != Phase::Round || self.stop.is_some() {
            return vec![Effect::EndWait(WaitEnd::Stopping)];
        }
        self.wait = Some(kind);
        match kind {
            WaitKind::Plan => {
                self.plan_pending = true;
                vec![Effect::Status(MemberStatus::WaitingApproval), Effect::Look]
            }
            WaitKind::Permission => {
                let wait = self.config.permission_wait;
                wait.map(|wait| Effect::SetTimer(Timer::Answer, wait))
                    .into_iter()
                    .collect()
            }
        }
    }

    pub(super) fn wait_over(&mut self) -> Vec<Effect> {
        match self.wait.take() {
            Some(WaitKind::Plan) if self.phase == Phase::Round => {
                vec![Effect::Status(MemberStatus::Working)]
            }
            Some(WaitKind::Permission) => vec![Effect::ClearTimer(Timer::Answer)],
            // Its round has ended meanwhile: the status is that of what came after.
            Some(WaitKind::Plan) | None => Vec::new(),
        }
    }
}
