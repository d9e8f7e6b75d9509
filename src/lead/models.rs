//! `/model`: which model the lead speaks with, and another one from its next turn on. Teammates keep theirs.

use super::session::Session;
use super::{Shown, View};
use crate::config::Settings;
use crate::model::{self, Credentials, ModelSpec, ollama};

/// The models that the settings name, and the usual ones of providers whose key is set; each once.
pub fn known_models(settings: &Settings, credentials: &Credentials) -> Vec<String> {
    let own = [&settings.model, &settings.teammate_model].into_iter();
    let members = settings.members.values().map(|member| &member.model);
    let named = own.chain(members).flatten().cloned();
    let priced = settings.prices.0.keys().filter(|name| name.contains(':'));
    let usual = model::usual(credentials).into_iter();
    let mut known: Vec<String> = Vec::new();
    for name in named
        .chain(priced.cloned())
        .chain(usual.map(|spec| spec.to_string()))
    {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    known
}

impl Session {
    pub(super) fn show_models(&mut self) {
        let speaks = self.record.model.clone();
        let teammates = self.options.teammate_model.to_string();
        let mut known = known_models(&self.options.settings, &self.options.credentials);
        let credentials = self.options.credentials.clone();
        // Asks a server.
        self.look(move || {
            let local = ollama::listed(&credentials).unwrap_or_default();
            known.extend(local.into_iter().map(|name| format!("ollama:{name}")));
            known.sort();
            known.dedup();
            Ok(View::Models {
                speaks,
                teammates,
                known,
            })
        });
    }

    /// What does not work is refused whole: the model that speaks goes on.
    pub(super) fn set_model(&mut self, name: &str) {
        if let Err(why) = self.change_model(name) {
            let speaks = &self.record.model;
            self.ui.show(Shown::Error(format!(
                "{why}; the lead goes on with {speaks}"
            )));
        }
    }

    fn change_model(&mut self, name: &str) -> Result<(), String> {
        let said = |error: &dyn std::error::Error| error.to_string();
        let spec = ModelSpec::parse(name).map_err(|error| said(&error))?;
        let spec = spec.absolute();
        let name = spec.to_string();
        if name == self.record.model {
            self.say(format!("the lead speaks with {name} already"));
            return Ok(());
        }
        let settings = &self.options.settings;
        if settings.limits.cost.is_some() && settings.prices.of(&name).is_none() {
            return Err(format!("a limit on cost, but {name} has no price"));
        }
        let (credentials, workspace) = (&self.options.credentials, &self.files.workspace);
        let model = model::open(&spec, credentials, workspace, "lead");
        let model = model.map_err(|error| said(&error))?;
        let mut record = self.record.clone();
        let mut settings = settings.clone();
        settings.model = Some(name.clone());
        record.settings = serde_json::json!(settings);
        record.model.clone_from(&name);
        let saved = record.save(&self.files.workspace, settings.durability());
        saved.map_err(|error| said(&error))?;
        self.record = record;
        self.options.settings = settings;
        self.options.model = spec;
        self.mind.thinker.speak_with(model);
        self.say(format!("the lead speaks with {name} from its next turn on"));
        Ok(())
    }
}
