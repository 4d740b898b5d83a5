#!/usr/bin/env bash
# Configures and builds with CMake outside of the tree, runs the tests of the chosen files with CTest, and
# prints its JUnit XML between two markers, beside the file that each test is written in. Run it from the
# root of the source tree. Needs bash, make and CMake 3.21 or newer. Exit status 0: a report was printed.
set -u
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
root=$(pwd -P)
build=${SSR_BUILD:-$dir/build}
export LC_ALL=C CTEST_OUTPUT_ON_FAILURE=1 GTEST_COLOR=no
: >"$dir/output" >"$dir/report" >"$dir/failed"

# Whatever CMake, the compiler and the tests print stands behind "| ", so that it cannot be taken for a report.
show() {
    if [ "$(wc -c <"$dir/output")" -le 400000 ]; then
        cat "$dir/output"
    else
        head -c 200000 "$dir/output"
        printf '\n(output left out)\n'
        tail -c 200000 "$dir/output"
    fi | sed 's/^/| /'
    printf '\n'
}
trap 'show; exit 143' TERM

refuse() {
    show
    printf -- '--- no report: %s ---\n' "$1"
    exit 1
}

# What CMake knows, a line each: "target NAME ARTIFACT SOURCE" and "test NUMBER NAME COMMAND", between tabs.
cat >"$dir/tell.cmake" <<'END_OF_CMAKE'
function(get result json)
    string(JSON value ERROR_VARIABLE error GET "${json}" ${ARGN})
    if(error)
        set(value "")
    endif()
    set(${result} "${value}" PARENT_SCOPE)
endfunction()
function(last result json)
    string(JSON length ERROR_VARIABLE error LENGTH "${json}" ${ARGN})
    if(error OR length EQUAL 0)
        set(length 0)
    endif()
    math(EXPR length "${length} - 1")
    set(${result} ${length} PARENT_SCOPE)
endfunction()
set(lines "")
file(GLOB replies "${BUILD}/.cmake/api/v1/reply/target-*.json")
foreach(reply IN LISTS replies)
    file(READ "${reply}" target)
    get(kind "${target}" type)
    last(end "${target}" sources)
    if(kind STREQUAL "EXECUTABLE" AND end GREATER -1)
        get(name "${target}" name)
        get(artifact "${target}" artifacts 0 path)
        foreach(number RANGE ${end})
            get(source "${target}" sources ${number} path)
            string(APPEND lines "target\t${name}\t${artifact}\t${source}\n")
        endforeach()
    endif()
endforeach()
file(READ "${TESTS}" tests)
last(end "${tests}" tests)
if(end GREATER -1)
    foreach(number RANGE ${end})
        get(name "${tests}" tests ${number} name)
        get(command "${tests}" tests ${number} command 0)
        math(EXPR order "${number} + 1")
        string(APPEND lines "test\t${order}\t${name}\t${command}\n")
    endforeach()
endif()
file(WRITE "${OUT}" "${lines}")
END_OF_CMAKE

# configure OPTION ..: what is missing here says nothing of the code under test.
configure() {
    mkdir -p "$build/.cmake/api/v1/query" && : >"$build/.cmake/api/v1/query/codemodel-v2"
    rm -rf "$build/.cmake/api/v1/reply"
    if ! cmake -G 'Unix Makefiles' -S "$root" -B "$build" -DBUILD_TESTING=ON -DCMAKE_BUILD_TYPE=Debug \
        -Wno-dev "$@" >"$dir/said" 2>&1 </dev/null; then
        cat "$dir/said" >>"$dir/output"
        refuse "CMake could not configure the project: $(grep -A3 -m1 '^CMake Error' "$dir/said" | tr -s '\n ' ' ')"
    fi
    printf '{}' >"$dir/tests.json"
    tell || refuse "CMake 3.21 or newer is needed to tell which test is built of which file"
}
tell() {
    rm -f "$dir/told"
    cmake -DBUILD="$build" -DTESTS="$dir/tests.json" -DOUT="$dir/told" -P "$dir/tell.cmake" >>"$dir/output" 2>&1
    [ -e "$dir/told" ]
}

