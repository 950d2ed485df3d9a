#include "packed_tables.h"

#include "link_pack.h"

#include <stdint.h>
#include <string.h>

enum { NUMBERS_MOST = 16, KEYS_MOST = 4, PLANS_MOST = 4 };

// What the plans select of a pack: its number, its text, and the keys of its first row.
enum { PACK_NUMBER, PACK_TEXT, PACK_KEYS };

// How rows are found: by which of the first columns, and the packs that may hold them,
// each with the number in its key, its text, and the keys of its first row.
struct packed_plan {
	unsigned columns; // a bit a column; their values are ?1, ?2, ...
	const char *sql;
	double cost;
	bool in_order;	// of the key
	bool backwards; // from the last pack on: those that cannot hold ?2 are passed
			// over
};

struct packed_table {
	const char *name;    // of the table with the packs
	const char *columns; // that it has unpacked
	int n_before;	     // columns before those that are packed: the run, the job
	int n_keys, n_numbers;
	struct packed_plan
		plans[PLANS_MOST]; // the best first; the last needs the run alone
};

#define FLOW_COLUMN(field, column, ...) ", " column
#define FLOW_COLUMNS			TB_FLOW_FIGURES(FLOW_COLUMN)
#define FLOWS				"SELECT job, flows, source, destination FROM flow_pack WHERE run = ?1 "
#define LINKS				"SELECT pack, links FROM total_pack WHERE run = ?1 "

static const struct packed_table flows = {.name = "flow_pack",
	.columns = "CREATE TABLE t (run, job, source, destination" FLOW_COLUMNS ")",
	.n_before = 2,
	.n_keys = 2,
	.n_numbers = TB_FLOW_NUMBERS,
	.plans = {{0xf,
			  FLOWS "AND job = ?2 AND (source, destination) <= (?3, ?4) "
				"ORDER BY source DESC, destination DESC LIMIT 1",
			  100, true, false},
		{0x9, FLOWS "ORDER BY job DESC, source DESC, destination DESC", 10000,
			false, true},
		{0x3, FLOWS "AND job = ?2 ORDER BY source, destination", 100000, true,
			false},
		{0x1, FLOWS "ORDER BY job, source, destination", 1000000, true, false}}};

static const struct packed_table totals = {.name = "total_pack",
	.columns = "CREATE TABLE t (run, link" TB_FIGURE_COLUMNS ")",
	.n_before = 1,
	.n_keys = 1,
	.n_numbers = 1 + TB_N_FIGURES,
	.plans = {{0x3, LINKS "AND pack = ?2 / 1024", 1000, true, false},
		{0x1, LINKS "ORDER BY pack", 1000000, true, false}}};
_Static_assert(TB_PACK_LINKS == 1024, "the plan by link divides by it");
_Static_assert(1 + (int)TB_N_FIGURES <= NUMBERS_MOST, "of links");
_Static_assert(TB_FLOW_NUMBERS <= NUMBERS_MOST, "of flows");

struct table {
	sqlite3_vtab base;
	sqlite3 *db;
	const struct packed_table *of;
};

struct packed_cursor {
	sqlite3_vtab_cursor base;
	const struct packed_plan *plan;
	sqlite3_stmt *packs;
	int64_t run, row;
	int64_t wanted;	    // ?2 of a plan that goes backwards
	int64_t number;	    // of the pack: its job, or place
	int64_t after[3];   // job and keys of the pack behind it, when going backwards
	bool begun, at_end; // with the pack; of all
	struct tb_row_pack pack;
	uint64_t numbers[NUMBERS_MOST];
};

static int packed_connect(sqlite3 *db, void *of, int argc, const char *const *argv,
	sqlite3_vtab **table, char **message)
{
	(void)argc, (void)argv, (void)message;
	int code = sqlite3_declare_vtab(db, ((const struct packed_table *)of)->columns);
	struct table *made = code ? NULL : sqlite3_malloc(sizeof *made);
	if (!made)
		return code ? code : SQLITE_NOMEM;
	*made = (struct table){.db = db, .of = of};
	*table = &made->base;
	return sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
}

