// Infers a job from a capture and writes it as GOAL, with what was inferred:
//
//     infer_judge CAPTURE FROM TO JOB.goal
//
// FROM and TO are instants as of --from.
#include "trace.h"

#include <stdio.h>

static int fail(const struct tb_error *error)
{
	char text[900];
	fprintf(stderr, "infer_judge: %s\n", tb_error_format(error, text, sizeof text));
	return 1;
}

int main(int argc, char **argv)
{
	struct tb_error error = {0};
	struct tb_packets_options options = {0};
	if (argc != 5 || tb_instant_parse(argv[2], &options.from) != TB_OK ||
		tb_instant_parse(argv[3], &options.to) != TB_OK) {
		fprintf(stderr, "usage: infer_judge CAPTURE FROM TO JOB.goal\n");
		return 2;
	}
	const char *path = argv[1];
	struct tb_trace trace;
	const struct tb_trace_request request = {
		.paths = &path, .n = 1, .packets = &options, .closed_loop = true};
	int status = tb_trace_read(&trace, &request, &error);
	if (status == TB_OK)
		status = tb_job_write_text(trace.job, argv[4], &error);
	if (status != TB_OK)
		return fail(&error);
	fputs(trace.job->notes, stderr);
	tb_job_free(trace.job);
	return 0;
}
