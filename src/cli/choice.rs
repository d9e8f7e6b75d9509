//! Which model works when nobody names one (SPEC §12).

use super::exit::Failure;
use crate::config::Settings;
use crate::model::{self, Credentials, ModelSpec, ollama};

/// The lead's model: the settings', else the first provider that can be used.
pub fn lead_model(settings: &Settings, credentials: &Credentials) -> Result<ModelSpec, Failure> {
    if let Some(text) = &settings.model {
        return parse(text);
    }
    if let Some(first) = model::usual(credentials).into_iter().next() {
        return Ok(first);
    }
    if let Some(models) = ollama::listed(credentials) {
        return match models.first() {
            Some(name) => parse(&format!("ollama:{name}")),
            None => Err(Failure::usage(
                "no model; an Ollama answers and has none that can talk; fetch one that knows tools, such as \
                 `ollama pull qwen3`, or name another with --model PROVIDER:NAME",
            )),
        };
    }
    Err(Failure::usage(
        "no model; no key is set and no Ollama answers; set ANTHROPIC_API_KEY or OPENAI_API_KEY, start Ollama, \
         name one with --model PROVIDER:NAME, or try `lead demo`, which needs none",
    ))
}

/// The teammates' model: the settings', else the lead's.
pub fn teammate_model(settings: &Settings, lead: &ModelSpec) -> Result<ModelSpec, Failure> {
    settings
        .teammate_model
        .as_deref()
        .map_or_else(|| Ok(lead.clone()), parse)
}

/// A limit on cost holds only where every model has a price.
pub fn refuse_unpriced(
    settings: &Settings,
    lead: &ModelSpec,
    teammate: &ModelSpec,
) -> Result<(), Failure> {
    if settings.limits.cost.is_none() {
        return Ok(());
    }
    let members = settings.members.values();
    let named = members.filter_map(|member| member.model.clone());
    let unpriced = [lead.to_string(), teammate.to_string()]
        .into_iter()
        .chain(named)
        .find(|model| settings.prices.of(model).is_none());
    match unpriced {
        None => Ok(()),
        Some(model) => Err(Failure::usage(format!(
            "a limit on cost, but {model} has no price; what it costs is not known here; set \
             \"prices\": {{\"{model}\": {{\"input\": …, \"output\": …}}}} in the settings, for a million tokens each, \
             or limit tokens instead"
        ))),
    }
}

/// Reads a model as named. A script's path becomes absolute here: teammates run in other directories.
pub fn parse(text: &str) -> Result<ModelSpec, Failure> {
    ModelSpec::parse(text)
        .map(ModelSpec::absolute)
        .map_err(|error| Failure::usage(format!("{error}; nothing was started")))
}
