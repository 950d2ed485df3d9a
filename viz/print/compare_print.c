#include "compare_print.h"

#include "compare_parts.h"
#include "sheet_table.h"

static void put_side(void *context, const char *text)
{
	const struct tb_type plain = {TB_FONT_TEXT, 9, TB_ALIGN_LEFT, sheets_ink};
	sheets_flow(context, SHEET_MARGIN, SHEET_ROOM, plain, 12, text);
}

static void put_job(void *context, const char *text)
{
	struct sheets *sheets = context;
	const struct tb_type plain = {TB_FONT_TEXT, 9, TB_ALIGN_LEFT, sheets_ink};
	sheets_flow(sheets, SHEET_MARGIN, SHEET_ROOM, plain, 11.5, text);
	sheets->y += 3;
}

int tb_compare_print(
	const struct tb_compare *compare, FILE *stream, struct tb_error *error)
{
	static const char title[] = "What changed";
	const struct tb_type small = {TB_FONT_TEXT, 8, TB_ALIGN_LEFT, sheets_muted};
	const struct tb_type large = {TB_FONT_BOLD, 16, TB_ALIGN_LEFT, sheets_ink};
	const struct tb_type answer = {TB_FONT_TEXT, 10.5, TB_ALIGN_LEFT, sheets_ink};
	struct sheets sheets = {0};
	size_t n;
	const struct tb_table *tables = tb_compare_tables(compare, &n);
	sheets_turn(&sheets);
	if (sheets.n == 0)
		return tb_fail_memory(error, "a comparison");
	sheets_flow(&sheets, SHEET_MARGIN, SHEET_ROOM, small, 11,
		"Tailback comparison: A is before, B is after");
	sheets_flow(&sheets, SHEET_MARGIN, SHEET_ROOM, large, 21, title);
	sheets.y += 4;
	if (tb_compare_put_sides(compare, put_side, &sheets) != TB_OK)
		sheets.status = TB_ENOMEM;
	sheets.y += 8;
	sheets_flow(&sheets, SHEET_MARGIN, SHEET_ROOM, answer, 14,
		tb_compare_verdict(compare));
	sheets.y += 6;
	tb_compare_put_jobs(compare, put_job, &sheets);
	for (size_t i = 0; i < n; i++)
		sheets_table(&sheets, &tables[i], NULL);
	int status = sheets_finish(
		&sheets, "Tailback " TB_VERSION ": what changed", title, stream, error);
	sheets_fini(&sheets);
	return status;
}