# build TARGET ..: one that cannot be built stops no other, and is told; its program of an earlier build would
# speak for code that is not there any more.
build() {
    local target
    cmake --build "$build" --target "$@" -- -k -j"$(nproc)" >>"$dir/output" 2>&1 </dev/null && return
    for target in "$@"; do
        cmake --build "$build" --target "$target" -- -k >/dev/null 2>&1 </dev/null || printf '%s\n' "$target"
    done >"$dir/failed"
}

# owner COMMAND NAME: the target whose program a test runs.
owner() {
    local kind target artifact rest
    while IFS=$'\t' read -r kind target artifact rest; do
        if [ "$kind" = target ] && { [ "${artifact##*/}" = "${1##*/}" ] || { [ -z "$1" ] && [ "$target" = "$2" ]; }; }; then
            printf '%s\n' "$target"
            return
        fi
    done <"$dir/told"
}

# file_of TARGET NAME: where a test is written: of the target's test files the first that names it, else the first.
file_of() {
    local kind target artifact source first=''
    while IFS=$'\t' read -r kind target artifact source; do
        if [ "$kind" = target ] && [ "$target" = "$1" ] && grep -qxF "$source" "$dir/known"; then
            first=${first:-$source}
            if grep -qwF -e "${2##*.}" "$root/$source" 2>/dev/null; then
                printf '%s\n' "$source"
                return
            fi
        fi
    done <"$dir/told"
    printf '%s\n' "$first"
}

quoted() { printf '"%s"' "$(printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g')"; }

# run FILE .. -- EXCLUDED-ID ..
run() {
    local kind number name command target file numbers='' targets
    : >"$dir/chosen" >"$dir/excluded"
    while [ $# -gt 0 ] && [ "$1" != -- ]; do printf '%s\n' "$1" >>"$dir/chosen"; shift; done
    while [ $# -gt 1 ]; do shift; printf '%s\n' "$1" >>"$dir/excluded"; done
    while IFS=$'\t' read -r kind target command file; do
        [ "$kind" = target ] && grep -qxF "$file" "$dir/chosen" && printf '%s\n' "$target"
    done <"$dir/told" | sort -u >"$dir/wanted"
    mapfile -t targets <"$dir/wanted"
    [ ${#targets[@]} -eq 0 ] || build "${targets[@]}"
    while IFS=$'\t' read -r kind target command file; do
        if [ "$kind" = target ] && grep -qxF "$target" "$dir/failed" && grep -qxF "$file" "$dir/chosen"; then
            printf 'error %s\n' "$(quoted "$file")"
        fi
    done <"$dir/told" | sort -u >>"$dir/report"
    # Some tests are known only once their program is there.
    ctest --test-dir "$build" --show-only=json-v1 >"$dir/tests.json" 2>>"$dir/output" </dev/null
    tell && grep -q '^test' "$dir/told" ||
        refuse 'CTest knows no test: the project adds none, or only where an option is set'
    while IFS=$'\t' read -r kind number name command <&3; do
        [ "$kind" = test ] || continue
        target=$(owner "$command" "$name")
        [ -n "$target" ] && ! grep -qxF "$target" "$dir/failed" || continue
        file=$(file_of "$target" "$name")
        grep -qxF "$file" "$dir/chosen" && ! grep -qxF "$file::$name" "$dir/excluded" || continue
        numbers+=,$number
        printf 'id [%s, %s]\n' "$(quoted "$name::$name")" "$(quoted "$file::$name")" >>"$dir/report"
    done 3<"$dir/told"
    printf '<testsuites/>\n' >"$dir/junit"
    if [ -n "$numbers" ]; then
        rm -f "$dir/junit"
        ctest --test-dir "$build" -I "0,0,0$numbers" --timeout 600 --output-on-failure --output-junit "$dir/junit" \
            >>"$dir/output" 2>&1 </dev/null
    fi
    [ -s "$dir/junit" ] || refuse 'CTest wrote no report'
    sed 's/^/xml /' "$dir/junit" >>"$dir/report"
}

cat >"$dir/known" <<'END_OF_KNOWN'
@KNOWN@
END_OF_KNOWN

@CALLS@

show
printf -- '--- report begin ---\n'
cat "$dir/report"
printf '\n--- report end ---\n'
