// Words for metrics: how a value is shown to people and what it means.
#ifndef TB_METRIC_TEXT_H
#define TB_METRIC_TEXT_H

#include "run.h"

#define TB_N_METRICS 7

// tb_metric_format writes a value with its unit ("1.234 ms", "256 KiB", "17 headers");
// 48 bytes suffice. Returns buffer.
char *tb_metric_format(enum tb_metric metric, uint64_t value, char *buffer, size_t size);

// tb_metric_unit is the unit that exports name: "ps", "bytes", "packets", "headers".
const char *tb_metric_unit(enum tb_metric metric);

// tb_metric_title is a heading: "Wait", "Blocked headers", "Longest wait".
const char *tb_metric_title(enum tb_metric metric);

// tb_metric_meaning is one line that says what is counted.
const char *tb_metric_meaning(enum tb_metric metric);

#endif
