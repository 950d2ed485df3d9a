// Text for metrics: values with units, titles, explanations.
#ifndef TB_METRIC_TEXT_H
#define TB_METRIC_TEXT_H

#include "run.h"

#define TB_N_METRICS 7

// The sign of what became less.
#define TB_MINUS "\xe2\x88\x92"

// tb_metric_format writes a value with its unit ("1.234 ms", "256 KiB", "17 headers");
// 48 bytes suffice. Returns buffer.
char *tb_metric_format(enum tb_metric metric, uint64_t value, char *buffer, size_t size);

// tb_metric_format_as writes it in the unit that `model` would get: all numbers of one
// picture share a unit.
char *tb_metric_format_as(
	enum tb_metric metric, uint64_t value, uint64_t model, char *buffer, size_t size);

// tb_metric_unit returns the unit in exports: "ps", "bytes", "packets", "headers".
const char *tb_metric_unit(enum tb_metric metric);

// tb_metric_title returns a heading: "Wait", "Blocked headers", "Longest wait".
const char *tb_metric_title(enum tb_metric metric);

// tb_metric_meaning writes one line that explains what is counted, in the words of the
// run's switching; 96 bytes suffice. Returns buffer.
char *tb_metric_meaning(enum tb_metric metric, const struct tb_switching_words *switching,
	char *buffer, size_t size);

#endif
