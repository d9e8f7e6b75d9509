//! The settings' keys (SPEC §13); camelCase in files.
//!
//! What a key is worth when nobody sets it stands here as a method of [`Settings`]. A rule or model that cannot be parsed
//! does not deserialise.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::AgentName;
use crate::policy::{Hooks, Mode, Network, Policy, Rule, RuleError, RuleLists, SandboxMode};
use crate::store::Durability;
use crate::team::Prices;
use crate::team::prices::maybe_amount;

/// Settings in force, or of one layer (all optional).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// The lead's model, `provider:name`.
    pub model: Option<String>,
    /// The teammates' model; the lead's if absent.
    pub teammate_model: Option<String>,
    /// How many teammates may be alive at once.
    pub max_teammates: Option<usize>,
    /// After how many attempts a task is no longer offered.
    pub max_attempts: Option<u32>,
    /// A command that must succeed before any task counts as completed.
    pub verify: Option<String>,
    /// Rules and mode.
    pub permissions: Permissions,
    /// Paths that a tool of any teammate may use without a question.
    pub team_allowed_paths: Vec<TeamPath>,
    /// Per teammate.
    pub members: BTreeMap<String, MemberSettings>,
    /// Who reviews plans: `user` or `lead`.
    pub plan_review: Option<PlanReview>,
    /// Who may merge worktrees into the workspace: `user`, or `lead` too.
    pub merge_by: Option<MergeBy>,
    /// How firmly commands are held in: `required`, `preferred` (by what of the sandbox holds here), or `off`.
    pub sandbox: Option<SandboxMode>,
    /// Whether commands in the sandbox reach a network: `allow` or `deny`.
    pub network: Option<Network>,
    /// In your own settings only: directories that commands may write to besides, absolute or `~/…`; the caches of package
    /// managers if absent.
    #[serde(deserialize_with = "places")]
    pub cache_dirs: Option<Vec<String>>,
    /// In your own settings only: sockets that commands may use though their directory is hidden, absolute or `~/…`.
    #[serde(deserialize_with = "places")]
    pub sandbox_sockets: Option<Vec<String>>,
    /// Variables given back to bash.
    pub env: EnvSettings,
    /// Shell commands of yours that run when something happens to an agent, by event.
    pub hooks: Hooks,
    /// A shell command that runs whenever a question to you opens.
    pub notify: Option<String>,
    /// What a reported change survives.
    pub durability: Option<Durability>,
    /// Limits for the whole team.
    pub limits: Limits,
    /// What models cost, for a million tokens each: by `provider:name`, or the name alone.
    pub prices: Prices,
    /// How long a teammate waits for a lost lead.
    pub lead_grace_secs: Option<u64>,
    /// How long a teammate may take to stop.
    pub shutdown_secs: Option<u64>,
    /// After how long without a sign a working teammate counts as stalled.
    pub stall_secs: Option<u64>,
    /// How long a permission question waits for an answer before the model is told that nobody answered.
    pub permission_wait_secs: Option<u64>,
}

impl Settings {
    /// How many teammates may be alive at once.
    pub fn max_teammates(&self) -> usize {
        self.max_teammates.unwrap_or(8)
    }

    /// After how many attempts a task is no longer offered.
    pub fn max_attempts(&self) -> u32 {
        self.max_attempts.unwrap_or(3)
    }

    /// Who reviews plans.
    pub fn plan_review(&self) -> PlanReview {
        self.plan_review.unwrap_or(PlanReview::User)
    }

    /// Who may merge worktrees into the workspace.
    pub fn merge_by(&self) -> MergeBy {
        self.merge_by.unwrap_or(MergeBy::User)
    }

    /// How firmly commands are held in.
    pub fn sandbox(&self) -> SandboxMode {
        self.sandbox.unwrap_or_default()
    }

    /// Whether commands in the sandbox reach a network.
    pub fn network(&self) -> Network {
        self.network.unwrap_or_default()
    }

    /// What a reported change survives.
    pub fn durability(&self) -> Durability {
        self.durability.unwrap_or_default()
    }

    /// How long a teammate waits for a lost lead.
    pub fn lead_grace(&self) -> Duration {
        Duration::from_secs(self.lead_grace_secs.unwrap_or(60))
    }

    /// How long a teammate may take to stop.
    pub fn shutdown(&self) -> Duration {
        Duration::from_secs(self.shutdown_secs.unwrap_or(120))
    }

    /// After how long without a sign a working teammate counts as stalled.
    pub fn stall(&self) -> Duration {
        Duration::from_secs(self.stall_secs.unwrap_or(600))
    }

    /// How long a permission question waits; `None`: for ever.
    pub fn permission_wait(&self) -> Option<Duration> {
        self.permission_wait_secs.map(Duration::from_secs)
    }
}

/// Rules and mode.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "PermissionKeys", into = "PermissionKeys")]
pub struct Permissions {
    /// Rule lists.
    pub rules: RuleLists,
    /// The mode.
    pub mode: Option<Mode>,
}

