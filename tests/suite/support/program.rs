//! Programs that tests make. A child of ours writes them: what this process has open for writing, a fork of another
//! test may hold open for a moment longer, and the system executes no file that anybody may still write.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Makes `path` a program with the text `script`, in place of what stood there.
pub fn write_program(path: &Path, script: &str) {
    made_by(
        "mkdir -p \"${1%/*}\" && cat >\"$1.new\" && chmod 755 \"$1.new\" && mv -f \"$1.new\" \"$1\"",
        &[path],
        script,
    );
}

/// Copies a program.
pub fn copy_program(from: &Path, to: &Path) {
    made_by("mkdir -p \"${2%/*}\" && cp \"$1\" \"$2\"", &[from, to], "");
}

#[expect(clippy::disallowed_methods, reason = "tests own their children")]
fn made_by(shell: &str, paths: &[&Path], input: &str) {
    let mut child = Command::new("sh")
        .args(["-c", shell, "sh"])
        .args(paths)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    assert!(child.wait().unwrap().success(), "{paths:?}");
}
