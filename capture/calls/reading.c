#include "reading.h"

#include "units.h"

#include <stdio.h>
#include <string.h>

int tb_reading_breaks_off(const struct tb_reading *reading, int status, uint64_t *n_files,
	struct tb_error *error)
{
	if (reading->lenient) {
		++*n_files;
		return TB_OK;
	}
	if (error) {
		size_t n = strlen(error->text);
		snprintf(error->text + n, sizeof error->text - n,
			" (--lenient takes what is whole)");
	}
	return status;
}

bool tb_reading_is_for_calls(const struct tb_reading *reading)
{
	return reading->library || reading->n_collectives || reading->clone_ranks;
}

void tb_reading_note_breaks(struct tb_calls *calls, uint64_t n_files)
{
	char text[48];
	if (n_files > 0)
		tb_calls_note(calls, "%s before the end: what stands until there counts",
			tb_format_counted(n_files, "file breaks off|files break off",
				text, sizeof text));
}
