#!/usr/bin/env bash
# Runs the chosen tests with `go test -json` and prints its events between two markers, beside the file
# that each test is written in. Run it from the root of the source tree. Needs bash and Go 1.20 or newer.
# Exit status 0: a report was printed.
set -u
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
root=$(pwd -P)
export SSR="$dir"
: >"$dir/output" >"$dir/report"

# Whatever go and the tests print stands behind "| ", so that it cannot be taken for a report.
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

# Stands between go and a test binary. What frames a test's output begins with a byte 0x16, which go looks
# for. A test without an end in the output (the binary died) runs again by itself, and fails where that is
# not whole either; all of them do where the binary did not end as its output says.
cat >"$dir/exec" <<'END_OF_EXEC'
#!/usr/bin/env bash
set -u
export LC_ALL=C
: >"$SSR/entered"
"$1" -test.list '.*' </dev/null 2>/dev/null | grep -xFf "$SSR/wanted" | sort -u >"$SSR/listed"
[ -s "$SSR/listed" ] || exit 0
printf '\026=== NAME  \n'

# try PATTERN: runs tests; whether the status is one that the output can have.
try() {
    "${command[@]}" -test.run "$1" >"$SSR/said" 2>&1 </dev/null
    local status=$?
    printf '\n' >>"$SSR/said"
    tr -d '\026\016\017' <"$SSR/said" | sed -E "s#^( +)([^ /:]+_test\.go:[0-9]+: )#\1$place\2#" >>"$SSR/output"
    case $status in
        0) ! grep -aq $'\026--- FAIL: ' "$SSR/said" ;;
        1 | 2) grep -aq $'\026--- FAIL: ' "$SSR/said" ;;
        *) false ;;
    esac
}
# The listed tests that have an end, once each.
ended() { grep -ao $'\026--- [A-Z]*: [^ ]* (' "$SSR/said" | sed 's/^[^:]*: //; s/ ($//' | sort -u; }

command=("$@")
place=${PWD#"$SSR_ROOT"} place=${place#/} place=${place:+$place/}
failed=0
if try "^($(paste -sd '|' "$SSR/listed"))\$"; then
    ended | comm -13 - "$SSR/listed" >"$SSR/missing"
    # What is told of a test that will run again is no news of it.
    awk 'FILENAME == ARGV[1] { again[$0] = 1; next }
        { n = split($0, part, "\026"); line = part[1]
          for (i = 2; i <= n; i++) {
              name = part[i]; sub(/^(=== [A-Z]+ +| *--- [A-Z]+: )/, "", name); sub(/[\/ ].*/, "", name)
              line = line (name in again ? "" : "\026") part[i]
          }
          print line }' "$SSR/missing" "$SSR/said"
    grep -aq $'\026--- FAIL: ' "$SSR/said" && failed=1
else
    tr -d '\026' <"$SSR/said"
    cp "$SSR/listed" "$SSR/missing"
fi
while IFS= read -r name <&3; do
    if try "^$name\$" && ended | grep -qxF "$name"; then
        cat "$SSR/said"
        grep -aq $'\026--- FAIL: ' "$SSR/said" && failed=1
    else
        printf '\026=== RUN   %s\n' "$name"
        tr -d '\026' <"$SSR/said"
        printf '\026--- FAIL: %s (0.00s)\n' "$name"
        failed=1
    fi
done 3<"$SSR/missing"
if [ "$failed" = 1 ]; then printf '\026FAIL\n'; else printf '\026PASS\n'; fi
exit "$failed"
END_OF_EXEC
chmod +x "$dir/exec"

# said ACTION: what go itself says, as text.
said() {
    LC_ALL=C sed -nE 's/^\{.*"Action":"'"$1"'".*"Output":"(([^"\\]|\\.)*)".*$/\1/p' "$dir/events" |
        sed -E 's/\\n$//; s/\\t/    /g; s/\\"/"/g; s/\\\\/\\/g' >>"$dir/output"
}

# run MODULE-DIRECTORY PACKAGE FILE .. -- EXCLUDED-NAME ..: runs the tests of files of one package.
run() {
    local module=$1 package=$2 file files=()
    cd "$root/$module" || return
    shift 2
    : >"$dir/tests" >"$dir/events" >"$dir/excluded"
    rm -f "$dir/entered"
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        if [ -f "$root/$1" ]; then
            files+=("$1")
            LC_ALL=C sed -nE 's/^func ((Test|Example|Fuzz)[^ (]*)\(.*/\1/p' "$root/$1" |
                while IFS= read -r name; do printf 'test %s %s\n' "$name" "$1"; done >>"$dir/tests"
        fi
        shift
    done
    while [ $# -gt 1 ]; do shift; printf '%s\n' "$1" >>"$dir/excluded"; done
    if [ ${#files[@]} -gt 0 ]; then
        cut -d ' ' -f 2 "$dir/tests" | grep -vxFf "$dir/excluded" >"$dir/wanted"
        SSR_ROOT=$root go test -json -count=1 -vet=off -timeout=0 -exec "$dir/exec" "$package" \
            >"$dir/events" 2>>"$dir/output" </dev/null
        said build-output
        if [ -e "$dir/entered" ]; then
            printf 'package %s\n' "$module $package" >>"$dir/report"
            sed 's/^/list /' "$dir/listed" >>"$dir/report"
            cat "$dir/tests" >>"$dir/report"
            sed 's/^/exclude /' "$dir/excluded" >>"$dir/report"
            grep -aE '"Action":"(pass|fail|skip)"' "$dir/events" |
                sed -E 's/"Time":"[^"]*",//; s/^/event /' >>"$dir/report"
        else
            said output
            for file in "${files[@]}"; do printf 'broken %s\n' "$file" >>"$dir/report"; done
        fi
    fi
    cd "$root" || return
}

@CALLS@

show
# What is missing here says nothing of the code under test.
missing=$(grep -aE 'GOPROXY=off|GOTOOLCHAIN=local|missing go.sum entry|no required module provides|inconsistent vendoring' \
    "$dir/output" | head -n 1)
if [ -n "$missing" ] && ! grep -q '^event ' "$dir/report"; then
    printf -- '--- no report: %s; there is no network here: run `go mod download`, or vendor the modules ---\n' "$missing"
    exit 1
fi
printf -- '--- report begin ---\n'
cat "$dir/report"
printf 'end\n--- report end ---\n'
