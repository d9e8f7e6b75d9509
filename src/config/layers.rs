//! Layering: the person's file, the workspace's, the environment, flags; rules add up, single values are replaced.
//!
//! Until the person has agreed to a workspace's own settings they can only make things stricter (SPEC §13.1).

use std::path::Path;

use super::Settings;
use super::env::Environment;
use super::parse::{self, Parsed};
use super::settings::{Limits, MemberSettings};
use super::standing::Standing;
use super::trust::Content;
use crate::policy::{Mode, SandboxMode};
use crate::store::read::{read_followed, read_plain};
use crate::workspace::Workspace;

/// Largest settings file, in bytes.
const MAX_FILE: u64 = 1024 * 1024;

/// Settings in force, with what is to be said about them.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// Effective settings.
    pub settings: Settings,
    /// One line each: unknown keys with a suggestion, ignored keys of an untrusted workspace.
    pub warnings: Vec<String>,
    /// Whether the workspace's own settings and role files count in full.
    pub trusted: bool,
    /// What each layer that set anything contributed, weakest first.
    pub layers: Vec<Layer>,
}

/// One layer's contribution.
#[derive(Debug, Clone)]
pub struct Layer {
    /// A file's path, `environment`, or `command line`.
    pub origin: String,
    /// What of it counts.
    pub settings: Settings,
}

/// Why the start stops: exit code 2. The text has file, line and path of the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(pub String);

/// What settings are made from.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// Its `.team/team.json`, read only.
    pub workspace: &'a Workspace,
    /// `PITCREW_*`, and where the person's own file is.
    pub environment: &'a Environment,
    /// The command line.
    pub flags: &'a Settings,
    /// `--trust`: the workspace's content counts in full in this run.
    pub trust: bool,
}

/// Loads all layers; `flags` is the last. The workspace counts in full only if `trust.json` says so.
pub fn load(
    workspace: &Workspace,
    environment: &Environment,
    flags: &Settings,
) -> Result<Loaded, SettingsError> {
    load_from(Sources {
        workspace,
        environment,
        flags,
        trust: false,
    })
}

/// The same with all choices.
pub fn load_from(sources: Sources<'_>) -> Result<Loaded, SettingsError> {
    let trust = sources.trust;
    Standing::load(sources, trust).map(|(_, loaded)| loaded)
}

/// Lays the layers over each other: the person's own text, the workspace's, the environment, flags.
pub(super) fn lay(
    sources: Sources<'_>,
    own: Option<&str>,
    content: &Content,
    trusted: bool,
) -> Result<Loaded, SettingsError> {
    let mut loaded = Loaded {
        trusted,
        ..Loaded::default()
    };
    if let (Some(text), Some(path)) = (own, sources.environment.settings_file()) {
        let Parsed { settings, warnings } = parse::parse(text, &path)?;
        loaded.warnings.extend(warnings);
        loaded.add(&path.display().to_string(), settings);
    }
    let path = sources.workspace.team_settings();
    if let Some(text) = &content.settings {
        let Parsed { settings, warnings } = parse::parse(text, &path)?;
        loaded.warnings.extend(warnings);
        let settings = loaded.without_the_persons(settings, &path);
        let settings = if loaded.trusted {
            settings
        } else {
            loaded.only_stricter(&settings, &path)
        };
        loaded.add(&path.display().to_string(), settings);
    }
    let from_environment = environment_layer(sources.environment)?;
    loaded.add("environment", from_environment);
    loaded.add("command line", sources.flags.clone());
    Ok(loaded)
}

impl Loaded {
    fn add(&mut self, origin: &str, settings: Settings) {
        if settings == Settings::default() {
            return;
        }
        self.settings.overlay(&settings);
        self.layers.push(Layer {
            origin: origin.to_owned(),
            settings,
        });
    }

    /// Takes out the limit on cost in force if a workspace that nobody has trusted has set it; whether it had. Where a model
    /// has no price such a limit would stop the start.
    pub fn forgo_foreign_cost(&mut self, workspace: &Workspace) -> bool {
        let origin = workspace.team_settings().display().to_string();
        let mut strongest = self.layers.iter_mut().rev();
        let Some(layer) = strongest.find(|layer| layer.settings.limits.cost.is_some()) else {
            return false;
        };
        if self.trusted || layer.origin != origin {
            return false;
        }
        layer.settings.limits.cost = None;
        let mut left = self.layers.iter().rev();
        self.settings.limits.cost = left.find_map(|layer| layer.settings.limits.cost);
        self.warnings.push(format!(
            "{origin}: limits.cost is ignored; nobody has trusted this workspace, and not every model has a price; set \"prices\" in your own settings"
        ));
        true
    }

