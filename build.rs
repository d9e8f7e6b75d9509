//! How the two programs are linked on Linux: so that starting one costs little, since each shell command of an agent starts
//! one more (the guard).
//!
//! - At fixed addresses: a position-independent program of this size writes tens of thousands of its own pointers at each
//!   start, on pages that every fork copies from then on. Stack, heap and libraries stay where chance puts them.
//! - Without `libgcc_s.so`: of it only the unwinder is used, which compilers bring along as an archive, too.
//!
//! Where the linker is not a compiler that can be asked, they are linked as usual.
#![expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script everything through its environment"
)]

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The unwinder as an archive, and what a linker takes for the library of that name: an order to take the archive.
const ARCHIVE: &str = "libgcc_eh.a";
const INSTEAD_OF_LIBRARY: (&str, &str) = ("libgcc_s.so", "INPUT(-lgcc_eh)\n");

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    if !is("TARGET_OS", "linux") || !is("TARGET_ENV", "gnu") || is("TARGET_FEATURE", "crt-static") {
        return Ok(());
    }
    let Some(archive) = linker().and_then(find_archive) else {
        return Ok(());
    };
    println!("cargo::rustc-link-arg-bins=-no-pie");
    if archive.is_absolute() {
        let dir = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
        let (name, order) = INSTEAD_OF_LIBRARY;
        std::fs::write(dir.join(name), order)?;
        println!("cargo::rustc-link-arg-bins=-L{}", dir.display());
    }
    Ok(())
}

/// Whether `value` is among what the target is.
fn is(key: &str, value: &str) -> bool {
    let told = env::var(format!("CARGO_CFG_{key}")).unwrap_or_default();
    told.split(',').any(|told| told == value)
}

/// What links for the target, if that is known.
fn linker() -> Option<OsString> {
    let native = env::var_os("HOST") == env::var_os("TARGET");
    env::var_os("RUSTC_LINKER").or_else(|| native.then(|| "cc".into()))
}

/// What a compiler says of [`ARCHIVE`]: where it is, else its mere name. `None` from what is no compiler.
fn find_archive(linker: OsString) -> Option<PathBuf> {
    let asked = Command::new(linker)
        .arg(format!("-print-file-name={ARCHIVE}"))
        .output()
        .ok()?;
    let path = PathBuf::from(String::from_utf8(asked.stdout).ok()?.trim());
    (asked.status.success() && path.ends_with(Path::new(ARCHIVE))).then_some(path)
}
