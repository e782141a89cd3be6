#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Whether allocations can be counted here: with glibc alone, whose allocator has names of its own behind those that are replaced.
bool allocations_are_counted(void);

/// Begins to count the allocations of all threads, from 0.
void allocations_begin(void);

/// The allocations since the beginning: calls that gave memory, a reallocation among them.
uint64_t allocations_count(void);

/// Ends the counting.
void allocations_end(void);
