/// simdjson on demand, where it is installed. Every call works without it and says so.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A parser that keeps its memory.
typedef struct rival_parser rival_parser;

/// A new parser, or NULL when simdjson is not there or this processor lacks the instructions that it was compiled for.
rival_parser *rival_create(void);
void rival_destroy(rival_parser *parser);

/// Name of the kernel in use and why, for the report.
const char *rival_kernel(void);

/// Bytes that must be readable beyond the end of what is parsed.
size_t rival_padding(void);

/// Reads deviceId, patientId, endDate and heartRate. 0 when all are there.
int rival_scan(rival_parser *parser, const uint8_t *bytes, size_t length, double *sum);

/// Reads device, ts, type and, by type, value or sys and dia; a line of the workload. 0 when all are there.
int rival_line(rival_parser *parser, const uint8_t *bytes, size_t length, int64_t *sum);

#ifdef __cplusplus
}
#endif
