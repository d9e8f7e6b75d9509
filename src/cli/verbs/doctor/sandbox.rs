//! What holds commands in here, and what it cannot keep them from.

use std::os::unix::fs::MetadataExt;

use ignore::WalkBuilder;

use super::check::Check;
use crate::cli::place::Place;
use crate::config::Settings;
use crate::policy::{Network, SandboxMode};
use crate::process::sandbox::unheld_by_landlock;
use crate::tool::missing_walls;
use crate::workspace::RUNTIME_DIRS;

/// Whether the sandbox holds as the settings ask for it.
pub(super) fn walls(place: &Place, settings: &Settings) -> Check {
    let confinement = settings.confinement(&place.environment);
    let missing = missing_walls(&confinement);
    let network = match confinement.network {
        Network::Allow => "with the network",
        Network::Deny => "without the network",
    };
    let repair = "use Linux 5.13 or later with Landlock and user namespaces switched on; in a container, let it make namespaces";
    match confinement.mode {
        SandboxMode::Off => Check::bad(
            "sandbox",
            "off: a command can do what your account can",
            "by you: take `sandbox` out of your settings",
        ),
        _ if missing.is_empty() => {
            Check::good("sandbox", both_hold(network, &unheld_by_landlock()))
        }
        SandboxMode::Preferred => Check::bad(
            "sandbox",
            format!("commands run in a part of it; {}", missing.join("; ")),
            repair,
        ),
        SandboxMode::Required => Check::bad(
            "sandbox",
            format!("no command runs; {}", missing.join("; ")),
            format!("{repair}; or set `sandbox` to \"preferred\""),
        ),
    }
}

fn both_hold(network: &str, unheld: &[&str]) -> String {
    let both = format!("namespaces and Landlock hold commands in, {network}");
    if unheld.is_empty() {
        return both;
    }
    format!(
        "{both}; the Landlock of this kernel does not know of {}, Linux 6.12 does",
        unheld.join(", ")
    )
}

/// What commands have left running that nobody ends any more; `count` processes.
pub(super) fn leftovers(count: usize) -> Check {
    match count {
        0 => Check::good("leftovers", "no command of an earlier run still runs"),
        count => Check::bad(
            "leftovers",
            format!("{count} processes that commands of an earlier run had left still run"),
            "start a lead here: it ends them",
        ),
    }
}

/// Files that have another name, perhaps outside: what is written to them here is written there.
pub(super) fn hard_links(place: &Place) -> Check {
    let mut walk = WalkBuilder::new(place.workspace.root());
    let walk = walk.standard_filters(false).filter_entry(|entry| {
        let mut ours = RUNTIME_DIRS.iter().chain([&".git"]);
        entry.depth() != 1 || !ours.any(|name| entry.file_name() == *name)
    });
    let linked = walk
        .build()
        .flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .filter(|entry| entry.metadata().is_ok_and(|file| file.nlink() > 1))
        .count();
    match linked {
        0 => Check::good("hard links", "no file has a second name"),
        count => Check::bad(
            "hard links",
            format!(
                "{count} files have a second name, perhaps outside of the workspace, where no sandbox keeps what is written"
            ),
            "by you: replace those that must not change elsewhere by copies",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_old_kernel_does_not_hold_is_said() {
        assert_eq!(
            both_hold("with the network", &[]),
            "namespaces and Landlock hold commands in, with the network"
        );
        let old = both_hold("with the network", &["signals", "abstract sockets"]);
        assert!(old.ends_with("does not know of signals, abstract sockets, Linux 6.12 does"));
    }
}
