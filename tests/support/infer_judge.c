// Judges the job that is inferred from a capture against what its MPI programs logged
// (judge.h), and prints a row of a table:
//
//     infer_judge [--first NODE] [--stride N] [--write JOB] NAME CAPTURE FROM TO LOGS
//
// FROM and TO are nanoseconds since the epoch, LOGS a folder or an archive (mpilog.h).
// Rank r ran on node `first` + r * `stride`. --write keeps the truth as JOB.true.goal and
// what was inferred as JOB.inferred.goal.
#include "calls_job.h"
#include "judge.h"
#include "mpilog.h"
#include "trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
	struct judge_places places;
	const char *write; // NULL: no
	const char *name, *capture, *from, *to, *logs;
};

static int fail(const struct tb_error *error)
{
	char text[900];
	fprintf(stderr, "infer_judge: %s\n", tb_error_format(error, text, sizeof text));
	return 1;
}

static bool read_request(struct request *request, int argc, char **argv)
{
	int at = 1;
	*request = (struct request){.places = {.stride = 1}};
	for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
		if (strcmp(argv[at], "--first") == 0)
			request->places.first = (uint32_t)atoi(argv[at + 1]);
		else if (strcmp(argv[at], "--stride") == 0)
			request->places.stride = (uint32_t)atoi(argv[at + 1]);
		else if (strcmp(argv[at], "--write") == 0)
			request->write = argv[at + 1];
		else
			return false;
	}
	if (argc - at != 5 || request->places.stride == 0)
		return false;
	request->name = argv[at];
	request->capture = argv[at + 1];
	request->from = argv[at + 2];
	request->to = argv[at + 3];
	request->logs = argv[at + 4];
	return true;
}

static int read_truth(
	const struct request *request, struct tb_job **job, struct tb_error *error)
{
	struct tb_calls *calls = NULL;
	const struct tb_reading reading = {.lenient = true}; // the span cuts calls in two
	const struct tb_mpilog_options options = {
		.from_ns = strtoull(request->from, NULL, 10),
		.to_ns = strtoull(request->to, NULL, 10),
	};
	int status = tb_mpilog_read(&calls, request->logs, &options, error);
	if (status == TB_OK)
		status = tb_calls_job(
			calls, request->logs, "openmpi", &reading, job, error);
	tb_calls_free(calls);
	return status;
}

static int infer(
	const struct request *request, struct tb_job **job, struct tb_error *error)
{
	struct tb_packets_options options = {0};
	struct tb_trace trace;
	const struct tb_trace_request wanted = {.paths = &request->capture,
		.n = 1,
		.packets = &options,
		.closed_loop = true};
	if (tb_instant_parse(request->from, &options.from) != TB_OK ||
		tb_instant_parse(request->to, &options.to) != TB_OK)
		return tb_fail(error, TB_EUSAGE, "FROM and TO must be instants");
	int status = tb_trace_read(&trace, &wanted, error);
	if (status == TB_OK)
		*job = trace.job;
	return status;
}

static int write_job(const struct request *request, const struct tb_job *job,
	const char *what, struct tb_error *error)
{
	char path[4096];
	if (!request->write)
		return TB_OK;
	snprintf(path, sizeof path, "%s.%s.goal", request->write, what);
	return tb_job_write_text(job, path, error);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_row(const char *name, const struct judge_score *s)
{
	printf("| %s | %" PRIu64 " | %" PRIu64 " | %" PRIu64, name, s->n_true,
		s->n_inferred, s->n_matched);
	printf(" | %.1f | %.1f | %.1f", percent(s->n_matched, s->n_inferred),
		percent(s->n_matched, s->n_true), percent(s->n_in_order, s->n_matched));
	printf(" | %.1f (%.1f) | %.1f (%.1f) |\n",
		percent(s->n_right, s->n_inferred_last),
		percent(s->n_inferred_holds, s->n_inferred_waits),
		percent(s->n_right, s->n_true_last),
		percent(s->n_true_holds, s->n_true_last));
}

int main(int argc, char **argv)
{
	struct request request;
	struct tb_error error = {0};
	struct tb_job *truth = NULL, *inferred = NULL;
	struct judge_score score;
	if (!read_request(&request, argc, argv)) {
		fprintf(stderr, "usage: infer_judge [--first NODE] [--stride N] "
				"[--write JOB] NAME CAPTURE FROM TO LOGS\n");
		return 2;
	}
	int status = read_truth(&request, &truth, &error);
	if (status == TB_OK)
		status = infer(&request, &inferred, &error);
	if (status == TB_OK)
		status = write_job(&request, truth, "true", &error);
	if (status == TB_OK)
		status = write_job(&request, inferred, "inferred", &error);
	if (status == TB_OK &&
		judge_jobs(&score, truth, inferred, &request.places) != TB_OK)
		status = tb_fail(&error, TB_ENOMEM, "no memory to compare the jobs");
	if (status == TB_OK)
		print_row(request.name, &score);
	tb_job_free(truth);
	tb_job_free(inferred);
	return status == TB_OK ? 0 : fail(&error);
}