    /// Takes out what is said of places on the person's machine, which no workspace can know.
    fn without_the_persons(&mut self, mut given: Settings, path: &Path) -> Settings {
        for (key, value) in [
            ("cacheDirs", given.cache_dirs.take()),
            ("sandboxSockets", given.sandbox_sockets.take()),
        ] {
            if value.is_some() {
                self.warnings.push(format!(
                    "{}: {key} has no effect in a workspace; put it into your own settings",
                    path.display()
                ));
            }
        }
        given
    }

    /// What of an untrusted workspace's settings holds; each ignored key is a warning.
    fn only_stricter(&mut self, given: &Settings, path: &Path) -> Settings {
        let kept = stricter(given, &self.settings);
        let ignored = differing_keys(given, &kept);
        if !ignored.is_empty() {
            self.warnings.push(format!(
                "{}: ignored until you trust this workspace: {}; start `lead` on a terminal to be asked, or give --trust",
                path.display(),
                ignored.join(", ")
            ));
        }
        kept
    }
}

fn stricter(given: &Settings, now: &Settings) -> Settings {
    let limits = &now.limits;
    let lower = |given: Option<u64>, now: Option<u64>| {
        given.filter(|given| now.is_none_or(|now| *given < now))
    };
    let mut kept = Settings {
        lead_grace_secs: given.lead_grace_secs,
        shutdown_secs: given.shutdown_secs,
        stall_secs: given.stall_secs,
        permission_wait_secs: given.permission_wait_secs,
        sandbox: given.sandbox.filter(|given| *given > now.sandbox()),
        network: given.network.filter(|given| *given > now.network()),
        limits: Limits {
            tokens: lower(given.limits.tokens, limits.tokens),
            turns: lower(given.limits.turns, limits.turns),
            seconds: lower(given.limits.seconds, limits.seconds),
            cost: given
                .limits
                .cost
                .filter(|given| limits.cost.is_none_or(|now| *given < now)),
        },
        ..Settings::default()
    };
    kept.permissions
        .rules
        .deny
        .clone_from(&given.permissions.rules.deny);
    kept.permissions
        .rules
        .ask
        .clone_from(&given.permissions.rules.ask);
    for (name, member) in &given.members {
        let stricter = MemberSettings {
            require_plan: member.require_plan.filter(|require| *require),
            cannot_edit: member.cannot_edit.clone(),
            ..MemberSettings::default()
        };
        if stricter != MemberSettings::default() {
            kept.members.insert(name.clone(), stricter);
        }
    }
    kept
}

/// The paths of the values of `given` that `kept` does not have.
fn differing_keys(given: &Settings, kept: &Settings) -> Vec<String> {
    let kept: Vec<(String, String)> = kept.leaves();
    let mut keys: Vec<String> = given
        .leaves()
        .into_iter()
        .filter(|leaf| !kept.contains(leaf))
        .map(|(key, _)| key)
        .collect();
    keys.dedup();
    keys
}

/// A file of the person's own; `None` if missing.
pub(super) fn own_file(path: &Path) -> Result<Option<String>, SettingsError> {
    let unreadable = |why: String| {
        SettingsError(format!(
            "cannot read {}; {why}; make it readable or move it away",
            path.display()
        ))
    };
    let bytes = read_followed(path, MAX_FILE).map_err(|error| unreadable(error.why()))?;
    bytes
        .map(|bytes| String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned())))
        .transpose()
}

/// A file of the workspace, which a stranger may have written; `None` if missing.
pub(super) fn foreign_file(path: &Path) -> Result<Option<String>, SettingsError> {
    let unreadable = |why: String| {
        SettingsError(format!(
            "cannot use {}; {why}; correct it or move it away",
            path.display()
        ))
    };
    let bytes = read_plain(path, MAX_FILE).map_err(|error| unreadable(error.to_string()))?;
    bytes
        .map(|bytes| String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned())))
        .transpose()
}

fn environment_layer(environment: &Environment) -> Result<Settings, SettingsError> {
    let mut settings = Settings {
        model: environment.model.clone(),
        teammate_model: environment.teammate_model.clone(),
        ..Settings::default()
    };
    if let Some(text) = &environment.max_teammates {
        let number = text.parse().map_err(|_| {
            SettingsError(format!(
                "PITCREW_MAX_TEAMMATES is {text:?}; it must be a whole number; set it right or unset it"
            ))
        })?;
        settings.max_teammates = Some(number);
    }
    if let Some(text) = &environment.permissions {
        let mode: Mode = serde_json::from_value(text.as_str().into()).map_err(|_| {
            SettingsError(format!(
                "PITCREW_PERMISSIONS is {text:?}; the modes are ask, confirm, deny, bypass; set it right or unset it"
            ))
        })?;
        settings.permissions.mode = Some(mode);
    }
    if let Some(text) = &environment.sandbox {
        let mode: SandboxMode = serde_json::from_value(text.as_str().into()).map_err(|_| {
            SettingsError(format!(
                "PITCREW_SANDBOX is {text:?}; it can be required, preferred, off; set it right or unset it"
            ))
        })?;
        settings.sandbox = Some(mode);
    }
    Ok(settings)
}
