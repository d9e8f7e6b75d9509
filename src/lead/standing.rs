//! What a status line wants to know besides the news: whether the lead's model works, who may not ask, and what was used.

use super::session::Session;
use super::{Shown, Used};
use crate::model::gate;

impl Session {
    /// Says whether the lead's model works, if that is news.
    pub(super) fn show_work(&mut self) {
        let works = self.mind.thinker.is_busy();
        if std::mem::replace(&mut self.person.sees_work, works) != works {
            self.ui.show(Shown::Working(works));
        }
    }

    /// Says which providers have asked everybody to wait.
    pub(super) fn show_held(&mut self) {
        let held = gate::closed(&self.files.workspace);
        self.ui.show(Shown::Held(held));
    }

    /// Says what the team has used by now. Nobody looks at that without a terminal.
    pub(super) fn show_used(&mut self) {
        if !self.options.terminal {
            return;
        }
        let spent = match self.meter.look() {
            Ok(spent) => spent,
            Err(error) => return tracing::info!(%error, "what the team has spent was not read"),
        };
        let used = spent.usage;
        let window = self.mind.thinker.window().max(1);
        let shown = Used {
            tokens: used.input + used.output + used.cache_write,
            cost: self.options.settings.prices.cost(spent),
            context: self.mind.size.map(|size| (size * 100 / window).min(100)),
        };
        self.ui.show(Shown::Used(shown));
    }
}
