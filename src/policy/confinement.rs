//! How commands of agents are held in (SPEC §10.2), as the settings in force say it. The sandbox itself is
//! [`crate::process::sandbox`].

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Places with what nobody but the person may read, relative to the home directory: closed to commands and file tools alike.
/// What package managers need to fetch with, such as `.npmrc`, is not among them.
pub const SECRETS: [&str; 33] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".docker",
    ".config/gh",
    ".config/pitcrew",
    // Other forges, clouds and clusters.
    ".config/hub",
    ".config/glab-cli",
    ".azure",
    ".config/gcloud",
    ".config/doctl",
    ".config/rclone",
    ".kube",
    ".oci",
    ".s3cfg",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    // What packages are published with, and databases entered.
    ".pypirc",
    ".gem/credentials",
    ".pgpass",
    ".my.cnf",
    // Wallets, browsers, and what was typed.
    ".password-store",
    ".local/share/keyrings",
    ".config/op",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".thunderbird",
    ".bash_history",
    ".zsh_history",
];

/// How firmly a sandbox is asked for; the stricter is the greater.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// There is none.
    Off,
    /// What of it holds here is used.
    Preferred,
    /// Without all of it no command runs.
    Required,
}

impl Default for SandboxMode {
    fn default() -> Self {
        if cfg!(target_os = "linux") {
            Self::Required
        } else {
            Self::Preferred
        }
    }
}

/// Whether commands in the sandbox reach a network.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// They do.
    #[default]
    Allow,
    /// Only the loopback device.
    Deny,
}

/// What holds for the commands of a team.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confinement {
    /// How firmly.
    pub mode: SandboxMode,
    /// Whether they reach a network.
    pub network: Network,
    /// Directories that they may write to besides their own; made where they are missing.
    pub caches: Vec<PathBuf>,
    /// Files beside the caches that they may write to, where there are any.
    pub cache_locks: Vec<PathBuf>,
    /// Sockets that they may use though their directory is hidden.
    pub sockets: Vec<PathBuf>,
    /// What they see as empty.
    pub hidden: Vec<PathBuf>,
}

impl Confinement {
    /// No sandbox at all.
    pub fn off() -> Self {
        Self {
            mode: SandboxMode::Off,
            ..Self::default()
        }
    }
}

/// What is hidden of a person's home and settings.
pub fn hidden(home: Option<&Path>, settings_dir: Option<&Path>) -> Vec<PathBuf> {
    let mut hidden: Vec<PathBuf> = home
        .into_iter()
        .flat_map(|home| SECRETS.iter().map(|name| home.join(name)))
        .collect();
    hidden.extend(settings_dir.map(Path::to_path_buf));
    hidden.dedup();
    hidden
}
