// The notes of a run, of which there may be any number.
#include "run_impl.h"

#include "array.h"

#include <stdlib.h>

static int note_add_row(struct tb_run_row *row, const char *path,
	struct tb_run_record *record, struct tb_error *error)
{
	uint32_t job = sqlite3_column_type(row->query, 0) == SQLITE_NULL
			       ? TB_ID_NONE
			       : tb_run_get_id(row, 0, record->info.n_jobs);
	if (row->bad)
		return tb_run_damaged(path, "note", error);
	char *text = tb_run_get_text(row, 1);
	if (!text || TB_ARRAY_RESERVE(&record->notes, &record->notes_room,
			     record->info.n_notes + 1) != TB_OK) {
		free(text);
		return tb_fail_memory_in(error, path, "a run");
	}
	record->notes[record->info.n_notes++] = (struct tb_run_note){job, text};
	record->info.notes = record->notes;
	return TB_OK;
}

int tb_run_notes_load(sqlite3 *db, const char *path, struct tb_run_record *record,
	struct tb_error *error)
{
	struct tb_run_row row = {.query = NULL};
	int status = tb_sql_prepare(db, path,
		"SELECT job, text FROM note WHERE run = ?1 ORDER BY note", &row.query,
		error);
	int code = SQLITE_DONE;
	sqlite3_bind_int64(row.query, 1, record->info.id);
	while (!status && (code = sqlite3_step(row.query)) == SQLITE_ROW)
		status = note_add_row(&row, path, record, error);
	if (!status && code != SQLITE_DONE)
		status = tb_sql_fail(error, db, path);
	sqlite3_finalize(row.query);
	return status;
}

void tb_run_notes_fini(struct tb_run_record *record)
{
	for (size_t i = 0; i < record->info.n_notes; i++)
		free(record->notes[i].text);
	free(record->notes);
}

const char *tb_run_note_about(const struct tb_run *run, const struct tb_run_note *note)
{
	return note->job == TB_ID_NONE ? tb_run_info(run)->network_name
				       : tb_run_job_name(run, note->job);
}
