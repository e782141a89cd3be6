#!/usr/bin/env bash
# Runs the tests under the thread sanitizer (Linux), in a copy of the package where `Mutex` is one that the sanitizer sees through: see PthreadMutex.swift.txt.
# Takes some ten minutes on two cores; 0 if the tests pass and the sanitizer has nothing to say.
#
#   Tests/checks/thread_sanitizer.sh SCRATCH [options of swift test, such as --filter ChatTests]
set -euo pipefail
cd "$(dirname "$0")/../.."
scratch=${1:?where to build: a folder that may grow to 2 GB}
shift
mkdir -p "$scratch/package"
git ls-files -z | tar --null --files-from=- -cf - | tar -xf - -C "$scratch/package"
cd "$scratch/package"
for folder in Sources/Chat Sources/ChatTesting Sources/EventJournal Tests/ChatTests Tests/EventJournalTests Tests/ChatTestingTests; do
    cp Tests/checks/PthreadMutex.swift.txt "$folder/PthreadMutex.swift"
done
swift build --build-tests --sanitize=thread
# A test that starts the tool, or that counts on moments, may take its time: the sanitizer slows everything down by five to fifteen.
TSAN_OPTIONS="halt_on_error=0 report_signal_unsafe=0" swift test --skip-build --sanitize=thread "$@" 2>&1 | tee "$scratch/log" | grep -E "✘|Test run with|WARNING: ThreadSanitizer" || true
if grep -q "WARNING: ThreadSanitizer" "$scratch/log"; then
    printf 'the sanitizer has something to say: %s\n' "$scratch/log" >&2
    exit 1
fi
grep -qE "Test run with .* passed" "$scratch/log"
