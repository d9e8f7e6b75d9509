sum() {
    total=0
    for number; do
        if [ "$number" -gt 0 ]; then total=$((total + number)); fi
    done
    echo "$total"
}
