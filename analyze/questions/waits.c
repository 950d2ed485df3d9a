#include "waits.h"
#include "grouped.h"
#include "heavy_waits.h"
#include "job_waits.h"
#include "map.h"
#include "roots.h"
#include "run_impl.h"
#include "stored_tables.h"
#include "trees.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A list of waits, read by one SELECT, longest first: records of a table, one column of
// which is wait_ps. `rows` is the SELECT of them all: ?1 is the run, ?2 what `key` says,
// ?3 and ?4 the first slice of time and the one after the last.
struct tb_waits_query {
	const struct tb_stored_table *table;
	const char *rows;
	const char *ids; // what it is sorted by where waits are equal: "link, job"
	int64_t key;
	const char *word; // ?2 instead of `key`, unless NULL
};

// The widths of slices: of root_bin and job_wait, and of blame_bin and tree_bin; 0: none.
struct waits_widths {
	tb_time_ps sum_ps, heaviest_ps;
};

// tb_waits_read begins to read rows as tb_run_read does. Waits without a job are of job
// 0.
struct tb_row_reader tb_waits_read(struct tb_run *run,
	const struct tb_stored_table *table, const char *from, struct tb_error *error);

static int waits_widths(struct tb_run *run, struct waits_widths *widths,
	struct tb_error *error) TB_MUST_USE;

struct tb_span tb_span_of_window(const struct tb_run *run, struct tb_window window)
{
	const struct tb_run_info *info = tb_run_info(run);
	if (window.first_bin == 0 &&
		(window.end_bin == 0 || window.end_bin >= info->n_bins))
		return (struct tb_span){0, 0};
	tb_time_ps from_ps = (tb_time_ps)window.first_bin * info->bin_ps;
	return (struct tb_span){from_ps, from_ps + tb_run_window_ps(run, window)};
}

// What rows come to: total() is of floating point, as a sum of a damaged file may not fit
// an integer.
struct waits_sum {
	uint64_t n;
	double wait_ps;
};
#define RECORD struct waits_sum
static const struct tb_stored_table sum_of_rows =
	TB_STORED_TABLE("blame", RECORD, TB_COLUMN("count(*)", n),
		TB_COLUMN_AS(TB_STORED_BIG_REAL, "total(wait_ps)", wait_ps));
static const struct tb_stored_table one_number = TB_STORED_TABLE(
	"blame", RECORD, TB_COLUMN_AS(TB_STORED_BIG_REAL, "number", wait_ps));
#undef RECORD

struct tb_row_reader tb_waits_read(struct tb_run *run,
	const struct tb_stored_table *table, const char *from, struct tb_error *error)
{
	struct tb_row_reader rows = tb_run_read(run, table, from, error);
	rows.limits.n_jobs += rows.limits.n_jobs == 0;
	return rows;
}

// waits_number reads the one `number` that a SELECT in brackets has of the run; `key`
// is ?2. 0 when there is no row.
static int waits_number(struct tb_run *run, const char *sql, int64_t key, double *number,
	struct tb_error *error)
{
	struct waits_sum sum = {.wait_ps = 0};
	struct tb_row_reader rows = tb_run_read(run, &one_number, sql, error);
	tb_row_bind(&rows, 2, key);
	(void)tb_row_read(&rows, &sum);
	*number = sum.wait_ps;
	return tb_row_reader_end(&rows);
}

#define RECORD struct waits_widths
static const struct tb_stored_table slice_widths = TB_STORED_TABLE("run", RECORD,
	TB_COLUMN("root_bin_ps", sum_ps), TB_COLUMN("tree_bin_ps", heaviest_ps));
#undef RECORD

static int waits_widths(
	struct tb_run *run, struct waits_widths *widths, struct tb_error *error)
{
	struct tb_row_reader rows =
		tb_run_read(run, &slice_widths, "run WHERE run = ?1", error);
	if (tb_row_read(&rows, widths) &&
		(widths->heaviest_ps == 0 ? widths->sum_ps != 0
					  : widths->sum_ps % widths->heaviest_ps != 0))
		tb_row_damaged(&rows);
	return tb_row_reader_end(&rows);
}

// waits_slice_end returns the slice after the last that a span which ends at `to_ps`
// touches.
static int64_t waits_slice_end(tb_time_ps to_ps, tb_time_ps width_ps)
{
	return to_ps > 0 ? (to_ps - 1) / width_ps + 1 : 0;
}

// waits_span_of returns the time of the slices [from, end); what is beyond the largest
// time ends there.
static struct tb_span waits_span_of(uint64_t from, uint64_t end, tb_time_ps width_ps)
{
	// The last slice of a run of months may end beyond what times can hold.
	uint64_t most = width_ps > 0 ? INT64_MAX / (uint64_t)width_ps : 0;
	return (struct tb_span){
		from <= most ? (tb_time_ps)from * width_ps : TB_TIME_NEVER,
		end <= most ? (tb_time_ps)end * width_ps : TB_TIME_NEVER};
}

