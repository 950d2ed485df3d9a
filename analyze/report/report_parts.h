// What a report holds, part by part, for those who lay it out themselves: on paper, as a
// page of HTML. What is returned lives as long as the report.
#ifndef TB_REPORT_PARTS_H
#define TB_REPORT_PARTS_H

#include "findings.h"
#include "report.h"
#include "table.h"

// The figures that head a report: "1.234 ms", "waited, all headers".
struct tb_report_tile {
	char value[48], name[96];
};

#define TB_REPORT_TILES 9

// tb_report_tiles stores them and returns how many.
size_t tb_report_tiles(
	const struct tb_report *report, struct tb_report_tile tiles[TB_REPORT_TILES]);

// tb_report_title writes the names of the input's files without their folders; it returns
// `buffer`.
char *tb_report_title(const struct tb_report *report, char *buffer, size_t size);

// tb_report_tables returns all lists in the order in which people read them; those with
// n_shown 0 are not for people.
const struct tb_table *tb_report_tables(const struct tb_report *report, size_t *n);

const struct tb_run *tb_report_run(const struct tb_report *report);
const struct tb_findings *tb_report_findings(const struct tb_report *report);
const uint64_t *tb_report_wait_by_bin(const struct tb_report *report); // n_bins

// A name and a text, of the configuration or of the notes; both live for the call.
typedef void tb_report_put(void *context, const char *name, const char *text);

// tb_report_configuration hands out what the run was made of, and tb_report_notes what is
// to be known of how, with what it is about, "" where that is clear. TB_ENOMEM.
int tb_report_configuration(
	const struct tb_report *report, tb_report_put *put, void *context) TB_MUST_USE;
void tb_report_notes(const struct tb_report *report, tb_report_put *put, void *context);

#endif
