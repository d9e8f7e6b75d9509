//! `bash` as one of the tools; running it is [`super::bash`]'s.

use super::bash::{self, BashInput};
use super::call::{Call, Class, Said, Tool};

pub(crate) struct Bash;

impl Tool for Bash {
    type Input = BashInput;
    const NAME: &'static str = "bash";
    const DESCRIPTION: &'static str = bash::DESCRIPTION;
    const CLASS: Class = Class::Workspace;
    const GATED: bool = true;
    const CHANGES: bool = true;

    fn run(call: &Call<'_>, input: BashInput) -> Result<Said, String> {
        let dir = &call.place()?.dir;
        bash::run(call.context, dir, &input, call.commits, call.cancel).map(Said::from)
    }
}