// waits_slices sets listed->span to that of the slices which the span touches.
static int waits_slices(struct tb_run *run, struct tb_span span, struct tb_listed *listed,
	struct tb_error *error)
{
	struct waits_widths widths = {0, 0};
	int status = waits_widths(run, &widths, error);
	bool all = span.from_ps <= 0 && span.to_ps <= 0;
	if (status || all || widths.sum_ps == 0)
		return status;
	int64_t first = span.from_ps / widths.sum_ps;
	int64_t end = span.to_ps > span.from_ps
			      ? waits_slice_end(span.to_ps, widths.sum_ps)
			      : first + 1;
	listed->span = waits_span_of((uint64_t)first, (uint64_t)end, widths.sum_ps);
	return TB_OK;
}

struct list_rest {
	uint64_t floor_ps, rest_ps;
};
#define RECORD struct list_rest
static const struct tb_stored_table blame_lists = TB_STORED_TABLE("blame_list", RECORD,
	TB_COLUMN("floor_ps", floor_ps), TB_COLUMN("rest_ps", rest_ps));
#undef RECORD

// waits_left_out reads what a list of the heaviest leaves out.
static int waits_left_out(struct tb_run *run, const char *list, struct tb_listed *listed,
	struct tb_error *error)
{
	struct list_rest row;
	struct tb_row_reader rows = tb_run_read(
		run, &blame_lists, "blame_list WHERE run = ?1 AND list = ?2", error);
	tb_row_bind_text(&rows, 2, list);
	if (tb_row_read(&rows, &row)) {
		listed->floor_ps = row.floor_ps;
		listed->rest_ps = (double)row.rest_ps;
	}
	return tb_row_reader_end(&rows);
}

// read_waits begins to read what `table` has of the rows of a list.
static struct tb_row_reader read_waits(struct tb_run *run,
	const struct tb_waits_query *query, const struct tb_listed *listed,
	const struct tb_stored_table *table, const char *order, struct tb_error *error)
{
	struct waits_widths widths = {0, 0};
	int status = waits_widths(run, &widths, error);
	char *from = sqlite3_mprintf("(%s) %s", query->rows, order);
	struct tb_row_reader rows = tb_waits_read(run, table, from ? from : "run", error);
	if (status)
		rows.status = status;
	else if (!from)
		tb_row_no_memory(&rows, "blame");
	sqlite3_free(from);
	int64_t first = 0, end = INT64_MAX;
	if (listed->span.to_ps && widths.sum_ps) {
		first = listed->span.from_ps / widths.sum_ps;
		end = waits_slice_end(listed->span.to_ps, widths.sum_ps);
	}
	if (query->word)
		tb_row_bind_text(&rows, 2, query->word);
	else
		tb_row_bind(&rows, 2, query->key);
	tb_row_bind(&rows, 3, first);
	tb_row_bind(&rows, 4, end);
	return rows;
}

static int sum_up_waits(struct tb_run *run, const struct tb_waits_query *query,
	struct tb_listed *listed, struct tb_error *error)
{
	struct waits_sum sum = {0, 0};
	struct tb_row_reader rows =
		read_waits(run, query, listed, &sum_of_rows, "", error);
	(void)tb_row_read(&rows, &sum);
	listed->n_all = sum.n;
	listed->whole_ps = sum.wait_ps;
	return tb_row_reader_end(&rows);
}

// waits_whole sets listed->whole_ps to all wait within listed->span.
static int waits_whole(
	struct tb_run *run, struct tb_listed *listed, struct tb_error *error)
{
	// Sums by jobs are the fewest.
	static const struct tb_waits_query waits = {
		.rows = "SELECT wait_ps FROM job_wait WHERE run = ?1 AND bin >= ?3 AND "
			"bin < ?4"};
	struct tb_listed sums = {.span = listed->span};
	int status = sum_up_waits(run, &waits, &sums, error);
	listed->whole_ps = sums.whole_ps;
	return status;
}

// waits_list reads the first `top` rows (0: all) into a malloc'ed array that the
// caller frees, and fills in n, n_all, listed_ps and whole_ps, which is the wait of all
// rows. The span in `listed` tells the slices; set it by waits_slices.
static int waits_list(struct tb_run *run, const struct tb_waits_query *query,
	uint32_t top, void **rows, struct tb_listed *listed, struct tb_error *error)
{
	char order[256];
	size_t n = 0, room = 0, wait = 0;
	snprintf(order, sizeof order, "ORDER BY wait_ps DESC, %s LIMIT %lld", query->ids,
		top ? (long long)top : -1LL);
	*rows = NULL;
	int status = sum_up_waits(run, query, listed, error);
	if (status)
		return status;
	struct tb_row_reader reader =
		read_waits(run, query, listed, query->table, order, error);
	status = tb_row_read_all(&reader, rows, &n, &room, "blame");
	while (strcmp(query->table->columns[wait].name, "wait_ps") != 0)
		wait++;
	const char *first = (const char *)*rows + query->table->columns[wait].at;
	for (size_t i = 0; i < n && !status; i++)
		listed->listed_ps += (double)*(
			const uint64_t *)(const void *)(first + i * query->table->size);
	listed->n = status ? 0 : (uint32_t)n;
	if (status) {
		free(*rows);
		*rows = NULL;
	}
	return status;
}

#define FLOWS                                                                            \
	"victim_job, victim_source, victim_destination, "                                \
	"culprit_job, culprit_source, culprit_destination"
