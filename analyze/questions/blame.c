#include "blame.h"

#include "array.h"
#include "run_impl.h"

#include <stdlib.h>

// The rows of blame_wait that a query selects.
struct rows {
	struct tb_blame_sample *rows;
	uint32_t n;
	size_t room;
};

static struct tb_blame_sample get_sample(const struct tb_run *run, struct tb_run_row *row)
{
	uint32_t n_nodes = run->record.info.n_nodes;
	uint32_t n_links = run->record.info.n_links;
	struct tb_blame_sample sample;
	sample.link.id = tb_run_get_id(row, 0, n_links);
	sample.root.id = tb_run_get_id(row, 1, n_links);
	sample.victim_job = tb_run_get_id_or_none(row, 2, TB_ID_NONE);
	sample.victim_source.id = tb_run_get_id_or_none(row, 3, n_nodes);
	sample.victim_destination.id = tb_run_get_id_or_none(row, 4, n_nodes);
	sample.culprit_job = tb_run_get_id_or_none(row, 5, TB_ID_NONE);
	sample.culprit_source.id = tb_run_get_id_or_none(row, 6, n_nodes);
	sample.culprit_destination.id = tb_run_get_id_or_none(row, 7, n_nodes);
	sample.n_waits = tb_run_get(row, 8, INT64_MAX);
	sample.wait_ps = tb_run_get(row, 9, INT64_MAX);
	return sample;
}

#define SELECT_ROWS                                                                      \
	"SELECT link, root, victim_job, victim_source, victim_destination, "             \
	"culprit_job, culprit_source, culprit_destination, waits, wait_ps "              \
	"FROM blame_wait WHERE run = ?1 "

static int no_memory(const struct tb_run *run, struct tb_error *error)
{
	return tb_fail_in(error, TB_ENOMEM, run->path, "no memory for blame");
}

// add_rows steps a query to its end.
static int add_rows(struct tb_run *run, struct tb_run_row *row, struct rows *found,
	struct tb_error *error)
{
	int status;
	while ((status = tb_run_next(run, "blame_wait", row, error)) > 0) {
		if (found->n == UINT32_MAX - 1 ||
			TB_ARRAY_RESERVE(&found->rows, &found->room,
				(size_t)found->n + 1) != TB_OK)
			return no_memory(run, error);
		found->rows[found->n++] = get_sample(run, row);
	}
	return status;
}

static int read_rows(
	struct tb_run *run, const char *sql, struct rows *found, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run, sql, &row, error);
	if (status)
		return status;
	status = add_rows(run, &row, found, error);
	sqlite3_finalize(row.query);
	return status;
}

static struct tb_blame_sum get_sum(const struct tb_run *run, struct tb_run_row *row)
{
	uint32_t n_nodes = run->record.info.n_nodes;
	uint32_t n_links = run->record.info.n_links;
	struct tb_blame_sum sum;
	sum.at.link.id = tb_run_get_id_or_none(row, 0, n_links);
	sum.at.root.id = tb_run_get_id_or_none(row, 1, n_links);
	sum.at.victim_job = tb_run_get_id_or_none(row, 2, TB_ID_NONE);
	sum.at.victim_source.id = tb_run_get_id_or_none(row, 3, n_nodes);
	sum.at.victim_destination.id = tb_run_get_id_or_none(row, 4, n_nodes);
	sum.at.culprit_job = tb_run_get_id_or_none(row, 5, TB_ID_NONE);
	sum.at.culprit_source.id = tb_run_get_id_or_none(row, 6, n_nodes);
	sum.at.culprit_destination.id = tb_run_get_id_or_none(row, 7, n_nodes);
	sum.at.n_waits = tb_run_get(row, 8, INT64_MAX);
	sum.at.wait_ps = tb_run_get(row, 9, INT64_MAX);
	sum.n_links = tb_run_get32(row, 10, UINT32_MAX);
	sum.heaviest = sum.at;
	sum.heaviest.link.id = tb_run_get_id(row, 11, n_links);
	sum.heaviest.root.id = tb_run_get_id(row, 12, n_links);
	sum.heaviest.victim_job = tb_run_get_id_or_none(row, 13, TB_ID_NONE);
	sum.heaviest.victim_source.id = tb_run_get_id_or_none(row, 14, n_nodes);
	sum.heaviest.victim_destination.id = tb_run_get_id_or_none(row, 15, n_nodes);
	return sum;
}

// has_keys returns whether a sum has the ids that readers of its list look up.
static bool has_keys(const struct tb_blame_sum *sum, enum tb_blame_list list)
{
	unsigned keys = tb_blame_list_keys(list);
	return (!(keys & TB_BLAME_LINK) || sum->at.link.id != TB_ID_NONE) &&
	       (!(keys & TB_BLAME_ROOT) || sum->at.root.id != TB_ID_NONE);
}

// read_list reads the first `top` sums of a list, or all, as the store keeps them.
static int read_list(struct tb_run *run, enum tb_blame_list list, uint32_t top,
	struct tb_blame_listed *listed, struct tb_error *error)
{
	struct tb_run_row row;
	size_t room = 0;
	int status = tb_run_query(run,
		"SELECT link, root, victim_job, victim_source, victim_destination, "
		"culprit_job, culprit_source, culprit_destination, waits, wait_ps, "
		"links, most_link, most_root, most_victim_job, most_victim_source, "
		"most_victim_destination, n FROM blame_top WHERE run = ?1 AND list = ?2 "
		"AND rank <= ?3 ORDER BY rank",
		&row, error);
	if (status)
		return status;
	sqlite3_bind_text(row.query, 2, tb_blame_list_name(list), -1, SQLITE_STATIC);
	sqlite3_bind_int64(row.query, 3, top ? top : UINT32_MAX);
	while ((status = tb_run_next(run, "blame_top", &row, error)) > 0) {
		if (TB_ARRAY_RESERVE(&listed->sums, &room, (size_t)listed->n + 1) !=
			TB_OK) {
			status = no_memory(run, error);
			break;
		}
		struct tb_blame_sum *sum = &listed->sums[listed->n++];
		*sum = get_sum(run, &row);
		listed->n_all = tb_run_get32(&row, 16, UINT32_MAX);
		row.bad |= !has_keys(sum, list);
	}
	sqlite3_finalize(row.query);
	return status;
}

