// A report on paper: a PDF whose first page answers (findings, the hottest links, the
// matrix), and of a full report the evidence behind it: what is worth trying with its
// commands, wait over time, every list, notes, and the configuration last.
//
// No text is cut: what has no room breaks into lines and goes on on the next page, where
// a list has its heading and titles again. Each page has its number. The same store gives
// the same bytes.
#ifndef TB_REPORT_PRINT_H
#define TB_REPORT_PRINT_H

#include "report.h"

// tb_report_print writes to `stream`; write errors show in ferror(stream). The run is the
// report's. Errors as of tb_matrix_init. Cost: linear in what is listed, twice.
int tb_report_print(const struct tb_report *report, struct tb_run *run, bool full,
	FILE *stream, struct tb_error *error) TB_MUST_USE;

#endif
