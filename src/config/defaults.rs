//! What holds where nobody has set anything, as a layer beneath all others, for whoever shows the settings in force.

use super::Settings;

impl Settings {
    /// Every single value that has a default, set to it: each is asked of the method that the runtime asks.
    pub fn defaults() -> Self {
        let unset = Self::default();
        let mut defaults = Self {
            max_teammates: Some(unset.max_teammates()),
            max_attempts: Some(unset.max_attempts()),
            plan_review: Some(unset.plan_review()),
            merge_by: Some(unset.merge_by()),
            sandbox: Some(unset.sandbox()),
            network: Some(unset.network()),
            durability: Some(unset.durability()),
            lead_grace_secs: Some(unset.lead_grace().as_secs()),
            shutdown_secs: Some(unset.shutdown().as_secs()),
            stall_secs: Some(unset.stall().as_secs()),
            ..Self::default()
        };
        defaults.permissions.mode = Some(unset.permissions.mode.unwrap_or_default());
        defaults
    }
}