/// [`Permissions`] as it stands in files. Written out, since a flattened struct would lose line and path of a mistake.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
struct PermissionKeys {
    /// Never allowed.
    deny: Vec<RuleText>,
    /// Asked about.
    ask: Vec<RuleText>,
    /// Not asked about.
    allow: Vec<RuleText>,
    /// What becomes of questions.
    mode: Option<Mode>,
}

/// A rule that was parsed once.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
struct RuleText(String);

impl TryFrom<String> for RuleText {
    type Error = RuleError;
    fn try_from(text: String) -> Result<Self, RuleError> {
        Rule::parse(&text).map(|_| Self(text))
    }
}

impl From<PermissionKeys> for Permissions {
    fn from(keys: PermissionKeys) -> Self {
        let texts = |rules: Vec<RuleText>| rules.into_iter().map(|rule| rule.0).collect();
        Self {
            rules: RuleLists {
                deny: texts(keys.deny),
                ask: texts(keys.ask),
                allow: texts(keys.allow),
            },
            mode: keys.mode,
        }
    }
}

impl From<Permissions> for PermissionKeys {
    fn from(permissions: Permissions) -> Self {
        let rules = |texts: Vec<String>| texts.into_iter().map(RuleText).collect();
        Self {
            deny: rules(permissions.rules.deny),
            ask: rules(permissions.rules.ask),
            allow: rules(permissions.rules.allow),
            mode: permissions.mode,
        }
    }
}

/// Settings of one teammate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MemberSettings {
    /// Its role.
    pub role: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// Edits outside of these paths are asked about; none: edits anywhere are not, for this reason.
    #[serde(deserialize_with = "paths")]
    pub allowed_paths: Vec<String>,
    /// Edits inside of these are asked about, whatever rules and mode say.
    #[serde(deserialize_with = "paths")]
    pub cannot_edit: Vec<String>,
    /// Whether its plans must be approved before it changes anything.
    pub require_plan: Option<bool>,
}

/// A path that was parsed once, as in a rule `edit_file(PATH)`.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct PathText(String);

impl TryFrom<String> for PathText {
    type Error = RuleError;
    fn try_from(text: String) -> Result<Self, RuleError> {
        Rule::parse(&format!("edit_file({text})")).map(|_| Self(text))
    }
}

fn paths<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Vec<String>, D::Error> {
    let paths = Vec::<PathText>::deserialize(input)?;
    Ok(paths.into_iter().map(|path| path.0).collect())
}

/// A path that names the same place wherever it is read.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct PlaceText(String);

impl TryFrom<String> for PlaceText {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        if text.starts_with('/') || text.starts_with("~/") {
            Ok(Self(text))
        } else {
            Err(format!("{text:?} must begin with / or ~/"))
        }
    }
}

fn places<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Option<Vec<String>>, D::Error> {
    let places = Option::<Vec<PlaceText>>::deserialize(input)?;
    Ok(places.map(|places| places.into_iter().map(|place| place.0).collect()))
}

/// A path that the whole team may use with one tool, or edit if none is named.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", try_from = "TeamPathKeys")]
pub struct TeamPath {
    /// As in a rule: relative to the assignment's directory, `/…` or `~/…`; everything beneath it, too.
    pub path: String,
    /// The tool; both tools that edit if absent.
    pub tool_name: Option<String>,
    /// Who added it; for people.
    pub added_by: Option<String>,
}

/// [`TeamPath`] before it was parsed once.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TeamPathKeys {
    /// As in a rule: relative to the assignment's directory, `/…` or `~/…`; everything beneath it, too.
    path: String,
    /// The tool; both tools that edit if absent.
    #[serde(default)]
    tool_name: Option<String>,
    /// Who added it; for people.
    #[serde(default)]
    added_by: Option<String>,
}

impl TryFrom<TeamPathKeys> for TeamPath {
    type Error = RuleError;
    fn try_from(keys: TeamPathKeys) -> Result<Self, RuleError> {
        let path = Self {
            path: keys.path,
            tool_name: keys.tool_name,
            added_by: keys.added_by,
        };
        for rule in path.rules() {
            Rule::parse(&rule)?;
        }
        Ok(path)
    }
}

impl TeamPath {
    /// The rules that it stands for.
    fn rules(&self) -> Vec<String> {
        let tools = match self.tool_name.as_deref() {
            Some(tool) => vec![tool],
            None => vec!["edit_file", "write_file"],
        };
        tools
            .into_iter()
            .map(|tool| format!("{tool}({})", self.path))
            .collect()
    }
}

/// Who reviews plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanReview {
    /// The person.
    User,
    /// The lead's model.
    Lead,
}

/// Who may merge worktrees into the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MergeBy {
    /// The person alone.
    User,
    /// The lead's model, too.
    Lead,
}

