// A list on paper. Its titles stand on every page; long names and titles break into
// lines, and columns that have no room side by side go on below, behind the first name.
// Private to viz/print/.
#ifndef TB_SHEET_TABLE_H
#define TB_SHEET_TABLE_H

#include "sheets.h"
#include "table.h"

// sheets_table prints a table, nothing of one without rows. A brief one has only the
// columns with these keys, up to NULL, and of these those that have room.
void sheets_table(
	struct sheets *sheets, const struct tb_table *table, const char *const *brief);

// sheets_table_height returns how high it is with its heading, on one page.
#define SHEET_HEADING 28
double sheets_table_height(struct sheets *sheets, const struct tb_table *table);

#endif
