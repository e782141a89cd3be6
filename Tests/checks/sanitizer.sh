#!/usr/bin/env bash
# Runs the tests under the thread or the address sanitizer, in a separate build.
# Takes ten to twenty minutes on two cores. Status 0 if the tests pass and the sanitizer has no finding.
#
#   Tests/checks/sanitizer.sh thread|address SCRATCH [options of swift test, such as --filter ChatTests]
#   TIME_LIMIT=60       ends the tests after 60 s, not counting the build; the tests so far must have no finding
set -euo pipefail
cd "$(dirname "$0")/../.."
kind=${1:?the sanitizer: thread or address}
scratch=${2:?a folder for the build, up to 2 GB}
shift 2
mkdir -p "$scratch"
build=(--sanitize="$kind" --scratch-path "$scratch/build")
swift build --build-tests "${build[@]}"
# Sanitizers slow the tests down by a factor of 2 to 15. No test asserts a time.
export TSAN_OPTIONS="halt_on_error=0 report_signal_unsafe=0"
# The first finding ends the tests. Leak detection is off: on Linux XCTest always leaks, and Foundation leaks for every
# empty file that a test reads.
export ASAN_OPTIONS="detect_leaks=0"
said="WARNING: ThreadSanitizer|ERROR: AddressSanitizer"
limit=()
if [ -n "${TIME_LIMIT:-}" ]; then limit=(timeout --signal=INT --kill-after=10 "$TIME_LIMIT"); fi
${limit[@]+"${limit[@]}"} swift test --skip-build "${build[@]}" "$@" 2>&1 | tee "$scratch/log" | grep -E "✘|Test run with|$said" || true
if grep -qE "$said" "$scratch/log"; then
    printf 'the sanitizer has a finding: %s\n' "$scratch/log" >&2
    exit 1
fi
tests=$(grep -E '✔.* Test .* passed after' "$scratch/log" | grep -vc "Test run with" || true)
if [ -n "${TIME_LIMIT:-}" ] && ! grep -q "Test run with" "$scratch/log"; then
    printf '%s sanitizer: no finding in %s tests, cut short after %s s\n' "$kind" "$tests" "$TIME_LIMIT"
    [ "$tests" -gt 0 ] && ! grep -q "✘" "$scratch/log"
    exit
fi
printf '%s sanitizer: no finding in %s tests\n' "$kind" "$tests"
grep -qE "Test run with .* passed" "$scratch/log"
