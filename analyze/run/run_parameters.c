// The parameters of a run's network, as its store has them: anything may stand there.
#include "run_impl.h"

#include <inttypes.h>
#include <stdlib.h>

// get_value reads column 1 of a row; a word is `text`.
static struct tb_value get_value(const struct tb_run_row *row, const char *text)
{
	switch (sqlite3_column_type(row->query, 1)) {
	case SQLITE_INTEGER:
		return (struct tb_value){.type = TB_VALUE_WHOLE,
			.whole = sqlite3_column_int64(row->query, 1)};
	case SQLITE_FLOAT:
		return (struct tb_value){.type = TB_VALUE_REAL,
			.real = sqlite3_column_double(row->query, 1)};
	default:
		return (struct tb_value){.type = TB_VALUE_WORD, .word = text};
	}
}

// keep_other takes a parameter that has no key here, for those who read lists. Returns
// whether it did.
static bool keep_other(struct tb_run_record *record, char *key, char *text)
{
	struct tb_run_info *info = &record->info;
	if (!record->others)
		record->others = calloc(TB_RUN_OTHERS_MOST, sizeof *record->others);
	if (!record->others || info->n_others == TB_RUN_OTHERS_MOST)
		return false;
	record->others[info->n_others++] = (struct tb_run_other){key, text};
	info->others = record->others;
	return true;
}

static int parameter_take_row(struct tb_run_row *row, struct tb_parameters_taken *taken,
	const char *path, struct tb_run_record *record, struct tb_error *error)
{
	char *key = tb_run_get_text(row, 0), *text = tb_run_get_text(row, 1);
	int status = TB_ENOMEM;
	if (key && text) {
		struct tb_value value = get_value(row, text);
		status = tb_parameters_take(taken, key, &value);
	}
	if (status != 0 || !keep_other(record, key, text)) {
		free(key);
		free(text);
	}
	if (status == TB_ENOMEM)
		return tb_fail_memory_in(error, path, "a run");
	return status < 0 ? tb_run_damaged(path, "run_parameter", error) : TB_OK;
}

int tb_run_parameters_load(sqlite3 *db, const char *path, struct tb_run_record *record,
	struct tb_error *error)
{
	struct tb_run_info *info = &record->info;
	struct tb_parameters_taken taken = {.params = &info->network};
	struct tb_run_row row = {.query = NULL};
	int status = tb_sql_prepare(db, path,
		"SELECT key, value FROM run_parameter WHERE run = ?1", &row.query, error);
	int code = SQLITE_DONE;
	sqlite3_bind_int64(row.query, 1, info->id);
	while (!status && (code = sqlite3_step(row.query)) == SQLITE_ROW)
		status = parameter_take_row(&row, &taken, path, record, error);
	if (!status && code != SQLITE_DONE)
		status = tb_sql_fail(error, db, path);
	sqlite3_finalize(row.query);
	const char *missing = tb_parameters_missing(&taken);
	if (!status && missing)
		return tb_fail_in(error, TB_EFORMAT, path,
			"is damaged: its table 'run_parameter' has no '%s' for run "
			"%" PRId64,
			missing, info->id);
	if (!status && info->network.n_rails == 0)
		return tb_run_damaged(path, "run_parameter", error);
	(void)tb_switching_caution(&info->network, info->caution, sizeof info->caution);
	return status;
}

size_t tb_run_parameters(
	const struct tb_run_info *info, struct tb_parameter list[TB_RUN_PARAMETERS_MOST])
{
	size_t n = tb_parameters(&info->network, list);
	for (size_t i = 0; i < info->n_others; i++)
		list[n++] = (struct tb_parameter){.section = "others",
			.key = info->others[i].key,
			.value = {.type = TB_VALUE_WORD, .word = info->others[i].text}};
	return n;
}
