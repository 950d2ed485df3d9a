#include "report_print.h"

#include "matrix_picture.h"
#include "report_parts.h"
#include "sheet_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// What is to be printed of the findings.
struct printed_findings {
	bool remedies; // what is worth trying, else what was found
	bool commands; // with the commands that try it
	size_t first;  // of these
	double bottom; // stop before this; SHEET_BOTTOM: go on on further pages
};

// What the first page left to the next ones.
struct printed_answers {
	size_t n_found;	    // printed
	bool with_commands; // all that is worth trying is printed, with commands
	bool with_time;
};

static void print_time(
	struct sheets *sheets, const struct tb_report *report, double height);

// The first page: what the run comes to, the hottest links, and the picture, which gets
// the room that is left.

#define SENTENCE      9.0 // size of the findings
#define LEADING	      11.5
#define COMMAND	      7.0   // size of their commands
#define RULE	      16.0  // width of a finding's number
#define HOTTEST	      5	    // links on the first page
#define PICTURE	      270.0 // height that the findings leave to what is below them
#define COMMANDS      70.0  // of which commands take so much, rather than a page
#define PICTURE_SCALE 0.68  // of a picture: its labels are as large as tables
#define SLACK	      11.0  // that a picture may take of the room above the foot
#define TIME	      84.0  // least height of the wait over time with its heading

// answer_height is the height of a finding with what stands below it.
static double answer_height(const struct tb_finding *finding, bool command)
{
	double width = SHEET_ROOM - RULE;
	size_t lines = sheets_n_lines(TB_FONT_TEXT, SENTENCE, width, finding->sentence);
	double height = (double)lines * LEADING + 3;
	if (command && finding->command)
		height += 9 * (double)sheets_n_lines(
				      TB_FONT_MONO, COMMAND, width, finding->command);
	return height;
}

// print_findings returns how many are printed then, those before the first, too.
static size_t print_findings(struct sheets *sheets, const struct tb_findings *findings,
	const struct printed_findings *asked)
{
	const struct tb_type rule = {TB_FONT_BOLD, 8, TB_ALIGN_LEFT, sheets_muted};
	const struct tb_type sentence = {
		TB_FONT_TEXT, SENTENCE, TB_ALIGN_LEFT, sheets_ink};
	const struct tb_type code = {TB_FONT_MONO, COMMAND, TB_ALIGN_LEFT, sheets_ink};
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
		char number[16];
		snprintf(number, sizeof number, "%zu", asked->remedies ? n : i + 1);
		sheets_put(sheets,
			(struct tb_box){SHEET_MARGIN, sheets->y, RULE - 4, LEADING}, rule,
			number);
		sheets_flow(sheets, x, width, sentence, LEADING, finding->sentence);
		if (asked->commands && finding->command)
			sheets_flow(sheets, x, width, code, 9, finding->command);
		sheets->y += 3;
	}
	return n;
}

static size_t print_n_findings(const struct tb_findings *findings, bool remedies)
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
	size_t n = print_n_findings(findings, false);
	char text[64];
	sheets_heading(sheets, "Findings", 0);
	answers->n_found = print_findings(sheets, findings, &asked);
	snprintf(text, sizeof text, "and %zu more%s", n - answers->n_found,
		full ? ", on the next page" : "");
	if (answers->n_found < n)
		print_note(sheets, text);
}

// print_tries prints what is worth trying: with the commands, if all have room.
static void print_tries(struct sheets *sheets, const struct tb_findings *findings,
	struct printed_answers *answers)
{
	struct printed_findings asked = {
		.remedies = true, .bottom = SHEET_BOTTOM - PICTURE};
	double needed = 40;
	size_t n = print_n_findings(findings, true);
	answers->with_commands = n == 0;
	if (n == 0 || sheets->y + 50 > asked.bottom)
		return;
	for (size_t i = 0; i < findings->n; i++)
		if (findings->list[i].remedy)
			needed += answer_height(&findings->list[i], true);
	asked.commands = sheets->y + needed <= asked.bottom + COMMANDS;
	asked.bottom += asked.commands ? COMMANDS : 0;
	answers->with_commands = asked.commands;
	sheets_heading(sheets, "Worth trying", 0);
	size_t printed = print_findings(sheets, findings, &asked);
	char text[64];
	snprintf(text, sizeof text, "and %zu more", n - printed);
	if (printed < n)
		print_note(sheets, text);
	if (!asked.commands)
		print_note(sheets, "The commands are on the next page.");
}

