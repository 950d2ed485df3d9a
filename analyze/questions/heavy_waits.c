#include "heavy_waits.h"

#include "waits_impl.h"

#include <stdlib.h>

#define FLOWS                                                                            \
	"victim_job, victim_source, victim_destination, "                                \
	"culprit_job, culprit_source, culprit_destination"
#define BY_LINK "SELECT link, " FLOWS ", waits, wait_ps, error_ps FROM blame_wait "

static int read_heavy_waits(struct tb_heavy_waits *waits, struct tb_run *run,
	const struct tb_waits_query *query, uint32_t top, struct tb_error *error)
{
	void *rows = NULL;
	int status = tb_waits_list(run, query, top, &rows, &waits->listed, error);
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
		status = tb_waits_left_out(run, "blame_wait", &made.listed, error);
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
		status = tb_waits_left_out(run, "blame_wait", &made.listed, error);
	if (!status)
		status = tb_waits_number(run,
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
		status = tb_waits_left_out(run, "blame_wait", &made.listed, error);
	if (!status)
		status = tb_waits_number(run,
			"(SELECT total(came_by_ps) AS number FROM unpacked_total WHERE "
			"run = ?1 AND link IN " INTO ")",
			sw.id, &whole_ps, error);
	if (!status)
		status =
			tb_waits_number(run, "(SELECT count(*) AS number " INTO_LINKS ")",
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
	return (uint64_t)tb_waits_slice_end(covered_ps, width_ps);
}

int tb_heavy_waits_during(struct tb_heavy_waits *waits, struct tb_run *run,
	struct tb_span span, uint32_t top, struct tb_error *error)
{
	struct tb_heavy_waits made = {0};
	struct tb_waits_widths widths = {0, 0};
	struct tb_waits_query query = of_span;
	struct tb_listed whole = {0};
	int status = tb_waits_widths(run, &widths, error);
	query.key = widths.heaviest_ps ? widths.sum_ps / widths.heaviest_ps : 1;
	if (!status)
		status = tb_waits_slices(run, span, &made.listed, error);
	whole.span = made.listed.span;
	if (!status)
		status = read_heavy_waits(&made, run, &query, top, error);
	if (!status)
		status = tb_waits_whole(run, &whole, error);
	leave_out_waits(&made.listed, whole.whole_ps);
	if (!status)
		status = tb_waits_left_out(run, "blame_bin", &whole, error);
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
	int status = tb_waits_list(run, &query, top, &rows, &made.listed, error);
	made.rows = rows;
	if (!status)
		status = tb_waits_left_out(
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
