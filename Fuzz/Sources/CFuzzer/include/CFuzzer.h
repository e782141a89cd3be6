#ifndef CFUZZER_H
#define CFUZZER_H

#include <stddef.h>
#include <stdint.h>

// The documented entry point of libFuzzer for programs with their own `main` (https://llvm.org/docs/LibFuzzer.html, "Using
// libFuzzer as a library"). The Swift toolchain contains the runtime but no header.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

#endif
