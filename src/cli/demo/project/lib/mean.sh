. "$here/lib/sum.sh"
mean() {
    echo $(($(sum "$@") / ($# + 1)))
}
