// A report on a run: what was replayed, where headers waited most, which flows suffered
// and who made whom wait; as text, CSV, JSON, Markdown or one HTML page.
//
// Made once, written in any number of formats. What it shows is the same in all of them;
// CSV has one list, JSON everything in picoseconds and bytes, as
// schemas/report.schema.json says. The HTML page is a single file that fetches nothing.
// The same store gives the same bytes.
#ifndef TB_REPORT_H
#define TB_REPORT_H

#include "format.h"
#include "hot_links.h"
#include "run.h"

#include <stdio.h>

struct tb_report; // opaque

// tb_report_new gathers the report of a run, whose lists (hot links, switches, flows,
// blame) have at most `top` entries each, 0: all. The run must live as long as it.
int tb_report_new(struct tb_report **report, struct tb_run *run, uint32_t top,
	struct tb_error *error) TB_MUST_USE;
void tb_report_free(struct tb_report *report);

// tb_report_hottest is the hottest link, NULL when nothing waited.
const struct tb_hot_link *tb_report_hottest(const struct tb_report *report);

// Pictures of the congestion matrix for the HTML page: SVG elements without prolog. When
// `dark` is NULL, `light` is shown in dark mode too; when both are, the page has none.
struct tb_report_figures {
	const char *light;
	const char *dark;
};

// tb_report_list_name is the name of a list that CSV can have, `i` counting from 0:
// "jobs" and so on; NULL from the last on.
const char *tb_report_list_name(size_t i);

// tb_report_write writes to `stream`; write errors show in ferror(stream). `figures` may
// be NULL and matters to HTML alone, `list` is one of the lists for CSV and may be NULL:
// "hot-links". TB_ENOMEM.
int tb_report_write(const struct tb_report *report, enum tb_format format,
	const struct tb_report_figures *figures, const char *list, FILE *stream,
	struct tb_error *error) TB_MUST_USE;

#endif
