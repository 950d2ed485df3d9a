// The first page: what the run comes to, the hottest links, and the picture, which gets
// the room that is left.
#include "print_impl.h"

#include "matrix_picture.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SENTENCE 8.5 // size of the findings
#define LEADING	 10.5
#define RULE	 82.0  // width of a rule's name
#define HOTTEST	 5     // links on the first page
#define PICTURE	 270.0 // height that the findings leave to what is below them
#define SMALL	 0.5   // scale of a picture that is hard to read
#define TIME	 84.0  // least height of the wait over time with its heading

// answer_height is the height of a finding with what stands below it.
static double answer_height(const struct tb_finding *finding, bool command)
{
	double width = SHEET_ROOM - RULE;
	size_t lines = sheets_n_lines(TB_FONT_TEXT, SENTENCE, width, finding->sentence);
	double height = (double)lines * LEADING + 3;
	if (command && finding->command)
		height += 9 * (double)sheets_n_lines(
				      TB_FONT_MONO, 7, width, finding->command);
	return height;
}

size_t tb_print_findings(struct sheets *sheets, const struct tb_findings *findings,
	const struct printed_findings *asked)
{
	const struct tb_type rule = {TB_FONT_BOLD, 8, TB_ALIGN_LEFT, sheets_muted};
	const struct tb_type sentence = {
		TB_FONT_TEXT, SENTENCE, TB_ALIGN_LEFT, sheets_ink};
	const struct tb_type code = {TB_FONT_MONO, 7, TB_ALIGN_LEFT, sheets_ink};
	const double x = SHEET_MARGIN + RULE, width = SHEET_ROOM - RULE;
	size_t n = 0;
	for (size_t i = 0; i < findings->n; i++) {
		const struct tb_finding *finding = &findings->list[i];
		if (finding->remedy != asked->remedies || n++ < asked->first)
			continue;
		double height = answer_height(finding, asked->commands);
		if (asked->bottom < SHEET_BOTTOM && sheets->y + height > asked->bottom)
			return n - 1;
		sheets_need(sheets, height < SHEET_BOTTOM / 2 ? height : LEADING);
		sheets_put(sheets,
			(struct tb_box){SHEET_MARGIN, sheets->y, RULE - 8, LEADING}, rule,
			finding->rule);
		sheets_flow(sheets, x, width, sentence, LEADING, finding->sentence);
		if (asked->commands && finding->command)
			sheets_flow(sheets, x, width, code, 9, finding->command);
		sheets->y += 3;
	}
	return n;
}

size_t tb_print_n_findings(const struct tb_findings *findings, bool remedies)
{
	size_t n = 0;
	for (size_t i = 0; i < findings->n; i++)
		n += findings->list[i].remedy == remedies;
	return n;
}

static void print_note(struct sheets *sheets, const char *text)
{
	const struct tb_type note = {TB_FONT_TEXT, 7.5, TB_ALIGN_LEFT, sheets_muted};
	sheets_flow(sheets, SHEET_MARGIN + RULE, SHEET_ROOM - RULE, note, 9.5, text);
}

static void print_found(struct sheets *sheets, const struct tb_findings *findings,
	bool full, struct printed_answers *answers)
{
	const struct printed_findings asked = {.bottom = SHEET_BOTTOM - PICTURE - 60};
	size_t n = tb_print_n_findings(findings, false);
	char text[64];
	sheets_heading(sheets, "Findings", 0);
	answers->n_found = tb_print_findings(sheets, findings, &asked);
	snprintf(text, sizeof text, "and %zu more%s", n - answers->n_found,
		full ? ", on the next page" : "");
	if (answers->n_found < n)
		print_note(sheets, text);
}

// print_tries prints what is worth trying: with the commands, if all have room.
static void print_tries(struct sheets *sheets, const struct tb_findings *findings,
	bool full, struct printed_answers *answers)
{
	struct printed_findings asked = {
		.remedies = true, .bottom = SHEET_BOTTOM - PICTURE};
	double needed = 40;
	size_t n = tb_print_n_findings(findings, true);
	answers->with_commands = n == 0;
	if (n == 0 || sheets->y + 50 > asked.bottom)
		return;
	for (size_t i = 0; i < findings->n; i++)
		if (findings->list[i].remedy)
			needed += answer_height(&findings->list[i], true);
	asked.commands = sheets->y + needed <= asked.bottom;
	answers->with_commands = asked.commands;
	sheets_heading(sheets, "Worth trying", 0);
	size_t printed = tb_print_findings(sheets, findings, &asked);
	char text[64];
	snprintf(text, sizeof text, "and %zu more", n - printed);
	if (printed < n)
		print_note(sheets, text);
	if (!asked.commands && full)
		print_note(sheets, "The commands are on the next page.");
}

