//! Views of real repositories. An agent's git is shown through git's own pointer what the mounts
//! would show it.

mod bed;
mod following;
mod planted;
mod removing;
mod taking;