#define BY_LINK "SELECT link, " FLOWS ", waits, wait_ps, error_ps FROM blame_wait "

static int read_heavy_waits(struct tb_heavy_waits *waits, struct tb_run *run,
	const struct tb_waits_query *query, uint32_t top, struct tb_error *error)
{
	void *rows = NULL;
	int status = waits_list(run, query, top, &rows, &waits->listed, error);
	waits->rows = rows;
	return status;
}

static int hand_over_heavy_waits(
	struct tb_heavy_waits *to, struct tb_heavy_waits *made, int status)
{
	if (status)
		tb_heavy_waits_fini(made);
	else
		*to = *made;
	return status;
}

int tb_heavy_waits_init(struct tb_heavy_waits *waits, struct tb_run *run, uint32_t top,
	struct tb_error *error)
{
	struct tb_heavy_waits made = {0};
	const struct tb_waits_query query = {.table = &tb_blame_waits_stored,
		.rows = BY_LINK "WHERE run = ?1",
		.ids = "link, " FLOWS};
	int status = read_heavy_waits(&made, run, &query, top, error);
	if (!status)
		status = waits_left_out(run, "blame_wait", &made.listed, error);
	made.listed.whole_ps += made.listed.rest_ps;
	return hand_over_heavy_waits(waits, &made, status);
}

// leave_out_waits sets what the rows that a store keeps leave out of `whole_ps`.
static void leave_out_waits(struct tb_listed *listed, double whole_ps)
{
	double kept_ps = listed->whole_ps;
	listed->rest_ps = whole_ps > kept_ps ? whole_ps - kept_ps : 0;
	listed->whole_ps = whole_ps;
}

int tb_heavy_waits_at(struct tb_heavy_waits *waits, struct tb_run *run,
	struct tb_link link, uint32_t top, struct tb_error *error)
{
	struct tb_heavy_waits made = {0};
	double whole_ps = 0;
	const struct tb_waits_query query = {.table = &tb_blame_waits_stored,
		.rows = BY_LINK "WHERE run = ?1 AND link = ?2",
		.ids = FLOWS,
		.key = link.id};
	int status = read_heavy_waits(&made, run, &query, top, error);
	if (!status)
		status = waits_left_out(run, "blame_wait", &made.listed, error);
	if (!status)
		status = waits_number(run,
			"(SELECT total(came_by_ps) AS number FROM unpacked_total WHERE "
			"run = ?1 AND link = ?2)",
			link.id, &whole_ps, error);
	leave_out_waits(&made.listed, whole_ps);
	return hand_over_heavy_waits(waits, &made, status);
}

// add_missing_waits adds to the errors what may have been left out: a pair that was kept
// in n_waits slices, or at n_waits links, of n may have waited for the floor in each of
// the others.
static void add_missing_waits(struct tb_heavy_waits *waits, uint64_t n, uint64_t floor_ps)
{
	for (uint32_t i = 0; i < waits->listed.n; i++) {
		struct tb_blame_sample *row = &waits->rows[i];
		uint64_t n_missing = n > row->n_waits ? n - row->n_waits : 0;
		row->n_waits = 0;
		if (floor_ps && n_missing > (INT64_MAX - row->error_ps) / floor_ps)
			row->error_ps = INT64_MAX;
		else
			row->error_ps += n_missing * floor_ps;
	}
	waits->listed.floor_ps =
		floor_ps && n > INT64_MAX / floor_ps ? INT64_MAX : n * floor_ps;
}

#define INTO_LINKS                                                                       \
	"FROM topology_link WHERE topology = " TB_RUN_TOPOLOGY " AND to_switch = ?2"
#define INTO "(SELECT link " INTO_LINKS ")"

// ?2 is the switch.
static const struct tb_waits_query into_switch = {.table = &tb_blame_waits_stored,
	.rows = "SELECT -1 AS link, " FLOWS ", count(*) AS waits, sum(wait_ps) AS "
		"wait_ps, sum(error_ps) AS error_ps FROM blame_wait WHERE run = ?1 AND "
		"link IN " INTO " GROUP BY " FLOWS,
	.ids = FLOWS};

int tb_heavy_waits_into(struct tb_heavy_waits *waits, struct tb_run *run,
	struct tb_switch sw, uint32_t top, struct tb_error *error)
{
	struct tb_heavy_waits made = {0};
	struct tb_waits_query query = into_switch;
	double whole_ps = 0, n_links = 0;
	query.key = sw.id;
	int status = read_heavy_waits(&made, run, &query, top, error);
	if (!status)
		status = waits_left_out(run, "blame_wait", &made.listed, error);
	if (!status)
		status = waits_number(run,
			"(SELECT total(came_by_ps) AS number FROM unpacked_total WHERE "
			"run = ?1 AND link IN " INTO ")",
			sw.id, &whole_ps, error);
	if (!status)
		status = waits_number(run, "(SELECT count(*) AS number " INTO_LINKS ")",
			sw.id, &n_links, error);
	leave_out_waits(&made.listed, whole_ps);
	add_missing_waits(&made, (uint64_t)n_links, made.listed.floor_ps);
	return hand_over_heavy_waits(waits, &made, status);
}

