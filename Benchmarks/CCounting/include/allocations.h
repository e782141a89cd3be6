#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Whether allocations can be counted: with glibc only, which exports its allocator under a second set of names.
bool allocations_are_counted(void);

/// Starts counting the allocations of all threads, from 0.
void allocations_begin(void);

/// Returns the number of allocations since the start; a reallocation counts as one.
uint64_t allocations_count(void);

/// Stops counting.
void allocations_end(void);