static int packed_disconnect(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

// is_in_order returns whether rows sorted by all keys, of one run, are as asked for.
static bool is_in_order(const sqlite3_index_info *info, int n_columns)
{
	int next = 1;
	for (int i = 0; i < info->nOrderBy; i++, next++)
		if (info->aOrderBy[i].desc || info->aOrderBy[i].iColumn != next ||
			next >= n_columns)
			return false;
	return true;
}

static int packed_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct packed_table *of = ((const struct table *)base)->of;
	int place[KEYS_MOST] = {0}, n = 0, at = 0;
	// Store which constraints ask that a column equals something, -1 for none.
	unsigned found = 0;
	for (int i = 0; i < info->nConstraint; i++) {
		int column = info->aConstraint[i].iColumn;
		if (!info->aConstraint[i].usable || column < 0 || column >= KEYS_MOST ||
			info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		place[column] = i;
		found |= 1u << column;
	}
	if (!(found & 1))
		return SQLITE_CONSTRAINT;
	while (of->plans[at].columns & ~found)
		at++;
	const struct packed_plan *plan = &of->plans[at];
	for (int column = 0; column < KEYS_MOST; column++)
		if (plan->columns >> column & 1)
			info->aConstraintUsage[place[column]].argvIndex = ++n;
	info->idxNum = at;
	info->estimatedCost = plan->cost;
	info->estimatedRows = (sqlite3_int64)plan->cost;
	info->orderByConsumed =
		plan->in_order && is_in_order(info, of->n_before + of->n_keys);
	return SQLITE_OK;
}

static int packed_open(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor)
{
	(void)table;
	struct packed_cursor *made = sqlite3_malloc(sizeof *made);
	if (!made)
		return SQLITE_NOMEM;
	*made = (struct packed_cursor){0};
	*cursor = &made->base;
	return SQLITE_OK;
}

static int packed_close(sqlite3_vtab_cursor *base)
{
	sqlite3_finalize(((struct packed_cursor *)base)->packs);
	sqlite3_free(base);
	return SQLITE_OK;
}

// packed_failed passes on why SQLite could not read packs.
static int packed_failed(struct packed_cursor *cursor)
{
	struct table *table = (struct table *)cursor->base.pVtab;
	sqlite3_free(table->base.zErrMsg);
	table->base.zErrMsg = sqlite3_mprintf("%s", sqlite3_errmsg(table->db));
	return sqlite3_extended_errcode(table->db);
}

// is_elsewhere returns whether, going backwards, the flow to the wanted node is not in
// the pack: of its source alone, between its first flow and that of the pack behind it.
static bool is_elsewhere(struct packed_cursor *cursor)
{
	int64_t *after = cursor->after;
	const int64_t now[3] = {cursor->number,
		sqlite3_column_int64(cursor->packs, PACK_KEYS),
		sqlite3_column_int64(cursor->packs, PACK_KEYS + 1)};
	bool alone = cursor->begun && after[0] == now[0] && after[1] == now[1];
	bool elsewhere = alone && (cursor->wanted < now[2] || cursor->wanted >= after[2]);
	memcpy(after, now, sizeof now);
	return elsewhere;
}

// next_pack goes to the next pack that may hold a row; `at_end` when there is none.
static int next_pack(struct packed_cursor *cursor)
{
	int code;
	while ((code = sqlite3_step(cursor->packs)) == SQLITE_ROW) {
		cursor->number = sqlite3_column_int64(cursor->packs, PACK_NUMBER);
		bool skips = cursor->plan->backwards && is_elsewhere(cursor);
		cursor->begun = true;
		if (skips)
			continue;
		const char *text =
			(const char *)sqlite3_column_text(cursor->packs, PACK_TEXT);
		int n_bytes = sqlite3_column_bytes(cursor->packs, PACK_TEXT);
		cursor->pack =
			tb_row_pack_open(text ? text : "", text ? (size_t)n_bytes : 0);
		cursor->pack.picks = cursor->plan->backwards;
		cursor->pack.picked = (uint64_t)cursor->wanted;
		return SQLITE_OK;
	}
	cursor->at_end = true;
	return code == SQLITE_DONE ? SQLITE_OK : packed_failed(cursor);
}

// is_first returns whether a row may be the first of its pack.
static bool is_first(const struct packed_cursor *cursor)
{
	const struct packed_table *of = ((const struct table *)cursor->base.pVtab)->of;
	bool fits = true;
	for (int i = 0; i < of->n_keys && of == &flows; i++)
		fits &= cursor->numbers[i] ==
			(uint64_t)sqlite3_column_int64(cursor->packs, PACK_KEYS + i);
	return fits;
}

// packed_is_next returns whether a row may follow one with these keys.
static bool packed_is_next(
	const struct packed_cursor *cursor, const uint64_t before[KEYS_MOST], int n_keys)
{
	int i = 0;
	while (i < n_keys - 1 && cursor->numbers[i] == before[i])
		i++;
	return cursor->numbers[i] > before[i];
}

// packed_take_row takes the next row of the pack: 1, 0 at its end, negative when it is
// damaged.
static int packed_take_row(struct packed_cursor *cursor)
{
	const struct packed_table *of = ((const struct table *)cursor->base.pVtab)->of;
	bool first = !cursor->pack.begun;
	uint64_t before[KEYS_MOST];
	memcpy(before, cursor->numbers, sizeof before);
	int status = tb_row_pack_next(
		&cursor->pack, cursor->numbers, of->n_keys, of->n_numbers);
	if (status <= 0)
		return status;
	bool fits = first ? is_first(cursor) : packed_is_next(cursor, before, of->n_keys);
	// A link must be one of those of its pack.
	return fits && (((const struct table *)cursor->base.pVtab)->of != &totals ||
			       (cursor->number >= 0 &&
				       cursor->numbers[0] / TB_PACK_LINKS ==
					       (uint64_t)cursor->number))
		       ? 1
		       : -1;
}

static int packed_next(sqlite3_vtab_cursor *base)
{
	struct packed_cursor *cursor = (struct packed_cursor *)base;
	const int last_key = ((const struct table *)base->pVtab)->of->n_keys - 1;
	int code = SQLITE_OK;
	cursor->row++;
	while (code == SQLITE_OK && !cursor->at_end) {
		int status = packed_take_row(cursor);
		if (status < 0) {
			sqlite3_vtab *table = cursor->base.pVtab;
			sqlite3_free(table->zErrMsg);
			table->zErrMsg = sqlite3_mprintf(
				"a value in its table '%s' is out of range",
				((const struct table *)table)->of->name);
			return SQLITE_ERROR;
		}
		if (status > 0 && (!cursor->pack.picks || cursor->numbers[last_key] ==
								  cursor->pack.picked))
			return SQLITE_OK;
		if (status == 0)
			code = next_pack(cursor);
	}
	return code;
}

static int packed_filter(sqlite3_vtab_cursor *base, int index, const char *name, int argc,
	sqlite3_value **argv)
{
	(void)name;
	struct packed_cursor *cursor = (struct packed_cursor *)base;
	const struct table *table = (const struct table *)base->pVtab;
	const struct packed_plan *plan = &table->of->plans[index];
	int code = SQLITE_OK;
	if (cursor->plan != plan) {
		sqlite3_finalize(cursor->packs);
		cursor->packs = NULL;
		cursor->plan = NULL;
		code = sqlite3_prepare_v3(
			table->db, plan->sql, -1, 0, &cursor->packs, NULL);
	}
	if (code != SQLITE_OK)
		return packed_failed(cursor);
	cursor->plan = plan;
	sqlite3_reset(cursor->packs);
	// The last of a backwards plan is for rows, not for packs.
	for (int i = 0; i < argc && i < sqlite3_bind_parameter_count(cursor->packs); i++)
		sqlite3_bind_value(cursor->packs, i + 1, argv[i]);
	cursor->run = sqlite3_value_int64(argv[0]);
	cursor->wanted = argc > 1 ? sqlite3_value_int64(argv[1]) : 0;
	cursor->row = 0;
	cursor->begun = cursor->at_end = false;
	code = next_pack(cursor);
	return code == SQLITE_OK ? packed_next(base) : code;
}

static int packed_eof(sqlite3_vtab_cursor *base)
{
	return ((const struct packed_cursor *)base)->at_end;
}

static int packed_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	const struct packed_cursor *cursor = (const struct packed_cursor *)base;
	int n_before = ((const struct table *)base->pVtab)->of->n_before;
	if (column == 0)
		sqlite3_result_int64(context, cursor->run);
	else if (column < n_before)
		sqlite3_result_int64(context, cursor->number);
	else
		sqlite3_result_int64(
			context, (int64_t)cursor->numbers[column - n_before]);
	return SQLITE_OK;
}

static int packed_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
	*rowid = ((const struct packed_cursor *)base)->row;
	return SQLITE_OK;
}

// Without xCreate the tables need no declaration, and a file cannot contain them.
static const sqlite3_module packed_module = {
	.xConnect = packed_connect,
	.xDisconnect = packed_disconnect,
	.xBestIndex = packed_best_index,
	.xOpen = packed_open,
	.xClose = packed_close,
	.xFilter = packed_filter,
	.xNext = packed_next,
	.xEof = packed_eof,
	.xColumn = packed_column,
	.xRowid = packed_rowid,
};

int tb_packed_tables_register(sqlite3 *db)
{
	int code = sqlite3_create_module(
		db, "unpacked_flow", &packed_module, (void *)(uintptr_t)&flows);
	return code ? code
		    : sqlite3_create_module(db, "unpacked_total", &packed_module,
			      (void *)(uintptr_t)&totals);
}