// print_first prints the first rows of a list that has `least` or more.
static void print_first(struct sheets *sheets, const struct tb_report *report,
	const char *list, size_t least, const char *const *columns)
{
	size_t n;
	const struct tb_table *tables = tb_report_tables(report, &n);
	for (size_t i = 0; i < n; i++) {
		struct tb_table few = tables[i];
		if (strcmp(few.type->name, list) != 0 || few.n_shown < least)
			continue;
		few.n_shown = few.n_shown < HOTTEST ? few.n_shown : HOTTEST;
		if (few.n_shown == tables[i].n_shown || least == 1)
			few.remark[0] = '\0';
		double needed = 40 + 11 * (double)few.n_shown;
		if (sheets->y + needed <= SHEET_BOTTOM)
			sheets_table(sheets, &few, columns);
	}
}

// print_lists prints the lists that have room, where nothing waited.
static void print_lists(struct sheets *sheets, const struct tb_report *report)
{
	size_t n;
	const struct tb_table *tables = tb_report_tables(report, &n);
	for (size_t i = 0; i < n; i++)
		if (sheets->y + sheets_table_height(sheets, &tables[i]) <= SHEET_BOTTOM)
			sheets_table(sheets, &tables[i], NULL);
}

// The matrix in what is left of a page, and on a page of its own.
struct printed_matrix {
	struct tb_picture here, own;
	bool blank;   // nothing is to be seen
	bool fits;    // here
	bool numbers; // are on the page of its own alone
};

static void printed_matrix_fini(struct printed_matrix *printed)
{
	tb_picture_fini(&printed->here);
	tb_picture_fini(&printed->own);
}

// texts_share returns which part of a picture is text.
static double texts_share(const struct tb_picture *picture)
{
	size_t n_texts = 0;
	for (size_t i = 0; i < picture->n_items; i++)
		n_texts += picture->items[i].kind == TB_ITEM_TEXT;
	return (double)n_texts / (double)picture->n_items;
}

static int draw_matrices(struct printed_matrix *printed, double left_h,
	struct tb_run *run, struct tb_error *error)
{
	const double heading_h = SHEET_HEADING, own_h = SHEET_BOTTOM - SHEET_MARGIN;
	struct tb_matrix matrix;
	struct tb_matrix_figure asked = {.run = run,
		.matrix = &matrix,
		.colours = TB_CIVIDIS,
		.theme = TB_LIGHT,
		.width = SHEET_ROOM / PICTURE_SCALE,
		.bare = true};
	int status = tb_matrix_init(&matrix, run, asked.window, TB_WAIT, error);
	if (status != TB_OK)
		return status;
	if (tb_matrix_is_blank(&matrix)) {
		tb_matrix_fini(&matrix);
		printed->blank = true;
		return TB_OK;
	}
	asked.height = (left_h - heading_h) / PICTURE_SCALE;
	status = tb_matrix_picture(&printed->here, &asked);
	asked.height = (own_h - heading_h) / PICTURE_SCALE;
	if (status == TB_OK)
		status = tb_matrix_picture(&printed->own, &asked);
	tb_matrix_fini(&matrix);
	printed->fits =
		printed->here.height * PICTURE_SCALE <= left_h - heading_h + SLACK;
	// A number is a text in a cell.
	printed->numbers = texts_share(&printed->own) > 2 * texts_share(&printed->here);
	return status == TB_OK ? TB_OK : tb_fail_memory(error, "the matrix's picture");
}

static void place_matrix(
	struct sheets *sheets, const struct tb_picture *figure, const char *heading)
{
	double height = PICTURE_SCALE * figure->height;
	sheets_heading(sheets, heading, height - SLACK);
	sheets_end_section(sheets);
	tb_picture_place(
		sheets_page(sheets), figure, SHEET_MARGIN, sheets->y, PICTURE_SCALE);
	sheets->y += height;
}

