#!/usr/bin/env bash
# Runs the tests under the thread sanitizer, in a build of its own.
# Takes some ten minutes on two cores; 0 if the tests pass and the sanitizer has nothing to say.
#
#   Tests/checks/thread_sanitizer.sh SCRATCH [options of swift test, such as --filter ChatTests]
set -euo pipefail
cd "$(dirname "$0")/../.."
scratch=${1:?where to build: a folder that may grow to 2 GB}
shift
mkdir -p "$scratch"
build=(--sanitize=thread --scratch-path "$scratch/build")
swift build --build-tests "${build[@]}"
# A test that starts the tool, or that counts on moments, may take its time: the sanitizer slows everything down by five to fifteen.
TSAN_OPTIONS="halt_on_error=0 report_signal_unsafe=0" swift test --skip-build "${build[@]}" "$@" 2>&1 | tee "$scratch/log" | grep -E "✘|Test run with|WARNING: ThreadSanitizer" || true
if grep -q "WARNING: ThreadSanitizer" "$scratch/log"; then
    printf 'the sanitizer has something to say: %s\n' "$scratch/log" >&2
    exit 1
fi
grep -qE "Test run with .* passed" "$scratch/log"
