#!/usr/bin/env bash
# Runs the chosen integration tests with cargo and prints, between two markers, what each test binary
# lists and says. Run it from the root of the source tree. Needs bash and cargo.
# Exit status 0: a report was printed.
set -u
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
root=$(pwd -P)
unset RUST_TEST_NOCAPTURE RUST_TEST_SHUFFLE RUST_TEST_SHUFFLE_SEED
export CARGO_TERM_COLOR=never RUST_BACKTRACE="${RUST_BACKTRACE:-0}"
: >"$dir/output" >"$dir/built" >"$dir/report"

# Whatever cargo and the tests print stands behind "| ", so that it cannot be taken for a report.
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

# build PACKAGE-DIRECTORY NAME FILE ..: compiles the test binaries of the files that exist; one that does
# not compile stops no other.
build() {
    local targets=()
    cd "$root/$1" || return
    shift
    while [ $# -gt 0 ]; do
        if [ -f "$root/$2" ]; then targets+=(--test "$1"); fi
        shift 2
    done
    if [ ${#targets[@]} -eq 0 ]; then cd "$root" || return; return; fi
    cargo test --no-run --no-fail-fast --message-format=json-render-diagnostics "${targets[@]}" \
        >"$dir/messages" 2>>"$dir/output" </dev/null
    grep -F '"executable":"/' "$dir/messages" | grep -F '"kind":["test"]' >>"$dir/built"
    cd "$root" || return
}

# run PACKAGE-DIRECTORY FILE --skip ID ..: runs one test binary where cargo would.
run() {
    local file=$2 binary='' line
    cd "$root/$1" || return
    shift 2
    while IFS= read -r line; do
        case $line in
            *"\"src_path\":\"$root/$file\""*) line=${line#*'"executable":"'} binary=${line%%'"'*} ;;
        esac
    done <"$dir/built"
    if [ -n "$binary" ]; then
        printf 'file %s\n' "$file" >>"$dir/report"
        examine "$binary" "$@"
    elif [ -f "$root/$file" ]; then
        printf 'broken %s\n' "$file" >>"$dir/report"
    fi
    cd "$root" || return
}

# What a test binary listed and said, to the report; the listed tests without a whole status line to missing.
sort_out() {
    local LC_ALL=C line name
    local status='^test (.*) \.\.\. (ok|FAILED|ignored(, .*)?)$' kind='^(.*) - (should panic|compile fail|compile)$'
    while IFS= read -r line; do
        name=${line%: test}
        [ "$name" != "$line" ] || continue
        printf '%s\n' "$name" >&3
        printf 'list %s\n' "$name" >&4
    done <"$dir/listed" 3>"$dir/list" 4>>"$dir/report"
    while IFS= read -r line; do
        [[ $line =~ $status ]] || continue
        name=${BASH_REMATCH[1]}
        [[ $name =~ $kind ]] && name=${BASH_REMATCH[1]}
        printf '%s\n' "$name" >&3
        printf 'line %s\n' "$line" >&4
    done <"$dir/said" 3>"$dir/done" 4>>"$dir/report"
    grep -vxFf "$dir/done" "$dir/list" >"$dir/missing"
}

# Whether a test binary ended as its lines say: a status proves no pass, but it can contradict one.
ended_as_said() {
    case $1 in
        0) ! grep -aq '^test .* \.\.\. FAILED$' "$dir/said" ;;
        101) grep -aq '^test .* \.\.\. FAILED$' "$dir/said" ;;
        *) false ;;
    esac
}

# The binary's own list says which tests there are. A test without a whole status line (other output stands
# between) runs again by itself; all of them do where the binary died.
examine() {
    local binary=$1 name word status
    shift
    export CARGO_MANIFEST_DIR=$PWD
    "$binary" --list --format terse --exact "$@" >"$dir/listed" 2>>"$dir/output" </dev/null
    "$binary" --color never --exact "$@" >"$dir/said" 2>>"$dir/output" </dev/null
    status=$?
    printf '\n' >>"$dir/said"
    cat "$dir/said" >>"$dir/output"
    ended_as_said "$status" || : >"$dir/said"
    sort_out
    while IFS= read -r name <&3; do
        "$binary" --color never --exact "$name" >"$dir/said" 2>&1 </dev/null
        status=$?
        cat "$dir/said" >>"$dir/output"
        if [ "$status" -ne 0 ]; then word=FAILED
        elif grep -aq '^test result: ok\. 1 passed; 0 failed' "$dir/said"; then word=ok
        elif grep -aq '^test result: ok\. 0 passed; 0 failed; 1 ignored' "$dir/said"; then word=ignored
        else word=FAILED
        fi
        printf 'line test %s ... %s\n' "$name" "$word" >>"$dir/report"
    done 3<"$dir/missing"
}

@CALLS@

show
if [ ! -s "$dir/built" ]; then
    printf -- '--- no report: cargo built no test binary ---\n'
    exit 1
fi
printf -- '--- report begin ---\n'
cat "$dir/report"
printf 'end\n--- report end ---\n'
