#!/usr/bin/env bash
# Runs the tests under the address sanitizer, in a build of its own.
# Takes some twenty minutes on two cores; 0 if the tests pass and the sanitizer has nothing to say.
#
#   Tests/checks/address_sanitizer.sh SCRATCH [options of swift test, such as --filter ChatTests]
set -euo pipefail
cd "$(dirname "$0")/../.."
scratch=${1:?where to build: a folder that may grow to 1 GB}
shift
mkdir -p "$scratch"
build=(--sanitize=address --scratch-path "$scratch/build")
swift build --build-tests "${build[@]}"
# Its first finding ends the tests. It does not look for leaks: on Linux there are always some that are not ours, of XCTest even where no test of it
# runs, and of Foundation for every empty file that a test reads.
ASAN_OPTIONS="detect_leaks=0" swift test --skip-build "${build[@]}" "$@" 2>&1 | tee "$scratch/log" | grep -E "✘|Test run with|ERROR: AddressSanitizer" || true
if grep -q "ERROR: AddressSanitizer" "$scratch/log"; then
    printf 'the sanitizer has something to say: %s\n' "$scratch/log" >&2
    exit 1
fi
grep -qE "Test run with .* passed" "$scratch/log"
