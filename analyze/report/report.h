// A report on a run: what was replayed, where headers waited longest, which flows were
// slowed most, and which flows and jobs waited for which; as text, CSV, JSON, Markdown or
// one HTML page.
//
// It is made once and can be written in any number of formats, all with the same content;
// but CSV has a single list, and JSON has everything, in picoseconds and bytes, as
// specified in schemas/report.schema.json. The HTML page is a single file that fetches
// nothing. The same store gives the same bytes.
#ifndef TB_REPORT_H
#define TB_REPORT_H

#include "format.h"
#include "hot_links.h"
#include "recorded.h"
#include "run.h"

#include <stdio.h>

struct tb_report; // opaque

// tb_report_new makes the report of a run; its lists (hot links, switches, flows, blame)
// have at most `top` entries each, 0: all. The run must outlive the report.
int tb_report_new(struct tb_report **report, struct tb_run *run, uint32_t top,
	struct tb_error *error) TB_MUST_USE;
void tb_report_free(struct tb_report *report);

// tb_report_hottest returns the hottest listed link that surely waited, NULL
// when none did.
const struct tb_hot_link *tb_report_hottest(const struct tb_report *report);

// Pictures of the congestion matrix for the HTML page: SVG elements without prolog. When
// `dark` is NULL, dark mode shows `light` too; when both are NULL, the page has no
// picture.
struct tb_report_figures {
	const char *light;
	const char *dark;
	const char *recorded[2]; // likewise of recorded times (recorded_picture.h)
};

// tb_report_list_name returns the name of list `i` (from 0) of those that CSV can have:
// "jobs" and so on; NULL past the last.
const char *tb_report_list_name(size_t i);

// tb_report_recorded returns what was recorded, for its picture.
const struct tb_recorded *tb_report_recorded(const struct tb_report *report);

struct tb_report_form {
	struct tb_report_figures figures; // of HTML
	const char *list;		  // of CSV; NULL: "hot-links"
	bool full;	// of text: all lists, rather than what fits a screen
	bool whole;	// of what fits a screen: as many rows as the lists have, not five
	unsigned width; // of text, in characters; 0: as wide as its tables
};

// tb_report_write writes to `stream`; write errors show in ferror(stream). `form` may be
// NULL. TB_ENOMEM.
int tb_report_write(const struct tb_report *report, enum tb_format format,
	const struct tb_report_form *form, FILE *stream,
	struct tb_error *error) TB_MUST_USE;

// tb_report_write_schema writes the JSON schema of the report: what
// schemas/report.schema.json holds. TB_ENOMEM.
int tb_report_write_schema(FILE *stream, struct tb_error *error) TB_MUST_USE;

#endif
