#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The floor of writing: the minimum that any log does, directly on system calls. Each event is framed with its length and
/// its CRC32C, one `pwrite` writes the frames of a call, and `fdatasync` makes them durable.
///
/// Event `i` consists of the bytes from `ends[i - 1]` (0 for the first) to `ends[i]`.
typedef struct floor_log floor_log;

/// Creates the file of a floor. With `preallocate` it grows in steps of 64 MiB (`posix_fallocate`), so that a sync does not
/// record a new size. Returns NULL if the file cannot be opened.
floor_log *_Nullable floor_open(const char *_Nonnull path, bool preallocate);

/// Closes the file and removes it.
void floor_close(floor_log *_Nonnull log);

/// Appends `count` events from `first` on, in one write, and syncs them if `durable`. Returns false if a system call fails.
bool floor_append(
    floor_log *_Nonnull log, const uint8_t *_Nonnull bytes, const size_t *_Nonnull ends, size_t first, size_t count, bool durable);

/// Appends `count` events from `callers` threads. Each thread waits until its event is durable before it appends the next
/// (group commit: the first thread writes all queued events). Ends after `seconds` at the latest.
///
/// Returns the events per second, or a negative number if a system call fails.
double floor_concurrent(
    floor_log *_Nonnull log, const uint8_t *_Nonnull bytes, const size_t *_Nonnull ends, size_t count, size_t callers, double seconds);
