#!/bin/sh
# Runs the cases of the named functions, or of all.
cd "$(dirname "$0")" || exit 1
failed=0

# check WANTED FUNCTION NUMBER...
check() {
    wanted=$1
    shift
    got=$(./tally "$@" 2>&1 | head -n 1)
    if [ "$got" = "$wanted" ]; then
        echo "ok      tally $*"
    else
        echo "FAILED  tally $*: wanted $wanted, got $got"
        failed=1
    fi
}

cases() {
    case $1 in
    sum) check 6 sum 1 2 3 && check -1 sum 2 -3 ;;
    mean) check 2 mean 1 2 3 && check -2 mean -1 -3 ;;
    max) check 7 max 3 7 7 && check -2 max -9 -2 ;;
    help) check "usage: tally sum|mean|max NUMBER..." help ;;
    esac
}

[ $# -gt 0 ] || set -- sum mean max help
for function; do cases "$function"; done
exit $failed
