//! The lead: talks to a person, plans, and starts teammates. Under another name this is the teammate or the guard.

use std::process::ExitCode;

fn main() -> ExitCode {
    pitcrew::cli::main()
}
