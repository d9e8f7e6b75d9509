//! A teammate: one worker of the team.

use std::process::ExitCode;

fn main() -> ExitCode {
    pitcrew::cli::teammate_main()
}
