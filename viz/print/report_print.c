#include "report_print.h"

#include "paper.h"
#include "print_impl.h"

#include <inttypes.h>
#include <string.h>

// A group of bins a column, so that each is wide enough to see.
#define COLUMNS 260

static double report_column(
	const struct tb_run_info *info, const uint64_t *bins, uint64_t first, uint64_t n)
{
	double sum = 0;
	uint64_t end = first + n < info->n_bins ? first + n : info->n_bins;
	for (uint64_t bin = first; bin < end; bin++)
		sum += (double)bins[bin];
	return end > first ? sum / (double)(end - first) : 0;
}

void tb_print_time(struct sheets *sheets, const struct tb_report *report, double height)
{
	const struct tb_run_info *info = tb_run_info(tb_report_run(report));
	const struct tb_type muted = {TB_FONT_TEXT, 7.5, TB_ALIGN_LEFT, sheets_muted};
	const uint64_t *bins = tb_report_wait_by_bin(report);
	uint64_t a_column = (info->n_bins + COLUMNS - 1) / COLUMNS;
	uint64_t n = a_column ? (info->n_bins + a_column - 1) / a_column : 0;
	double largest = 0;
	for (uint64_t i = 0; i < n; i++) {
		double wait = report_column(info, bins, i * a_column, a_column);
		largest = wait > largest ? wait : largest;
	}
	if (largest <= 0)
		return;
	char text[160], bin[32], most[32];
	sheets_heading(sheets, "Wait over time", height + 30);
	snprintf(text, sizeof text,
		"Wait of all headers in a bin of %s of simulated time; at most %s.",
		tb_format_time(info->bin_ps, bin, sizeof bin),
		tb_format_long_time(largest, most, sizeof most));
	sheets_flow(sheets, SHEET_MARGIN, SHEET_ROOM, muted, 10, text);
	double width = (double)SHEET_ROOM / (double)n, base = sheets->y + height;
	for (uint64_t i = 0; i < n; i++) {
		double part = report_column(info, bins, i * a_column, a_column) / largest;
		tb_picture_rect(sheets_page(sheets),
			(struct tb_box){SHEET_MARGIN + (double)i * width,
				base - part * height, width > 3 ? width - 0.7 : width,
				part * height},
			(struct tb_colour){0x35, 0x45, 0x6c, 255});
	}
	tb_picture_line(sheets_page(sheets),
		(struct tb_box){SHEET_MARGIN, base, SHEET_ROOM, 0}, 0.5, sheets_rule);
	struct tb_box axis = {SHEET_MARGIN, base + 2, SHEET_ROOM, 10};
	struct tb_type right = muted;
	right.align = TB_ALIGN_RIGHT;
	tb_picture_text(sheets_page(sheets), axis, muted, "0");
	tb_picture_text(sheets_page(sheets), axis, right,
		tb_format_time(info->simulated_ps, text, sizeof text));
	sheets->y = base + 14;
}

static void put_report_item(void *context, const char *name, const char *text)
{
	struct sheets *sheets = context;
	const struct tb_type label = {TB_FONT_BOLD, 7.5, TB_ALIGN_LEFT, sheets_muted};
	const struct tb_type plain = {TB_FONT_TEXT, 7.5, TB_ALIGN_LEFT, sheets_ink};
	const double wide = 120;
	double height = 9.5 * (double)sheets_n_lines(TB_FONT_BOLD, 7.5, wide - 8, name);
	sheets_need(sheets, height);
	const struct tb_picture *page = sheets_page(sheets);
	double y = sheets->y;
	sheets_put(sheets, (struct tb_box){SHEET_MARGIN, y, wide - 8, 9.5}, label, name);
	sheets_flow(sheets, SHEET_MARGIN + wide, SHEET_ROOM - wide, plain, 9.5, text);
	if (page == sheets_page(sheets) && sheets->y < y + height)
		sheets->y = y + height;
	sheets->y += 2;
}

static void put_note(void *context, const char *name, const char *text)
{
	struct sheets *sheets = context;
	const struct tb_type plain = {TB_FONT_TEXT, 7.5, TB_ALIGN_LEFT, sheets_ink};
	char note[2048];
	snprintf(note, sizeof note, "%s%s%s", name, *name ? ": " : "", text);
	sheets_flow(sheets, SHEET_MARGIN, SHEET_ROOM, plain, 9.5, note);
	sheets->y += 2;
}

