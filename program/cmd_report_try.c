// tailback report --try: what is worth trying is tried first.
#include "advice.h"
#include "cli.h"
#include "cmd_report.h"
#include "progress.h"

#include <unistd.h>

#define TRIES_MOST   8
#define SECONDS_MOST 60

static void show_progress(void *context, double fraction)
{
	struct tb_progress *line = context;
	if (tb_progress_due(line))
		tb_progress_show(line, fraction, "replaying changes");
}

void tb_cmd_report_try(const char *store, int64_t id)
{
	struct tb_error error;
	struct tb_run *run = NULL;
	struct tb_advice *advice = NULL;
	struct tb_progress line;
	long n_cores = sysconf(_SC_NPROCESSORS_ONLN);
	const struct tb_advice_options options = {.n_seeds = TB_ADVICE_SEEDS,
		.n_at_once = n_cores > 1 ? (uint32_t)n_cores : 1,
		.most = TRIES_MOST,
		.seconds = SECONDS_MOST,
		.stop = tb_cli_catch_stop(),
		.watch = show_progress,
		.context = &line};
	tb_progress_init(&line, STDERR_FILENO);
	int status = tb_run_open(&run, store, id, &error);
	if (status == TB_OK)
		status = tb_advice_new(&advice, run, &options, &error);
	tb_progress_done(&line);
	if (status != TB_OK)
		fprintf(stderr, "tailback: note: nothing was tried: %s\n", error.text);
	else if (tb_advice_keep(advice, store, &error) != TB_OK)
		fprintf(stderr, "tailback: note: what was tried is not kept: %s\n",
			error.text);
	tb_advice_free(advice);
	tb_run_free(run);
}