static bool is_enough(const struct tb_blame_listed *listed, uint32_t top)
{
	return listed->n > 0 && (listed->n >= listed->n_all || (top && listed->n >= top));
}

// read_lists reads the lists that the store keeps; `found` returns whether they have all
// that is asked for.
static int read_lists(struct tb_run *run, uint32_t top, struct tb_blame_lists *lists,
	bool *found, struct tb_error *error)
{
	*found = true;
	for (int i = 0; *found && i < TB_BLAME_LISTS; i++) {
		bool all = i == TB_BLAME_JOBS || i == TB_BLAME_ROOT_JOBS;
		struct tb_blame_listed *listed = &lists->of[i];
		int status = read_list(
			run, (enum tb_blame_list)i, all ? 0 : top, listed, error);
		if (status)
			return status;
		// The list by root and jobs has all of the roots that are kept.
		*found = i == TB_BLAME_ROOT_JOBS || is_enough(listed, all ? 0 : top);
	}
	return TB_OK;
}

// add_up makes the lists from all rows.
static int add_up(struct tb_run *run, uint32_t top, struct tb_blame_lists *lists,
	struct tb_error *error)
{
	struct rows all = {0};
	int status = read_rows(run, SELECT_ROWS, &all, error);
	for (int i = 0; !status && i < TB_BLAME_LISTS; i++) {
		struct tb_blame_listed *listed = &lists->of[i];
		if (tb_blame_sums(all.rows, all.n,
			    tb_blame_list_keys((enum tb_blame_list)i), &listed->sums,
			    &listed->n_all) != TB_OK)
			status = no_memory(run, error);
		bool whole = i == TB_BLAME_JOBS || i == TB_BLAME_ROOT_JOBS || top == 0;
		listed->n = whole || listed->n_all < top ? listed->n_all : top;
	}
	free(all.rows);
	return status;
}

// leave_listed leaves the sums by root and jobs of the listed roots.
static int leave_listed(
	const struct tb_run *run, struct tb_blame_lists *lists, struct tb_error *error)
{
	const struct tb_blame_listed *roots = &lists->of[TB_BLAME_ROOTS];
	struct tb_blame_listed *jobs = &lists->of[TB_BLAME_ROOT_JOBS];
	bool *is_listed = calloc((size_t)run->record.info.n_links + 1, sizeof *is_listed);
	uint32_t n = 0;
	if (!is_listed)
		return no_memory(run, error);
	for (uint32_t i = 0; i < roots->n; i++)
		is_listed[roots->sums[i].at.root.id] = true;
	for (uint32_t i = 0; i < jobs->n; i++)
		if (is_listed[jobs->sums[i].at.root.id])
			jobs->sums[n++] = jobs->sums[i];
	jobs->n = n;
	free(is_listed);
	return TB_OK;
}

int tb_blame_lists_init(struct tb_blame_lists *lists, struct tb_run *run, uint32_t top,
	struct tb_error *error)
{
	struct tb_blame_lists made = {0};
	bool found = false;
	int status = read_lists(run, top, &made, &found, error);
	if (!status && !found) {
		tb_blame_lists_fini(&made);
		status = add_up(run, top, &made, error);
	}
	if (!status)
		status = leave_listed(run, &made, error);
	if (status) {
		tb_blame_lists_fini(&made);
		return status;
	}
	for (uint32_t i = 0; i < made.of[TB_BLAME_JOBS].n; i++)
		made.wait_ps += (double)made.of[TB_BLAME_JOBS].sums[i].at.wait_ps;
	*lists = made;
	return TB_OK;
}

void tb_blame_lists_fini(struct tb_blame_lists *lists)
{
	for (int i = 0; i < TB_BLAME_LISTS; i++)
		free(lists->of[i].sums);
	*lists = (struct tb_blame_lists){0};
}

int tb_blame_of_links(struct tb_run *run, const struct tb_link *links, uint32_t n_links,
	struct tb_blame_sum **sums, uint32_t *n, struct tb_error *error)
{
	struct tb_run_row row;
	struct rows found = {0};
	int status = tb_run_query(run, SELECT_ROWS "AND link = ?2", &row, error);
	if (status)
		return status;
	for (uint32_t i = 0; !status && i < n_links; i++) {
		sqlite3_bind_int64(row.query, 2, links[i].id);
		status = add_rows(run, &row, &found, error);
		sqlite3_reset(row.query);
	}
	sqlite3_finalize(row.query);
	if (!status && tb_blame_sums(found.rows, found.n,
			       TB_BLAME_LINK | TB_BLAME_VICTIM_JOB | TB_BLAME_CULPRIT_JOB,
			       sums, n) != TB_OK)
		status = no_memory(run, error);
	free(found.rows);
	return status;
}

int tb_blame_all(struct tb_run *run, struct tb_blame_sample **rows, uint32_t *n,
	struct tb_error *error)
{
	struct rows found = {0};
	int status = read_rows(run,
		SELECT_ROWS "ORDER BY wait_ps DESC, link, root, 3, 4, 5, 6, 7, 8", &found,
		error);
	if (status) {
		free(found.rows);
		return status;
	}
	*rows = found.rows;
	*n = found.n;
	return TB_OK;
}