// print_answers prints the first page.
static int print_answers(struct sheets *sheets, const struct tb_report *report,
	struct tb_run *run, bool full, struct printed_answers *answers,
	struct tb_error *error)
{
	const struct tb_findings *findings = tb_report_findings(report);
	const struct tb_run_info *info = tb_run_info(tb_report_run(report));
	const struct tb_type small = {TB_FONT_TEXT, 8, TB_ALIGN_LEFT, sheets_muted};
	const struct tb_type large = {TB_FONT_BOLD, 16, TB_ALIGN_LEFT, sheets_ink};
	char title[300], about[512];
	snprintf(about, sizeof about,
		"Tailback report, run %" PRId64 " on %s%s, of %.10s%s", info->id,
		info->network_name, tb_run_caution(info), info->started_at,
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
	print_tries(sheets, findings, answers);
	static const char *const times[] = {"job", "first_ps", "last_ps", "run_ps",
		"alone_ps", "ideal_ps", "others_cost_ps", "network_costs_ps", NULL};
	static const char *const hottest[] = {"rank", "name", "wait_ps",
		"percent_of_wait", "cost_ps", "packets_waiting", "busy_percent",
		"stalled_percent", "longest_wait_ps", "largest_queue_bytes", NULL};
	print_first(sheets, report, "job-times", 2, times);
	print_first(sheets, report, "hot-links", 1, hottest);
	struct printed_matrix matrix = {.fits = false};
	int status = draw_matrices(&matrix, SHEET_BOTTOM - sheets->y, run, error);
	if (status == TB_OK && matrix.fits)
		place_matrix(sheets, &matrix.here, "Congestion matrix");
	answers->with_time = sheets->y + TIME < SHEET_BOTTOM;
	if (answers->with_time)
		print_time(sheets, report, fmin(SHEET_BOTTOM - sheets->y - 62, 60));
	if (status == TB_OK && !matrix.blank &&
		(!matrix.fits || (full && matrix.numbers)))
		place_matrix(sheets, &matrix.own,
			matrix.fits ? "Congestion matrix, with numbers"
				    : "Congestion matrix");
	if (!full && matrix.blank)
		print_lists(sheets, report);
	printed_matrix_fini(&matrix);
	return status;
}

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

// print_time draws the wait over time, `height` high, at the current place.
static void print_time(
	struct sheets *sheets, const struct tb_report *report, double height)
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
	char text[160], most[32];
	sheets_heading(sheets, "Wait over time", height + 30);
	snprintf(text, sizeof text, "Wait of all packets in a bin of %s; at most %s.",
		TB_TIME_TEXT(info->bin_ps),
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
	sheets_heading(sheets, "Notes", 30);
	tb_report_notes(report, put_note, sheets);
}

int tb_report_print(const struct tb_report *report, struct tb_run *run, bool full,
	FILE *stream, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct sheets sheets = {0};
	char title[300], foot[600];
	tb_report_title(report, title, sizeof title);
	snprintf(foot, sizeof foot, "run %" PRId64 " on %s, Tailback " TB_VERSION ": %s",
		info->id, info->network_name, title);
	sheets_turn(&sheets);
	if (sheets.n == 0)
		return tb_fail_memory(error, "a report");
	struct printed_answers answers = {.n_found = 0};
	int status = print_answers(&sheets, report, run, full, &answers, error);
	if (status == TB_OK && (full || !answers.with_commands)) {
		sheets_end_section(&sheets);
		// Print what the first page had no room for, below a matrix that had none
		// there; on the rest of a page that is not half full, the evidence.
		const struct tb_findings *findings = tb_report_findings(report);
		bool has_left = answers.n_found < print_n_findings(findings, false) ||
				!answers.with_commands;
		if ((has_left && sheets.n == 1) || sheets.y > SHEET_HEIGHT * 0.6)
			sheets_turn(&sheets);
		struct printed_findings asked = {.commands = true,
			.first = answers.n_found,
			.bottom = SHEET_BOTTOM};
		if (asked.first < print_n_findings(findings, false)) {
			sheets_heading(&sheets, "More findings", 40);
			print_findings(&sheets, findings, &asked);
		}
		asked.remedies = true;
		asked.first = 0;
		if (!answers.with_commands) {
			sheets_heading(&sheets, "Worth trying, with the commands", 40);
			print_findings(&sheets, findings, &asked);
		}
	}
	if (status == TB_OK && !answers.with_time &&
		(full || (sheets.n > 1 && sheets.y + TIME < SHEET_BOTTOM)))
		print_time(&sheets, report, 60);
	if (status == TB_OK && full) {
		// Print what is behind the answers.
		size_t n;
		const struct tb_table *tables = tb_report_tables(report, &n);
		for (size_t i = 0; i < n; i++)
			sheets_table(&sheets, &tables[i], NULL);
		report_print_notes(&sheets, report);
		sheets_heading(&sheets, "Configuration", 40);
		if (tb_report_configuration(report, put_report_item, &sheets) != TB_OK)
			status = tb_fail_memory(error, "a report");
	}
	if (status == TB_OK)
		status = sheets_finish(&sheets, foot, title, stream, error);
	sheets_fini(&sheets);
	return status;
}
