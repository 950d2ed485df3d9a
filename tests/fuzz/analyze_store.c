// Whatever is in a store, reading it ends and stays within bounds.
#include "hot_links.h"
#include "matrix.h"
#include "report.h"
#include "run.h"
#include "series.h"
#include "trees.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

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

static void write_reports(struct tb_run *run)
{
	struct tb_report *report = NULL;
	struct tb_error error;
	FILE *nowhere = fopen("/dev/null", "w");
	if (nowhere && tb_report_new(&report, run, 20, &error) == TB_OK)
		for (enum tb_format f = TB_FORMAT_TEXT; f <= TB_FORMAT_HTML; f++)
			(void)!tb_report_write(report, f, NULL, NULL, nowhere, &error);
	const char *list;
	for (size_t i = 0; report && (list = tb_report_list_name(i)); i++)
		(void)!tb_report_write(
			report, TB_FORMAT_CSV, NULL, list, nowhere, &error);
	tb_report_free(report);
	if (nowhere)
		fclose(nowhere);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/tailback-fuzz-XXXXXX";
	int file = mkstemp(path);
	if (file < 0)
		return 0;
	struct tb_runs *runs = NULL;
	struct tb_run *run = NULL;
	struct tb_error error;
	ssize_t n = write(file, data, size);
	close(file);
	if (n == (ssize_t)size && tb_runs_open(&runs, path, &error) == TB_OK)
		tb_runs_free(runs);
	if (n == (ssize_t)size && tb_run_open(&run, path, 0, &error) == TB_OK) {
		read_windows(run);
		read_trees(run);
		write_reports(run);
		tb_run_free(run);
	}
	unlink(path);
	return 0;
}