#define RECORD struct tb_blame_sample
static const struct tb_stored_table waits_of_bins = TB_STORED_TABLE("blame_bin", RECORD,
	TB_COLUMN_WITH("link", link, TB_STORED_OR_MINUS),
	TB_COLUMN_AS(TB_STORED_JOB, "victim_job", victim_job),
	TB_COLUMN("victim_source", victim_source),
	TB_COLUMN("victim_destination", victim_destination),
	TB_COLUMN_AS(TB_STORED_JOB, "culprit_job", culprit_job),
	TB_COLUMN("culprit_source", culprit_source),
	TB_COLUMN("culprit_destination", culprit_destination),
	TB_COLUMN("waits", n_waits), TB_COLUMN("wait_ps", wait_ps),
	TB_COLUMN("error_ps", error_ps));
#undef RECORD

// The slices of sums are those of the heaviest, or several of them together: ?2.
static const struct tb_waits_query of_span = {.table = &waits_of_bins,
	.rows = "SELECT -1 AS link, " FLOWS ", count(*) AS waits, sum(wait_ps) AS "
		"wait_ps, sum(error_ps) AS error_ps FROM blame_bin WHERE run = ?1 AND "
		"bin >= ?3 * ?2 AND bin / ?2 < ?4 GROUP BY " FLOWS,
	.ids = FLOWS};

// count_slices counts those that a span covers.
static uint64_t count_slices(
	const struct tb_run *run, struct tb_span span, tb_time_ps width_ps)
{
	tb_time_ps simulated_ps = run->record.info.simulated_ps;
	if (width_ps == 0)
		return 0;
	tb_time_ps covered_ps = span.to_ps ? span.to_ps - span.from_ps : simulated_ps;
	return (uint64_t)waits_slice_end(covered_ps, width_ps);
}

int tb_heavy_waits_during(struct tb_heavy_waits *waits, struct tb_run *run,
	struct tb_span span, uint32_t top, struct tb_error *error)
{
	struct tb_heavy_waits made = {0};
	struct waits_widths widths = {0, 0};
	struct tb_waits_query query = of_span;
	struct tb_listed whole = {0};
	int status = waits_widths(run, &widths, error);
	query.key = widths.heaviest_ps ? widths.sum_ps / widths.heaviest_ps : 1;
	if (!status)
		status = waits_slices(run, span, &made.listed, error);
	whole.span = made.listed.span;
	if (!status)
		status = read_heavy_waits(&made, run, &query, top, error);
	if (!status)
		status = waits_whole(run, &whole, error);
	leave_out_waits(&made.listed, whole.whole_ps);
	if (!status)
		status = waits_left_out(run, "blame_bin", &whole, error);
	add_missing_waits(
		&made, count_slices(run, whole.span, widths.heaviest_ps), whole.floor_ps);
	return hand_over_heavy_waits(waits, &made, status);
}

void tb_heavy_waits_fini(struct tb_heavy_waits *waits)
{
	free(waits->rows);
	*waits = (struct tb_heavy_waits){0};
}

#define RECORD struct tb_group_sample
#define GROUPS(type)                                                                     \
	TB_STORED_TABLE("blame_group", RECORD, TB_COLUMN_AS(type, "victim", victim),     \
		TB_COLUMN_AS(type, "culprit", culprit), TB_COLUMN("waits", n_waits),     \
		TB_COLUMN("wait_ps", wait_ps), TB_COLUMN("error_ps", error_ps))
static const struct tb_stored_table groups_of_nodes = GROUPS(TB_STORED_NODE);
static const struct tb_stored_table groups_of_switches = GROUPS(TB_STORED_SWITCH);
#undef RECORD

int tb_groups_init(struct tb_groups *groups, struct tb_run *run,
	enum tb_grouping grouping, uint32_t top, struct tb_error *error)
{
	struct tb_groups made = {.grouping = grouping};
	bool nodes = grouping == TB_GROUP_DESTINATION;
	const struct tb_waits_query query = {
		.table = nodes ? &groups_of_nodes : &groups_of_switches,
		.rows = "SELECT victim, culprit, waits, wait_ps, error_ps FROM "
			"blame_group WHERE run = ?1 AND grouping = ?2",
		.ids = "victim, culprit",
		.word = tb_grouping_name(grouping)};
	void *rows = NULL;
	int status = waits_list(run, &query, top, &rows, &made.listed, error);
	made.rows = rows;
	if (!status)
		status = waits_left_out(
			run, tb_grouping_name(grouping), &made.listed, error);
	made.listed.whole_ps += made.listed.rest_ps;
	if (status)
		tb_groups_fini(&made);
	else
		*groups = made;
	return status;
}

void tb_groups_fini(struct tb_groups *groups)
{
	free(groups->rows);
	*groups = (struct tb_groups){0};
}

static const char *const names[TB_GRAINS] = {
	[TB_GRAIN_FLOWS] = "flows",
	[TB_GRAIN_DESTINATIONS] = "destinations",
	[TB_GRAIN_DESTINATION_LEAVES] = "destination leaves",
	[TB_GRAIN_SOURCE_LEAVES] = "source leaves",
	[TB_GRAIN_JOBS] = "jobs",
};

const char *tb_grain_name(enum tb_grain grain)
{
	return names[grain];
}