/// What children of tools get.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct EnvSettings {
    /// Names of variables that are not removed.
    pub pass: Vec<String>,
}

/// Limits for the whole team, counted from the session's start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Input, output and cache-write tokens.
    pub tokens: Option<u64>,
    /// Model calls.
    pub turns: Option<u64>,
    /// Seconds of the lead's clock.
    pub seconds: Option<u64>,
    /// Cost by the prices that are set; every model used must have one.
    #[serde(deserialize_with = "maybe_amount")]
    pub cost: Option<f64>,
}

impl Settings {
    /// The settings of the teammate of that name, whatever its case.
    pub fn member(&self, name: &AgentName) -> Option<&MemberSettings> {
        self.members
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name.as_str()))
            .map(|(_, member)| member)
    }

    /// The rules that hold for `agent`: the team's, and what it is bound to itself.
    pub fn policy(&self, agent: &AgentName) -> Result<Policy, RuleError> {
        let mut rules = self.permissions.rules.clone();
        rules
            .allow
            .extend(self.team_allowed_paths.iter().flat_map(TeamPath::rules));
        let policy = Policy::new(&rules, self.permissions.mode.unwrap_or_default())?;
        match self.member(agent) {
            Some(member) => policy.bound_to(&member.allowed_paths, &member.cannot_edit),
            None => Ok(policy),
        }
    }

    /// Puts `over` on top: single values are replaced, lists add up, members are merged key by key.
    pub fn overlay(&mut self, over: &Self) {
        fn set<T: Clone>(under: &mut Option<T>, over: Option<&T>) {
            if let Some(value) = over {
                *under = Some(value.clone());
            }
        }
        set(&mut self.model, over.model.as_ref());
        set(&mut self.teammate_model, over.teammate_model.as_ref());
        set(&mut self.max_teammates, over.max_teammates.as_ref());
        set(&mut self.max_attempts, over.max_attempts.as_ref());
        set(&mut self.verify, over.verify.as_ref());
        set(&mut self.notify, over.notify.as_ref());
        set(&mut self.plan_review, over.plan_review.as_ref());
        set(&mut self.merge_by, over.merge_by.as_ref());
        set(&mut self.sandbox, over.sandbox.as_ref());
        set(&mut self.network, over.network.as_ref());
        for (under, over) in [
            (&mut self.cache_dirs, &over.cache_dirs),
            (&mut self.sandbox_sockets, &over.sandbox_sockets),
        ] {
            if let Some(more) = over {
                under.get_or_insert_default().extend_from_slice(more);
            }
        }
        set(&mut self.durability, over.durability.as_ref());
        set(&mut self.lead_grace_secs, over.lead_grace_secs.as_ref());
        set(&mut self.shutdown_secs, over.shutdown_secs.as_ref());
        set(&mut self.stall_secs, over.stall_secs.as_ref());
        set(
            &mut self.permission_wait_secs,
            over.permission_wait_secs.as_ref(),
        );
        set(&mut self.limits.tokens, over.limits.tokens.as_ref());
        set(&mut self.limits.turns, over.limits.turns.as_ref());
        set(&mut self.limits.seconds, over.limits.seconds.as_ref());
        set(&mut self.limits.cost, over.limits.cost.as_ref());
        let prices = over.prices.0.iter();
        self.prices
            .0
            .extend(prices.map(|(model, price)| (model.clone(), *price)));
        set(&mut self.permissions.mode, over.permissions.mode.as_ref());
        let (rules, more) = (&mut self.permissions.rules, &over.permissions.rules);
        rules.deny.extend_from_slice(&more.deny);
        rules.ask.extend_from_slice(&more.ask);
        rules.allow.extend_from_slice(&more.allow);
        self.hooks.extend(&over.hooks);
        self.env.pass.extend_from_slice(&over.env.pass);
        self.team_allowed_paths
            .extend_from_slice(&over.team_allowed_paths);
        for (name, member) in &over.members {
            let under = self.members.entry(name.clone()).or_default();
            set(&mut under.role, member.role.as_ref());
            set(&mut under.model, member.model.as_ref());
            set(&mut under.require_plan, member.require_plan.as_ref());
            under.allowed_paths.extend_from_slice(&member.allowed_paths);
            under.cannot_edit.extend_from_slice(&member.cannot_edit);
        }
    }

    /// Every value that is set, as its path and its JSON text; each element of a list is one.
    pub fn leaves(&self) -> Vec<(String, String)> {
        let mut leaves = Vec::new();
        if let Ok(json) = serde_json::to_value(self) {
            collect(&json, "", &mut leaves);
        }
        leaves
    }
}

fn collect(value: &Value, path: &str, leaves: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::Object(map) => {
            for (key, value) in map {
                let below = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                collect(value, &below, leaves);
            }
        }
        Value::Array(items) => {
            for item in items {
                leaves.push((path.to_owned(), item.to_string()));
            }
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            leaves.push((path.to_owned(), value.to_string()));
        }
    }
}
