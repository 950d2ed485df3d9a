// Text for a run and a window of its time, for titles and tooltips.
#ifndef TB_RUN_TEXT_H
#define TB_RUN_TEXT_H

#include "run.h"
#include "waits.h"

// tb_window_whole is true when a window is the whole run.
bool tb_window_whole(const struct tb_run_info *info, struct tb_window window);

// tb_window_begin_ps and tb_window_end_ps return the ends of a window. The last bin ends
// with the run.
tb_time_ps tb_window_begin_ps(const struct tb_run_info *info, struct tb_window window);
tb_time_ps tb_window_end_ps(const struct tb_run_info *info, struct tb_window window);

// tb_window_between finds the window of whole bins that covers [from, to). TB_EUSAGE when
// it is empty or begins after the run's end.
int tb_window_between(const struct tb_run_info *info, tb_time_ps from, tb_time_ps to,
	struct tb_window *window, struct tb_error *error) TB_MUST_USE;

// tb_window_text writes "0 to 1.234 ms (whole run)"; 80 bytes suffice.
char *tb_window_text(const struct tb_run_info *info, struct tb_window window,
	char *buffer, size_t size);

// tb_span_text writes "4 us to 8 us", or "the whole run"; 64 bytes suffice.
char *tb_span_text(struct tb_span span, char *buffer, size_t size);

// tb_run_input_text writes a short name of an input (tb_run_info): the base name of its
// first file, and how many more files there are. 96 bytes suffice.
char *tb_run_input_text(const char *input, char *buffer, size_t size);

// tb_run_pair_text writes the two ends of a flow for a place `width` wide: "n7 > n9", by
// labels where there is room for names, else by numbers. 160 bytes suffice.
char *tb_run_pair_text(const struct tb_run *run, struct tb_node source,
	struct tb_node destination, double width, char *buffer, size_t size);

// tb_run_caption describes a run: "bitrev.goal on qsnet, 64 nodes"; of a capture with its
// time scale and the idle time taken out. 256 bytes suffice.
char *tb_run_caption(const struct tb_run_info *info, char *buffer, size_t size);

// Text for metrics: values with units, titles, explanations.

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