static void count_note(void *context, const char *name, const char *text)
{
	(void)name;
	(void)text;
	++*(size_t *)context;
}

static void report_print_notes(struct sheets *sheets, const struct tb_report *report)
{
	size_t n = 0;
	tb_report_notes(report, count_note, &n);
	if (n == 0)
		return;
	sheets_heading(sheets, "Notes", 20);
	tb_report_notes(report, put_note, sheets);
}

// print_evidence prints what is behind the answers.
static int print_evidence(struct sheets *sheets, const struct tb_report *report,
	struct tb_run *run, const struct printed_answers *answers, struct tb_error *error)
{
	int status = TB_OK;
	size_t n;
	const struct tb_table *tables = tb_report_tables(report, &n);
	sheets_turn(sheets);
	// Print what the first page had no room for.
	const struct tb_findings *findings = tb_report_findings(report);
	struct printed_findings asked = {
		.commands = true, .first = answers->n_found, .bottom = SHEET_BOTTOM};
	if (asked.first < tb_print_n_findings(findings, false)) {
		sheets_heading(sheets, "Findings (continued)", 40);
		tb_print_findings(sheets, findings, &asked);
	}
	asked.remedies = true;
	asked.first = 0;
	if (!answers->with_commands) {
		sheets_heading(sheets, "Worth trying, with the commands", 40);
		tb_print_findings(sheets, findings, &asked);
	}
	if (answers->small_matrix) {
		double scale;
		sheets_heading(sheets, "Congestion matrix", SHEET_HEIGHT / 2);
		status = tb_print_matrix(sheets, run, &scale, error);
	}
	if (!answers->with_time)
		tb_print_time(sheets, report, 60);
	for (size_t i = 0; i < n; i++)
		tb_print_table(sheets, &tables[i]);
	report_print_notes(sheets, report);
	sheets_heading(sheets, "Configuration", 40);
	if (status == TB_OK &&
		tb_report_configuration(report, put_report_item, sheets) != TB_OK)
		status = tb_fail_memory(error, "a report");
	return status;
}

static int status_of(const struct sheets *sheets)
{
	int status = sheets->status;
	for (size_t i = 0; i < sheets->n && status == TB_OK; i++)
		status = sheets->pages[i].status;
	return status;
}

int tb_report_print(const struct tb_report *report, struct tb_run *run, bool full,
	FILE *stream, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct sheets sheets = {NULL, 0, 0, 0, TB_OK};
	char title[300], foot[600];
	tb_report_title(report, title, sizeof title);
	snprintf(foot, sizeof foot, "run %" PRId64 " on %s, Tailback " TB_VERSION ": %s",
		info->id, info->network_name, title);
	sheets_turn(&sheets);
	if (sheets.n == 0)
		return tb_fail_memory(error, "a report");
	struct printed_answers answers = {.n_found = 0};
	int status = tb_print_answers(&sheets, report, run, full, &answers, error);
	if (status == TB_OK && full)
		status = print_evidence(&sheets, report, run, &answers, error);
	// Write at the foot of each page which one it is, and of what.
	const struct tb_type left = {TB_FONT_TEXT, 7, TB_ALIGN_LEFT, sheets_muted};
	struct tb_type right = left;
	right.align = TB_ALIGN_RIGHT;
	double width = SHEET_ROOM - 90;
	for (size_t i = 0; i < sheets.n; i++) {
		struct tb_picture *page = &sheets.pages[i];
		struct tb_box box = {SHEET_MARGIN, SHEET_HEIGHT - 34, width, 10};
		// A long name stands on the first page.
		if (tb_text_width(left.font, left.size, foot) <= width)
			tb_picture_text(page, box, left, foot);
		box.w = SHEET_ROOM;
		tb_picture_printf(page, box, right, "page %zu of %zu", i + 1, sheets.n);
	}
	if (status == TB_OK && status_of(&sheets) != TB_OK)
		status = tb_fail_memory(error, "a report");
	if (status == TB_OK)
		status = tb_pictures_pdf(sheets.pages, sheets.n, sheets.pages[0].width,
			title, stream, error);
	sheets_fini(&sheets);
	return status;
}
