// What the parts of a printed report share. Private to viz/print/.
#ifndef TB_PRINT_IMPL_H
#define TB_PRINT_IMPL_H

#include "report_parts.h"
#include "sheets.h"

void tb_print_table(struct sheets *sheets, const struct tb_table *table);

// What is to be printed of the findings.
struct printed_findings {
	bool remedies; // what is worth trying, else what was found
	bool commands; // with the commands that try it
	size_t first;  // of these
	double bottom; // stop before this; SHEET_BOTTOM: go on on further pages
};

// tb_print_findings returns how many are printed then, those before the first, too.
size_t tb_print_findings(struct sheets *sheets, const struct tb_findings *findings,
	const struct printed_findings *asked);
size_t tb_print_n_findings(const struct tb_findings *findings, bool remedies);

// What the first page left to the next ones.
struct printed_answers {
	size_t n_found;	    // printed
	bool with_commands; // all that is worth trying is printed, with commands
	bool small_matrix;  // the matrix's texts are hard to read
	bool with_time;
};

// tb_print_answers prints the first page.
int tb_print_answers(struct sheets *sheets, const struct tb_report *report,
	struct tb_run *run, bool full, struct printed_answers *answers,
	struct tb_error *error) TB_MUST_USE;

// tb_print_matrix draws the matrix into what is left of the page, and stores its scale.
int tb_print_matrix(struct sheets *sheets, struct tb_run *run, double *scale,
	struct tb_error *error) TB_MUST_USE;

// tb_print_time draws the wait over time, `height` high, at the current place.
void tb_print_time(struct sheets *sheets, const struct tb_report *report, double height);

#endif