static bool is_enough(const struct tb_listed *listed)
{
	return listed->n_all > 0 && 2 * listed->rest_ps <= listed->whole_ps;
}

// by_flows, by_groups and by_jobs store whether the grain holds enough.
static int by_flows(struct tb_grouped *grouped, struct tb_run *run, uint32_t top,
	bool *enough, struct tb_error *error)
{
	struct tb_heavy_waits flows;
	int status = tb_heavy_waits_init(&flows, run, top, error);
	if (status)
		return status;
	*enough = is_enough(&flows.listed);
	if (*enough)
		*grouped = (struct tb_grouped){
			.grain = TB_GRAIN_FLOWS, .flows = flows, .listed = flows.listed};
	else
		tb_heavy_waits_fini(&flows);
	return TB_OK;
}

static int by_groups(struct tb_grouped *grouped, struct tb_run *run, uint32_t top,
	enum tb_grain grain, bool *enough, struct tb_error *error)
{
	enum tb_grouping grouping = grain == TB_GRAIN_DESTINATIONS ? TB_GROUP_DESTINATION
				    : grain == TB_GRAIN_DESTINATION_LEAVES
					    ? TB_GROUP_DESTINATION_LEAF
					    : TB_GROUP_SOURCE_LEAF;
	struct tb_groups groups;
	int status = tb_groups_init(&groups, run, grouping, top, error);
	if (status)
		return status;
	*enough = is_enough(&groups.listed);
	if (*enough)
		*grouped = (struct tb_grouped){
			.grain = grain, .rows = groups.rows, .listed = groups.listed};
	else
		tb_groups_fini(&groups);
	return TB_OK;
}

static int by_jobs(struct tb_grouped *grouped, struct tb_run *run, uint32_t top,
	struct tb_error *error)
{
	struct tb_job_pairs pairs;
	int status = tb_job_pairs_init(&pairs, run, (struct tb_span){0, 0}, top, error);
	if (status)
		return status;
	struct tb_group_sample *rows = calloc(pairs.listed.n + 1u, sizeof *rows);
	for (uint32_t i = 0; rows && i < pairs.listed.n; i++)
		rows[i] = (struct tb_group_sample){.victim = pairs.rows[i].victim_job,
			.culprit = pairs.rows[i].culprit_job,
			.n_waits = pairs.rows[i].n_waits,
			.wait_ps = pairs.rows[i].wait_ps};
	*grouped = (struct tb_grouped){
		.grain = TB_GRAIN_JOBS, .rows = rows, .listed = pairs.listed};
	tb_job_pairs_fini(&pairs);
	return rows ? TB_OK : tb_fail_memory(error, "blame");
}

int tb_grouped_init(struct tb_grouped *grouped, struct tb_run *run, uint32_t top,
	struct tb_error *error)
{
	bool enough = false;
	int status = by_flows(grouped, run, top, &enough, error);
	for (int grain = TB_GRAIN_DESTINATIONS;
		!status && !enough && grain < TB_GRAIN_JOBS; grain++)
		status = by_groups(
			grouped, run, top, (enum tb_grain)grain, &enough, error);
	return status || enough ? status : by_jobs(grouped, run, top, error);
}

void tb_grouped_fini(struct tb_grouped *grouped)
{
	tb_heavy_waits_fini(&grouped->flows);
	free(grouped->rows);
	*grouped = (struct tb_grouped){0};
}

char *tb_grouped_party(const struct tb_run *run, enum tb_grain grain, uint32_t id,
	char *buffer, size_t size)
{
	const char *name = grain == TB_GRAIN_JOBS ? tb_run_job_name(run, id) : "";
	const char *host =
		grain == TB_GRAIN_DESTINATIONS && id < tb_run_info(run)->n_nodes
			? tb_run_node_name(run, (struct tb_node){id})
			: "";
	if (grain == TB_GRAIN_DESTINATIONS)
		snprintf(buffer, size, *host ? "node %u (%s)" : "node %u", id, host);
	else if (grain != TB_GRAIN_JOBS && id < tb_run_info(run)->n_switches)
		snprintf(buffer, size, "leaf %s", tb_run_switches(run)[id].name);
	else if (name[0])
		snprintf(buffer, size, "%s", name);
	else
		snprintf(buffer, size, "job %u", id);
	return buffer;
}

#define RECORD struct tb_job_pair
static const struct tb_stored_table job_pairs = TB_STORED_TABLE("job_wait", RECORD,
	TB_COLUMN_AS(TB_STORED_JOB, "victim_job", victim_job),
	TB_COLUMN_AS(TB_STORED_JOB, "culprit_job", culprit_job),
	TB_COLUMN("waits", n_waits), TB_COLUMN("wait_ps", wait_ps));
#undef RECORD

static const struct tb_waits_query pairs_of_jobs = {.table = &job_pairs,
	.rows = "SELECT victim_job, culprit_job, sum(waits) AS waits, sum(wait_ps) AS "
		"wait_ps FROM job_wait WHERE run = ?1 AND bin >= ?3 AND bin < ?4 GROUP "
		"BY victim_job, culprit_job",
	.ids = "victim_job, culprit_job"};

