#!/usr/bin/env bash
# Runs the given test command and prints the JUnit XML file that it writes between two markers.
# Run it from the root of the source tree. Exit status 0: a report was printed.
set -u
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
report=@REPORT@
: >"$dir/output"
# A report of an earlier run is no report.
rm -f -- "$report"

# Whatever the command prints stands behind "| ", so that it cannot be taken for a report.
show() {
    if [ "$(wc -c <"$dir/output")" -le 400000 ]; then
        cat "$dir/output"
    else
        head -c 200000 "$dir/output"
        printf '\n(output left out)\n'
        tail -c 200000 "$dir/output"
    fi | LC_ALL=C sed 's/^/| /'
    printf '\n'
}
trap 'show; exit 143' TERM

bash -c @COMMAND@ >"$dir/output" 2>&1 </dev/null &
wait $!
status=$?
show
if [ ! -s "$report" ]; then
    printf -- '--- no report: the test command ended with status %s and wrote no %s ---\n' "$status" "$report"
    exit 1
fi
printf -- '--- report begin ---\n'
cat <<'END_OF_EXCLUDED'
@EXCLUDED@
END_OF_EXCLUDED
LC_ALL=C sed 's/^/xml /' "$report"
printf '\n--- report end ---\n'
