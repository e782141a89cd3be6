#ifndef CFUZZER_H
#define CFUZZER_H

#include <stddef.h>
#include <stdint.h>

// The documented entry of libFuzzer for programs that have a `main` of their own (https://llvm.org/docs/LibFuzzer.html, "Using libFuzzer as a
// library"). The runtime comes with the Swift toolchain; no header of it does.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

#endif