int tb_job_pairs_init(struct tb_job_pairs *pairs, struct tb_run *run, struct tb_span span,
	uint32_t top, struct tb_error *error)
{
	struct tb_job_pairs made = {0};
	void *rows = NULL;
	int status = waits_slices(run, span, &made.listed, error);
	if (!status)
		status = waits_list(run, &pairs_of_jobs, top, &rows, &made.listed, error);
	made.rows = rows;
	if (status)
		tb_job_pairs_fini(&made);
	else
		*pairs = made;
	return status;
}

void tb_job_pairs_fini(struct tb_job_pairs *pairs)
{
	free(pairs->rows);
	*pairs = (struct tb_job_pairs){0};
}

uint64_t tb_job_pairs_wait(
	const struct tb_job_pairs *pairs, uint32_t victim_job, uint32_t culprit_job)
{
	for (uint32_t i = 0; i < pairs->listed.n; i++)
		if (pairs->rows[i].victim_job == victim_job &&
			pairs->rows[i].culprit_job == culprit_job)
			return pairs->rows[i].wait_ps;
	return 0;
}

static uint64_t with_others(const struct tb_job_pairs *pairs, uint32_t job, bool caused)
{
	uint64_t wait_ps = 0;
	for (uint32_t i = 0; i < pairs->listed.n; i++) {
		const struct tb_job_pair *pair = &pairs->rows[i];
		if (pair->victim_job != pair->culprit_job &&
			(caused ? pair->culprit_job : pair->victim_job) == job)
			wait_ps += pair->wait_ps;
	}
	return wait_ps;
}

uint64_t tb_job_pairs_for_others(const struct tb_job_pairs *pairs, uint32_t job)
{
	return with_others(pairs, job, false);
}

uint64_t tb_job_pairs_of_others(const struct tb_job_pairs *pairs, uint32_t job)
{
	return with_others(pairs, job, true);
}

// A run has no job_link when all that waits is of job 0; nor when it was replayed with
// --no-blame, but then no job is known to wait.
#define JOB_LINKS                                                                        \
	"(SELECT link, job, wait_ps, blamed_ps FROM job_link "                           \
	"WHERE run = ?1 AND link = ?2 "                                                  \
	"UNION ALL SELECT link, 0, came_by_ps, came_by_ps FROM unpacked_total "          \
	"WHERE run = ?1 AND link = ?2 AND came_by_ps > 0 "                               \
	"AND NOT EXISTS (SELECT 1 FROM job_link WHERE run = ?1) "                        \
	"AND EXISTS (SELECT 1 FROM root_total WHERE run = ?1) ORDER BY 3 DESC, 2)"

int tb_job_links_init(struct tb_job_links *jobs, struct tb_run *run,
	const struct tb_link *links, uint32_t n_links, struct tb_error *error)
{
	struct tb_job_links made = {0};
	size_t n = 0, room = 0;
	int status = TB_OK;
	for (uint32_t i = 0; !status && i < n_links; i++) {
		struct tb_row_reader rows =
			tb_waits_read(run, &tb_job_links_stored, JOB_LINKS, error);
		tb_row_bind(&rows, 2, links[i].id);
		status = tb_row_read_all(&rows, &made.rows, &n, &room, "blame");
	}
	made.n = (uint32_t)n;
	if (status)
		tb_job_links_fini(&made);
	else
		*jobs = made;
	return status;
}

void tb_job_links_fini(struct tb_job_links *jobs)
{
	free(jobs->rows);
	*jobs = (struct tb_job_links){0};
}

#define RECORD struct tb_root
static const struct tb_stored_table root_totals =
	TB_STORED_TABLE("root_total", RECORD, TB_COLUMN("root", root),
		TB_COLUMN("waits", n_waits), TB_COLUMN("wait_ps", wait_ps));
static const struct tb_stored_table waits_of_root_bins =
	TB_STORED_TABLE("root_bin", RECORD, TB_COLUMN("root", root),
		TB_COLUMN("waits", n_waits), TB_COLUMN("wait_ps", wait_ps));
static const struct tb_stored_table root_links = TB_STORED_TABLE("tree_bin", RECORD,
	TB_COLUMN("root", root), TB_COLUMN("count(DISTINCT link)", n_links));
#undef RECORD

static const struct tb_waits_query of_run = {.table = &root_totals,
	.rows = "SELECT root, waits, wait_ps FROM root_total WHERE run = ?1",
	.ids = "root"};

static const struct tb_waits_query roots_of_span = {.table = &waits_of_root_bins,
	.rows = "SELECT root, 0 AS waits, sum(wait_ps) AS wait_ps FROM root_bin WHERE "
		"run = ?1 AND bin >= ?3 AND bin < ?4 GROUP BY root",
	.ids = "root"};

