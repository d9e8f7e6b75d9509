#!/bin/sh
# A team on a real project: this repository. Three teammates change three modules of a clone, each in a worktree of its
# own, compile them and commit; then the branches are merged and the result is compiled once more.
#
# usage: examples/real-project/run.sh [--keep]
#
# The model is scripted (script.json), everything else is real. Takes as long as `cargo check` of all dependencies does.
# tests/suite/real.rs plays the same script with a stand-in for cargo. The scratch directory is removed unless something failed or --keep is given.
set -eu
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
repository=$(git -C "$here" rev-parse --show-toplevel)
keep=${1:-}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/pitcrew-real-XXXXXX")
trap 'echo "failed; what was made is in $scratch" >&2' EXIT

step() {
    printf '\n== %s\n' "$*"
}

step "build lead"
cargo build --quiet --locked --bin lead --manifest-path "$repository/Cargo.toml"
lead=$(cargo metadata --locked --no-deps --format-version 1 --manifest-path "$repository/Cargo.toml" |
    sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/debug/lead

step "clone into $scratch/pitcrew"
git clone --quiet "$repository" "$scratch/pitcrew"
cd "$scratch/pitcrew"
git config user.name "A Person"
git config user.email person@example.invalid
before=$(git rev-parse HEAD)

# One target directory for all worktrees, so that dependencies are compiled once. The person's own settings name it as a
# cache, since commands may write only their worktree and caches.
export CARGO_TARGET_DIR="$scratch/target" CARGO_TERM_COLOR=never
export XDG_CONFIG_HOME="$scratch/config"
mkdir -p "$XDG_CONFIG_HOME/pitcrew" "$CARGO_TARGET_DIR"
printf '{ "cacheDirs": ["%s"] }\n' "$CARGO_TARGET_DIR" >"$XDG_CONFIG_HOME/pitcrew/settings.json"

step "the team works"
"$lead" -p "Add one small function to each of three modules." --yes --model "script:$here/script.json"

step "what it left"
"$lead" status
for branch in clock message usage; do
    test "$(git rev-list --count "$before..wt/$branch")" = 1
    git log --no-decorate --stat --format='wt/'"$branch"': %h %s' -1 "wt/$branch"
done
test "$(git rev-parse HEAD)" = "$before"
test -z "$(git status --porcelain)"

step "merge the three branches"
for branch in clock message usage; do
    git merge --quiet --no-edit "wt/$branch"
done
test "$(git diff --name-only "$before" HEAD | wc -l)" -eq 3
git diff --stat "$before" HEAD

step "compile the result"
cargo check --offline

trap - EXIT
if [ "$keep" = --keep ]; then
    printf '\nAll three tasks are done; look around in %s\n' "$scratch/pitcrew"
else
    rm -rf "$scratch"
    printf '\nAll three tasks are done.\n'
fi