// print_hottest prints the first rows of the list of hot links.
static void print_hottest(struct sheets *sheets, const struct tb_report *report)
{
	size_t n;
	const struct tb_table *tables = tb_report_tables(report, &n);
	for (size_t i = 0; i < n; i++) {
		struct tb_table few = tables[i];
		if (strcmp(few.type->name, "hot-links") != 0)
			continue;
		few.n_shown = few.n_shown < HOTTEST ? few.n_shown : HOTTEST;
		few.remark[0] = '\0';
		double needed = 40 + 11 * (double)few.n_shown;
		if (sheets->y + needed <= SHEET_BOTTOM)
			tb_print_table(sheets, &few);
	}
}

static double answer_scale(const struct sheets *sheets, const struct tb_picture *figure)
{
	double room = SHEET_BOTTOM - sheets->y, scale = SHEET_ROOM / figure->width;
	if (figure->height * scale > room)
		scale = room / figure->height;
	return scale < 1 ? scale : 1;
}

int tb_print_matrix(
	struct sheets *sheets, struct tb_run *run, double *scale, struct tb_error *error)
{
	struct tb_matrix matrix;
	struct tb_picture figure = {0}, best = {0};
	struct tb_matrix_figure asked = {.run = run,
		.matrix = &matrix,
		.colours = TB_CIVIDIS,
		.theme = TB_LIGHT,
		.bare = true};
	int status = tb_matrix_init(&matrix, run, asked.window, TB_WAIT, error);
	if (status != TB_OK)
		return status;
	*scale = 0;
	// Of the widths to which its rows may wrap, the one that is the largest in print.
	for (asked.width = 560; status == TB_OK && asked.width <= 1400;
		asked.width += 140) {
		status = tb_matrix_picture(&figure, &asked);
		if (status != TB_OK || answer_scale(sheets, &figure) <= *scale)
			continue;
		*scale = answer_scale(sheets, &figure);
		struct tb_picture kept = best;
		best = figure;
		figure = kept;
	}
	double x = SHEET_MARGIN + (SHEET_ROOM - *scale * best.width) / 2;
	tb_picture_place(sheets_page(sheets), &best, x, sheets->y, *scale);
	sheets->y += *scale * best.height;
	tb_picture_fini(&figure);
	tb_picture_fini(&best);
	tb_matrix_fini(&matrix);
	return status == TB_OK ? TB_OK : tb_fail_memory(error, "the matrix's picture");
}

int tb_print_answers(struct sheets *sheets, const struct tb_report *report,
	struct tb_run *run, bool full, struct printed_answers *answers,
	struct tb_error *error)
{
	const struct tb_findings *findings = tb_report_findings(report);
	double scale;
	const struct tb_run_info *info = tb_run_info(tb_report_run(report));
	const struct tb_type small = {TB_FONT_TEXT, 8, TB_ALIGN_LEFT, sheets_muted};
	const struct tb_type large = {TB_FONT_BOLD, 16, TB_ALIGN_LEFT, sheets_ink};
	char title[300], about[512];
	snprintf(about, sizeof about, "Tailback report, run %" PRId64 " on %s%s%s",
		info->id, info->network_name, tb_run_caution(info),
		info->complete ? "" : ": did not come to its end");
	sheets_flow(sheets, SHEET_MARGIN, SHEET_ROOM, small, 11, about);
	tb_report_title(report, title, sizeof title);
	sheets_flow(sheets, SHEET_MARGIN, SHEET_ROOM, large, 21, title);
	sheets->y += 4;
	// Put the figures side by side, four or five a line.
	const struct tb_type value = {TB_FONT_BOLD, 12, TB_ALIGN_LEFT, sheets_ink};
	const struct tb_type name = {TB_FONT_TEXT, 7, TB_ALIGN_LEFT, sheets_muted};
	struct tb_report_tile tiles[TB_REPORT_TILES];
	size_t n = tb_report_tiles(report, tiles), a_line = n > 6 ? 5 : n;
	double width = (double)SHEET_ROOM / (double)a_line;
	for (size_t first = 0; first < n; first += a_line) {
		size_t most = 1;
		for (size_t i = first; i < n && i < first + a_line; i++) {
			double x = SHEET_MARGIN + (double)(i - first) * width;
			struct tb_box box = {x, sheets->y, width - 6, 15};
			sheets_put(sheets, box, value, tiles[i].value);
			box = (struct tb_box){x, sheets->y + 15, width - 6, 8.5};
			size_t lines = sheets_put(sheets, box, name, tiles[i].name);
			most = lines > most ? lines : most;
		}
		sheets->y += 19 + 8.5 * (double)most;
	}
	print_found(sheets, findings, full, answers);
	print_tries(sheets, findings, full, answers);
	print_hottest(sheets, report);
	sheets_heading(sheets, "Congestion matrix", 0);
	int status = tb_print_matrix(sheets, run, &scale, error);
	answers->small_matrix = scale < SMALL;
	answers->with_time = sheets->y + TIME < SHEET_BOTTOM;
	if (status == TB_OK && answers->with_time)
		tb_print_time(sheets, report, fmin(SHEET_BOTTOM - sheets->y - 62, 60));
	return status;
}
