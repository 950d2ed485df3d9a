// Traces of what ranks called: the job that is made of them, and what else they tell.
#include "trace_impl.h"

#include "calls_job.h"

// read_facts reads what the files tell beside calls, if that is wanted.
static int read_facts(struct tb_trace *trace, const struct tb_trace_request *request,
	const struct tb_reading *reading, struct tb_error *error)
{
	if (!request->wants_facts || !trace->reader->facts)
		return TB_OK;
	int status = tb_facts_new(&trace->facts, error);
	if (status == TB_OK)
		status = trace->reader->facts(
			trace->facts, reading, request->paths, request->n, error);
	if (status != TB_OK) {
		tb_facts_free(trace->facts);
		trace->facts = NULL;
	}
	return status;
}

// settle_facts keeps facts without a job where the files are fine, but no job can be made
// of them.
static int settle_facts(struct tb_trace *trace, int status, struct tb_error *error)
{
	bool stands = status == TB_EFORMAT || status == TB_EUSAGE;
	if (status != TB_OK && stands && error) {
		trace->refusal = *error;
		return TB_OK;
	}
	if (status == TB_OK)
		return TB_OK;
	tb_facts_free(trace->facts);
	trace->facts = NULL;
	return status;
}

int tb_trace_read_calls(struct tb_trace *trace, const struct tb_trace_request *request,
	struct tb_trace_stream *stream, struct tb_error *error)
{
	struct tb_reading reading = {0};
	struct tb_calls *calls = NULL;
	const char *made = NULL;
	if (stream->is_stdin)
		return tb_fail_in(error, TB_EUSAGE, stream->name,
			"is a trace (%s), which is read from files", trace->reader->name);
	if (request->n > 1 && !trace->reader->joins)
		return tb_fail_in(error, TB_EUSAGE, request->paths[0],
			"is a trace (%s), which is read alone", trace->reader->name);
	if (request->reading)
		reading = *request->reading;
	if (reading.clone_ranks && !trace->reader->clones)
		return tb_fail_in(error, TB_EUSAGE, request->paths[0],
			"is a trace (%s) with all its ranks: --clone-ranks is for "
			"Kineto, Chakra and logs of NCCL, which may have some",
			trace->reader->name);
	if (!reading.stop)
		reading.stop = request->stop;
	int status = read_facts(trace, request, &reading, error);
	if (status == TB_OK)
		status = trace->reader->calls(
			&calls, &reading, request->paths, request->n, &made, error);
	if (status == TB_OK)
		status = tb_calls_job(
			calls, request->paths[0], made, &reading, &trace->job, error);
	if (status == TB_OK)
		trace->job->form = trace->reader->name;
	tb_calls_free(calls);
	return trace->facts ? settle_facts(trace, status, error) : status;
}