// count_root_links counts the links of the listed roots' trees, of which there may be
// more than are kept.
static int count_root_links(
	struct tb_run *run, struct tb_roots *roots, struct tb_error *error)
{
	struct waits_widths widths = {0, 0};
	struct tb_map places = {0};
	struct tb_root row;
	int status = waits_widths(run, &widths, error);
	for (uint32_t i = 0; !status && i < roots->listed.n; i++) {
		roots->rows[i].n_links = 1;
		if (tb_map_put(&places, roots->rows[i].root.id, i) != TB_OK)
			status = tb_fail_memory_in(error, run->path, "blame");
	}
	struct tb_span span = roots->listed.span;
	bool all = span.to_ps == 0 || widths.heaviest_ps == 0;
	struct tb_row_reader rows = tb_run_read(run, &root_links,
		"tree_bin WHERE run = ?1 AND bin >= ?2 AND bin < ?3 GROUP BY root",
		error);
	tb_row_bind(&rows, 2, all ? 0 : span.from_ps / widths.heaviest_ps);
	tb_row_bind(&rows, 3,
		all ? INT64_MAX : waits_slice_end(span.to_ps, widths.heaviest_ps));
	if (status)
		rows.status = status;
	while (tb_row_read(&rows, &row)) {
		uint32_t at = 0;
		if (tb_map_find(&places, row.root.id, &at))
			roots->rows[at].n_links = row.n_links;
	}
	tb_map_fini(&places);
	return tb_row_reader_end(&rows);
}

int tb_roots_init(struct tb_roots *roots, struct tb_run *run, struct tb_span span,
	uint32_t top, struct tb_error *error)
{
	struct tb_roots made = {0};
	void *rows = NULL;
	int status = waits_slices(run, span, &made.listed, error);
	if (!status)
		status =
			waits_list(run, made.listed.span.to_ps ? &roots_of_span : &of_run,
				top, &rows, &made.listed, error);
	made.rows = rows;
	if (!status)
		status = count_root_links(run, &made, error);
	struct tb_listed trees = {0};
	if (!status)
		status = waits_left_out(run, "tree_bin", &trees, error);
	made.links_left_out = trees.rest_ps > 0;
	if (status)
		tb_roots_fini(&made);
	else
		*roots = made;
	return status;
}

void tb_roots_fini(struct tb_roots *roots)
{
	free(roots->rows);
	*roots = (struct tb_roots){0};
}

// A run has no root_job when all that waits is of job 0.
#define ROOT_JOBS                                                                        \
	"(SELECT root, victim_job, waits, wait_ps FROM root_job "                        \
	"WHERE run = ?1 AND root = ?2 "                                                  \
	"UNION ALL SELECT root, 0, waits, wait_ps FROM root_total "                      \
	"WHERE run = ?1 AND root = ?2 "                                                  \
	"AND NOT EXISTS (SELECT 1 FROM root_job WHERE run = ?1) ORDER BY 4 DESC, 2)"

int tb_root_jobs_init(struct tb_root_jobs *jobs, struct tb_run *run,
	const struct tb_root *roots, uint32_t n_roots, struct tb_error *error)
{
	struct tb_root_jobs made = {0};
	size_t n = 0, room = 0;
	int status = TB_OK;
	for (uint32_t i = 0; !status && i < n_roots; i++) {
		struct tb_row_reader rows =
			tb_waits_read(run, &tb_root_jobs_stored, ROOT_JOBS, error);
		tb_row_bind(&rows, 2, roots[i].root.id);
		status = tb_row_read_all(&rows, &made.rows, &n, &room, "blame");
	}
	made.n = (uint32_t)n;
	if (status)
		tb_root_jobs_fini(&made);
	else
		*jobs = made;
	return status;
}

void tb_root_jobs_fini(struct tb_root_jobs *jobs)
{
	free(jobs->rows);
	*jobs = (struct tb_root_jobs){0};
}

// A foreign file may hold more rows than a replay writes.
#define MOST_ROWS (1u << 26)

// The rows of a list in the order of the store: by slice first.
struct tree_reading {
	struct tb_tree_sample *rows; // of sums: without a link
	size_t n, room;
};
#define RECORD struct tb_tree_sample
#define TREE_ROWS(table)                                                                 \
	TB_STORED_TABLE(table, RECORD, TB_COLUMN("slice", bin), TB_COLUMN("root", root), \
		TB_COLUMN_WITH("link", link, TB_STORED_OR_MINUS),                        \
		TB_COLUMN("wait", wait_ps), TB_COLUMN("error", error_ps))
static const struct tb_stored_table root_bins = TREE_ROWS("root_bin");
static const struct tb_stored_table tree_bins = TREE_ROWS("tree_bin");
#undef RECORD

// read_tree_rows reads a table's rows from a SELECT in brackets, whose ?2 is `joined`.
static int read_tree_rows(struct tb_run *run, const struct tb_stored_table *table,
	const char *from, int64_t joined, struct tree_reading *reading,
	struct tb_error *error)
{
	struct tb_row_reader rows = tb_run_read(run, table, from, error);
	tb_row_bind(&rows, 2, joined);
	int status = tb_row_read_all(
		&rows, &reading->rows, &reading->n, &reading->room, "congestion trees");
	if (!status && reading->n > MOST_ROWS)
		status = tb_fail_memory_in(error, run->path, "congestion trees");
	for (size_t i = 0; i < reading->n && !status; i++)
		if (reading->rows[i].bin >= TB_TREES_SLICES)
			status = tb_sql_damaged(run->path, table->name, error);
	return status;
}

