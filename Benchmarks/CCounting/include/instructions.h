#pragma once

// callgrind writes the number of instructions since the last file to a new one before each call of these functions. Elsewhere they
// do nothing.

/// Writes the instructions of all threads up to here, which are not counted.
void instructions_begin(void);

/// Writes the instructions of all threads since the begin.
void instructions_end(void);
