#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The floor of writing: the least that any log does, with nothing between it and the system calls. Each event is framed with its length and
/// its CRC32C, the frames of a call go out in one `pwrite`, and `fdatasync` makes them durable.
///
/// Event `i` is the bytes from `ends[i - 1]` (0 for the first) to `ends[i]`.
typedef struct floor_log floor_log;

/// Creates the file of a floor; with `preallocate` it grows by 64 MiB steps (`posix_fallocate`), so that a sync need not record a new size.
/// NULL when it cannot be opened.
floor_log *_Nullable floor_open(const char *_Nonnull path, bool preallocate);

/// Closes the file and removes it.
void floor_close(floor_log *_Nonnull log);

/// Appends `count` events from `first` on, in one write, and syncs them if that is asked for. False when a system call failed.
bool floor_append(
    floor_log *_Nonnull log, const uint8_t *_Nonnull bytes, const size_t *_Nonnull ends, size_t first, size_t count, bool durable);

/// Lets `callers` threads append `count` events, each one at a time and durable before its next (group commit: whoever comes first writes
/// what all have queued). Ends after so many seconds at the latest.
///
/// Returns the events for each second; a negative number when a system call failed.
double floor_concurrent(
    floor_log *_Nonnull log, const uint8_t *_Nonnull bytes, const size_t *_Nonnull ends, size_t count, size_t callers, double seconds);
