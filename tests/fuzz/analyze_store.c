// Whatever is in a store, reading it ends and stays within bounds.
#include "crossing.h"
#include "flow_messages.h"
#include "fuzz_file.h"
#include "heavy_waits.h"
#include "hot_links.h"
#include "job_waits.h"
#include "matrix.h"
#include "report.h"
#include "roots.h"
#include "run.h"
#include "run_timeline.h"
#include "series.h"
#include "trees.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_windows(struct tb_run *run)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct tb_link_sample *samples = calloc(info->n_links + 1u, sizeof *samples);
	struct tb_matrix matrix = {0};
	struct tb_error error;
	for (uint64_t bin = 0; samples && bin < info->n_bins && bin < 8; bin++) {
		struct tb_window window = {bin, bin + 2};
		(void)!tb_run_samples(run, window, samples, &error);
		(void)tb_run_window_ps(run, window);
	}
	struct tb_window last = {info->n_bins / 2, info->n_bins};
	if (tb_matrix_init(&matrix, run, last, TB_LONGEST, &error) == TB_OK)
		tb_matrix_fini(&matrix);
	free(samples);
}

static void read_trees(struct tb_run *run)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct tb_trees trees = {0};
	struct tb_error error;
	uint64_t columns[4];
	if (tb_trees_init(&trees, run, &error) == TB_OK)
		tb_trees_fini(&trees);
	if (info->n_links)
		(void)!tb_run_series(
			run, (struct tb_link){0}, TB_WAIT, columns, 4, &error);
}

// read_waits asks what the report does not: about a span of time, a link, a switch.
static void read_waits(struct tb_run *run)
{
	const struct tb_span span = {1, 1000000};
	struct tb_error error;
	struct tb_roots roots = {0};
	struct tb_job_pairs pairs = {0};
	struct tb_heavy_waits during = {0}, at = {0};
	(void)!tb_roots_init(&roots, run, span, 3, &error);
	(void)!tb_job_pairs_init(&pairs, run, span, 3, &error);
	(void)!tb_heavy_waits_during(&during, run, span, 3, &error);
	(void)!tb_heavy_waits_at(&at, run, (struct tb_link){0}, 3, &error);
	tb_heavy_waits_fini(&at);
	(void)!tb_heavy_waits_into(&at, run, (struct tb_switch){0}, 3, &error);
	tb_roots_fini(&roots);
	tb_job_pairs_fini(&pairs);
	tb_heavy_waits_fini(&during);
	tb_heavy_waits_fini(&at);
}

static void read_messages(struct tb_run *run)
{
	const struct tb_flow_messages_wanted wanted = {0, {0}, {1}, 0, TB_TIME_NEVER};
	struct tb_flow_messages messages = {0};
	struct tb_error error;
	(void)!tb_flow_messages_init(&messages, run, &wanted, &error);
	tb_flow_messages_fini(&messages);
}

static void read_timeline(struct tb_run *run, FILE *nowhere)
{
	const struct tb_timeline_options wanted = {1000, TB_TIME_NEVER, 2, NULL};
	struct tb_timeline timeline = {0};
	struct tb_error error;
	if (tb_timeline_init(&timeline, run, &wanted, &error) != TB_OK)
		return;
	(void)!tb_timeline_text(&timeline, 60, 2, nowhere, &error);
	(void)!tb_timeline_trace(&timeline, nowhere, &error);
	tb_timeline_fini(&timeline);
}

// read_ways asks for the flows over a link, the links between the first two switches and
// between nodes.
static void read_ways(struct tb_run *run)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct tb_crossing_query query = {false, 0, 0, INT64_MAX, TB_ID_NONE};
	struct tb_flow_table table = {0};
	struct tb_crossing crossing = {.n = 0};
	struct tb_paths *paths = NULL;
	struct tb_error error;
	uint32_t n;
	(void)!tb_flow_table_init(&table, run, &error);
	if (tb_paths_new(&paths, run, &error) == TB_OK) {
		(void)tb_paths_between(paths, (struct tb_path_end){true, 0},
			(struct tb_path_end){true, 1}, &n);
		(void)tb_paths_find(paths, (struct tb_node){0}, (struct tb_node){1}, &n);
		(void)tb_paths_way(paths, (struct tb_node){1}, (struct tb_node){0}, &n);
		query.id = info->n_links / 2;
		if (info->n_links)
			(void)!tb_crossing_init(&crossing, paths, &table, &query, &error);
	}
	tb_crossing_fini(&crossing);
	tb_paths_free(paths);
	tb_flow_table_fini(&table);
}

// write_csv writes one of the lists. JSON has the rows of all of them, and to write one
// as CSV takes as long as all other formats together.
static void write_csv(const struct tb_report *report, uint8_t choice, FILE *nowhere)
{
	struct tb_error error;
	size_t n = 0;
	while (tb_report_list_name(n))
		n++;
	const struct tb_report_form form = {.list = tb_report_list_name(choice % n)};
	(void)!tb_report_write(report, TB_FORMAT_CSV, &form, nowhere, &error);
}

// write_reports writes all formats, of the lists as CSV the one that `choice` picks.
static void write_reports(struct tb_run *run, uint8_t choice)
{
	struct tb_report *report = NULL;
	struct tb_error error;
	FILE *nowhere = fopen("/dev/null", "w");
	if (nowhere && tb_report_new(&report, run, 20, &error) == TB_OK) {
		for (enum tb_format f = TB_FORMAT_TEXT; f <= TB_FORMAT_HTML; f++)
			if (f != TB_FORMAT_CSV && fuzz_turn(choice, 5, f))
				(void)!tb_report_write(report, f, NULL, nowhere, &error);
		if (fuzz_turn(choice, 5, TB_FORMAT_CSV))
			write_csv(report, choice, nowhere);
	}
	if (nowhere)
		read_timeline(run, nowhere);
	tb_report_free(report);
	if (nowhere)
		fclose(nowhere);
}

// choose gives a number that any change of the input changes.
static uint8_t choose(const uint8_t *data, size_t size)
{
	uint8_t sum = 0;
	for (size_t i = 0; i < size; i++)
		sum = (uint8_t)(sum + data[i]);
	return sum;
}

static char store[64]; // the file that holds the input

static void remove_store(void)
{
	unlink(store);
}

static bool write_store(const uint8_t *data, size_t size)
{
	if (!*store) {
		snprintf(store, sizeof store, "%s/fuzz-store-%d.db", fuzz_folder(),
			(int)getpid());
		atexit(remove_store);
	}
	FILE *file = fopen(store, "wb");
	bool written = file && fwrite(data, 1, size, file) == size;
	return file && fclose(file) == 0 && written;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tb_runs *runs = NULL;
	struct tb_run *run = NULL;
	struct tb_error error;
	uint8_t choice = choose(data, size);
	if (!write_store(data, size))
		return 0;
	// SQLite spends most of the time on reading the schema, so that not every input
	// is opened twice.
	if (choice % 4 == 0 && tb_runs_open(&runs, store, &error) == TB_OK)
		tb_runs_free(runs);
	if (tb_run_open(&run, store, 0, &error) == TB_OK) {
		if (fuzz_turn(choice, 2, 0)) {
			read_windows(run);
			read_trees(run);
			read_waits(run);
			read_messages(run);
			read_ways(run);
		}
		if (fuzz_turn(choice, 2, 1))
			write_reports(run, choice / 2);
		tb_run_free(run);
	}
	return 0;
}