// count_roots counts the rows of each root in an array of n_links + 1 and turns the
// counts into the places where they begin; NULL when memory runs out.
static uint32_t *count_roots(const struct tree_reading *reading, uint32_t n_links)
{
	uint32_t *first = calloc((size_t)n_links + 2, sizeof *first);
	if (!first)
		return NULL;
	for (size_t i = 0; i < reading->n; i++)
		first[reading->rows[i].root.id + 2]++;
	for (uint32_t root = 2; root < n_links + 1; root++)
		first[root + 1] += first[root];
	return first;
}

// tree_place_of takes the next place of a root. Each root's places begin one entry on, so
// that `first` holds where they begin once all are taken.
static uint32_t tree_place_of(uint32_t *first, struct tb_link root)
{
	return first[root.id + 1]++;
}

static int sort_sums(
	struct tb_trees *trees, const struct tree_reading *reading, uint32_t n_links)
{
	trees->root_first = count_roots(reading, n_links);
	trees->roots = calloc(reading->n + 1u, sizeof *trees->roots);
	if (!trees->root_first || !trees->roots)
		return TB_ENOMEM;
	for (size_t i = 0; i < reading->n; i++) {
		const struct tb_tree_sample *row = &reading->rows[i];
		trees->roots[tree_place_of(trees->root_first, row->root)] =
			(struct tb_root_bin_sample){row->bin, row->root, row->wait_ps};
		if (row->bin >= trees->n_bins)
			trees->n_bins = row->bin + 1;
	}
	trees->n_roots = (uint32_t)reading->n;
	return TB_OK;
}

static int sort_rows(
	struct tb_trees *trees, const struct tree_reading *reading, uint32_t n_links)
{
	trees->first = count_roots(reading, n_links);
	trees->rows = calloc(reading->n + 1u, sizeof *trees->rows);
	if (!trees->first || !trees->rows)
		return TB_ENOMEM;
	for (size_t i = 0; i < reading->n; i++) {
		const struct tb_tree_sample *row = &reading->rows[i];
		trees->rows[tree_place_of(trees->first, row->root)] = *row;
		if (row->bin >= trees->n_bins)
			trees->n_bins = row->bin + 1;
	}
	trees->n = (uint32_t)reading->n;
	return TB_OK;
}

int tb_trees_init(struct tb_trees *trees, struct tb_run *run, struct tb_error *error)
{
	struct tb_trees made = {0};
	struct waits_widths widths = {0, 0};
	int status = waits_widths(run, &widths, error);
	made.bin_ps = widths.sum_ps;
	if (!status) {
		struct tree_reading sums = {0};
		status = read_tree_rows(run, &root_bins,
			"(SELECT bin AS slice, root, -1 AS link, wait_ps AS wait, 0 AS "
			"error FROM root_bin WHERE run = ?1 AND ?2 ORDER BY bin, root)",
			1, &sums, error);
		if (!status && sort_sums(&made, &sums, run->record.info.n_links) != TB_OK)
			status = tb_fail_memory_in(error, run->path, "congestion trees");
		free(sums.rows);
	}
	if (!status) {
		int64_t joined =
			widths.heaviest_ps ? widths.sum_ps / widths.heaviest_ps : 1;
		struct tree_reading rows = {0};
		struct tb_listed listed = {0};
		status = read_tree_rows(run, &tree_bins,
			"(SELECT bin / ?2 AS slice, root, link, sum(wait_ps) AS wait, "
			"sum(error_ps) AS error FROM tree_bin WHERE run = ?1 GROUP BY "
			"slice, root, link ORDER BY slice, root, link)",
			joined, &rows, error);
		if (!status && sort_rows(&made, &rows, run->record.info.n_links) != TB_OK)
			status = tb_fail_memory_in(error, run->path, "congestion trees");
		if (!status)
			status = waits_left_out(run, "tree_bin", &listed, error);
		made.floor_ps = listed.floor_ps;
		made.rest_ps = listed.rest_ps;
		free(rows.rows);
	}
	if (status)
		tb_trees_fini(&made);
	else
		*trees = made;
	return status;
}

struct tb_span tb_trees_span(const struct tb_trees *trees, uint32_t from, uint32_t end)
{
	return waits_span_of(from, end, trees->bin_ps);
}

void tb_trees_fini(struct tb_trees *trees)
{
	free(trees->roots);
	free(trees->root_first);
	free(trees->rows);
	free(trees->first);
	*trees = (struct tb_trees){0};
}

struct level_bin_row {
	uint64_t bin, wait_ps;
	uint32_t level;
};
#define RECORD struct level_bin_row
static const struct tb_stored_table level_bins = TB_STORED_TABLE("level_bin", RECORD,
	TB_COLUMN("bin", bin), TB_COLUMN_AS(TB_STORED_LEVEL, "level", level),
	TB_COLUMN("wait_ps", wait_ps));
#undef RECORD

int tb_run_wait_by_level(struct tb_run *run, uint64_t *wait_ps, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	struct level_bin_row row;
	struct tb_row_reader rows = tb_run_read(
		run, &level_bins, "level_bin WHERE run = ?1 AND bin < ?2", error);
	tb_row_bind(&rows, 2, (int64_t)info->n_bins);
	memset(wait_ps, 0, info->n_bins * info->n_levels * sizeof *wait_ps);
	while (tb_row_read(&rows, &row))
		wait_ps[row.bin * info->n_levels + row.level] = row.wait_ps;
	return tb_row_reader_end(&rows);
}
