#!/usr/bin/env bash
# Runs the chosen tests with @FRAMEWORK@ and prints one line of JSON per test between two markers.
# Run it from the root of the source tree. Needs bash, Node.js and the packages of the project; the
# variable NODE names another program than the first `node`. Exit status 0: a report was printed.
set -u
node=${NODE:-node}
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
unset NODE_OPTIONS NODE_PATH

cat >"$dir/support.cjs" <<'END_OF_SUPPORT'
@SUPPORT@
END_OF_SUPPORT

cat >"$dir/driver.cjs" <<'END_OF_DRIVER'
@DRIVER@
END_OF_DRIVER

cat >"$dir/tests.json" <<'END_OF_TESTS'
@TESTS@
END_OF_TESTS

# Whatever the tests print stands behind "| ", so that it cannot be taken for a report.
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

"$node" "$dir/driver.cjs" "$dir/tests.json" "$dir/report" >"$dir/output" 2>&1 </dev/null &
wait $!
status=$?
show
# Any other end is that of a driver that was stopped: what stands there is somebody else's.
if [ ! -s "$dir/report" ] || [ "$status" -gt 1 ]; then
    printf -- '--- no report: %s ended with status %s ---\n' @FRAMEWORK@ "$status"
    exit 1
fi
# The driver ends with 1 where a test failed: a report that says otherwise was changed since.
if [ "$status" -eq 1 ] && ! grep -Eq '"outcome":"(failed|error)"|"stopped":' "$dir/report"; then
    printf -- '--- no report: %s ended with status 1, but its report tells of no failure ---\n' @FRAMEWORK@
    exit 1
fi
printf -- '--- report begin ---\n'
cat "$dir/report"
printf '\n--- report end ---\n'
