#!/usr/bin/env bash
# Runs the chosen integration tests with cargo and prints, between two markers, what each test binary
# lists and says. Run it from the root of the source tree. Needs bash and cargo.
# Exit status 0: a report was printed.
set -u
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd -P . || exit 2
root=$PWD
unset RUST_TEST_NOCAPTURE RUST_TEST_SHUFFLE RUST_TEST_SHUFFLE_SEED
export CARGO_TERM_COLOR=never RUST_BACKTRACE="${RUST_BACKTRACE:-0}"
: >"$dir/output"
built=() report=() missing=()

# Whatever cargo and the tests print stands behind "| ", so that it cannot be taken for a report.
# Bash does by itself what it can: a process more costs as much as a test.
show() {
    local LC_ALL=C text='' lines=()
    IFS= read -r -N 400001 text <"$dir/output"
    if [ ${#text} -le 400000 ]; then
        mapfile -t lines <"$dir/output"
        if [ ${#lines[@]} -gt 0 ]; then printf '| %s\n' "${lines[@]}"; fi
    else
        {
            head -c 200000 "$dir/output"
            printf '\n(output left out)\n'
            tail -c 200000 "$dir/output"
        } | sed 's/^/| /'
    fi
    printf '\n'
}
trap 'show; exit 143' TERM

# build PACKAGE-DIRECTORY NAME FILE ..: compiles the test binaries of the files that exist; one that does
# not compile stops no other.
build() {
    local targets=() lines=() line
    cd "$root/$1" || return
    shift
    while [ $# -gt 0 ]; do
        if [ -f "$root/$2" ]; then targets+=(--test "$1"); fi
        shift 2
    done
    if [ ${#targets[@]} -eq 0 ]; then cd "$root" || return; return; fi
    cargo test --no-run --no-fail-fast --message-format=json-render-diagnostics "${targets[@]}" \
        >"$dir/messages" 2>>"$dir/output" </dev/null
    mapfile -t lines <"$dir/messages"
    for line in "${lines[@]}"; do
        if [[ $line == *'"executable":"/'* && $line == *'"kind":["test"]'* ]]; then built+=("$line"); fi
    done
    cd "$root" || return
}

# run PACKAGE-DIRECTORY FILE --skip ID ..: runs one test binary where cargo would.
run() {
    local file=$2 binary='' line
    cd "$root/$1" || return
    shift 2
    for line in "${built[@]}"; do
        case $line in
            *"\"src_path\":\"$root/$file\""*) line=${line#*'"executable":"'} binary=${line%%'"'*} ;;
        esac
    done
    if [ -n "$binary" ]; then
        report+=("file $file")
        examine "$binary" "$@"
    elif [ -f "$root/$file" ]; then
        report+=("broken $file")
    fi
    cd "$root" || return
}

# What a test binary listed and said, to the report; the listed tests without a whole status line to missing.
# What it said counts only if it ended with this status as its lines say: a status proves no pass, but it can
# contradict one.
sort_out() {
    local LC_ALL=C line name failed='' listed=() lines=() said=()
    local -A seen=()
    local status='^test (.*) \.\.\. (ok|FAILED|ignored(, .*)?)$' kind='^(.*) - (should panic|compile fail|compile)$'
    mapfile -t lines <"$dir/listed"
    for line in "${lines[@]}"; do
        name=${line%: test}
        if [ "$name" != "$line" ]; then listed+=("$name") report+=("list $name"); fi
    done
    mapfile -t lines <"$dir/said"
    printf '%s\n' "${lines[@]}" >>"$dir/output"
    for line in "${lines[@]}"; do
        [[ $line =~ $status ]] || continue
        name=${BASH_REMATCH[1]}
        if [ "${BASH_REMATCH[2]}" = FAILED ]; then failed=yes; fi
        if [[ $name =~ $kind ]]; then name=${BASH_REMATCH[1]}; fi
        seen["x$name"]=yes said+=("line $line")
    done
    case $1$failed in
        0 | 101yes) report+=("${said[@]}") ;;
        *) seen=() ;;
    esac
    missing=()
    for name in "${listed[@]}"; do
        if [ -z "${seen["x$name"]:-}" ]; then missing+=("$name"); fi
    done
}

# The binary's own list says which tests there are. A test without a whole status line (other output stands
# between) runs again by itself; all of them do where the binary died.
examine() {
    local binary=$1 name word status
    shift
    export CARGO_MANIFEST_DIR=$PWD
    "$binary" --list --format terse --exact "$@" >"$dir/listed" 2>>"$dir/output" </dev/null
    "$binary" --color never --exact "$@" >"$dir/said" 2>>"$dir/output" </dev/null
    sort_out $?
    for name in "${missing[@]}"; do
        "$binary" --color never --exact "$name" >"$dir/said" 2>&1 </dev/null
        status=$?
        cat "$dir/said" >>"$dir/output"
        if [ "$status" -ne 0 ]; then word=FAILED
        elif grep -aq '^test result: ok\. 1 passed; 0 failed' "$dir/said"; then word=ok
        elif grep -aq '^test result: ok\. 0 passed; 0 failed; 1 ignored' "$dir/said"; then word=ignored
        else word=FAILED
        fi
        report+=("line test $name ... $word")
    done
}

build '.' 'slab' 'tests/slab.rs'
run '.' 'tests/slab.rs'

show
if [ ${#built[@]} -eq 0 ]; then
    printf -- '--- no report: cargo built no test binary ---\n'
    exit 1
fi
printf -- '--- report begin ---\n'
if [ ${#report[@]} -gt 0 ]; then printf '%s\n' "${report[@]}"; fi
printf 'end\n--- report end ---\n'
