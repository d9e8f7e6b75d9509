//! A sandbox as a profile for `sandbox-exec` (macOS). Written from the manual and never tried: what it holds is writing, the
//! hidden places and the network. Nothing is mounted, so that binds have no effect and `tmp` stays where it is.

use std::fmt::Write;
use std::io;
use std::path::Path;

use super::Sandbox;

/// The program that runs another one under a profile.
#[cfg(target_os = "macos")]
pub(in crate::process) const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// Devices that every command may use.
const DEVICES: &str = r#"(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$"))"#;

/// Of several rules that fit, the last one counts.
pub(in crate::process) fn profile(sandbox: &Sandbox) -> io::Result<String> {
    let mut profile = format!("(version 1)\n(allow default)\n(deny file-write*)\n{DEVICES}\n");
    let writable = sandbox.writable.iter().chain([&sandbox.dir]);
    for (rule, paths) in [
        ("allow file-write*", writable.collect::<Vec<_>>()),
        ("deny file-write*", sandbox.read_only.iter().collect()),
        ("allow file-write*", vec![&sandbox.tmp]),
        (
            "deny file-read* file-write*",
            sandbox.hidden.iter().collect(),
        ),
    ] {
        for path in paths {
            // Writing to a string cannot fail.
            let _ = writeln!(profile, "({rule} (subpath {}))", quoted(path)?);
        }
    }
    if !sandbox.network {
        profile.push_str("(deny network*)\n(allow network* (remote ip \"localhost:*\"))\n");
    }
    Ok(profile)
}

fn quoted(path: &Path) -> io::Result<String> {
    let text = path.to_str().ok_or_else(|| {
        io::Error::other(format!(
            "{} is not UTF-8; a sandbox here takes no other names",
            path.display()
        ))
    })?;
    Ok(format!(
        "\"{}\"",
        text.replace('\\', r"\\").replace('"', "\\\"")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::sandbox::Parts;

    #[test]
    fn what_is_taken_away_comes_after_what_is_given() {
        let sandbox = Sandbox {
            dir: "/w/a \"b\"".into(),
            writable: vec!["/c".into()],
            read_only: vec!["/w/.team".into()],
            binds: Vec::new(),
            hidden: vec!["/h/.ssh".into()],
            tmp: "/w/.team/state/tmp/a".into(),
            shown: Vec::new(),
            sockets: Vec::new(),
            network: false,
            parts: Parts {
                namespaces: true,
                landlock: true,
            },
        };
        let profile = profile(&sandbox).unwrap();
        let rules: Vec<&str> = profile.lines().skip(4).collect();
        assert_eq!(
            rules,
            [
                r#"(allow file-write* (subpath "/c"))"#,
                r#"(allow file-write* (subpath "/w/a \"b\""))"#,
                r#"(deny file-write* (subpath "/w/.team"))"#,
                r#"(allow file-write* (subpath "/w/.team/state/tmp/a"))"#,
                r#"(deny file-read* file-write* (subpath "/h/.ssh"))"#,
                "(deny network*)",
                r#"(allow network* (remote ip "localhost:*"))"#,
            ]
        );
    }
}
