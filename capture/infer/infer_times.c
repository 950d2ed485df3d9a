// What a capture recorded of the times of its messages.
#include "infer_impl.h"

#include <stdlib.h>

static uint64_t since_ps(int64_t at_ns, int64_t begin_ns)
{
	int64_t ns = at_ns > begin_ns ? at_ns - begin_ns : 0;
	int64_t most = TB_TIME_NEVER / TB_PS_PER_NS;
	return (uint64_t)(ns < most ? ns : most) * TB_PS_PER_NS;
}

// place_calls counts the messages of each sender, and where its first one stands.
static void place_calls(
	struct tb_recorded_calls *recorded, const struct tb_inferred_times *times)
{
	for (size_t i = 0; i < times->list->n; i++) {
		uint32_t rank =
			tb_inferred_rank(times->rank_of, times->list->rows[i].source);
		if (rank != TB_ID_NONE)
			recorded->first[rank + 1]++;
	}
	for (uint32_t rank = 0; rank < recorded->n_ranks; rank++)
		recorded->first[rank + 1] += recorded->first[rank];
}

int tb_infer_keep_times(const struct tb_inferred_times *times, struct tb_job *job)
{
	struct tb_recorded_calls *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	made->n_ranks = job->n_ranks;
	made->on_wire = true;
	made->bytes_per_s = times->port_bytes_per_s;
	made->bucket_bytes = times->bucket_bytes;
	made->path_ns = times->path_ns;
	made->first = calloc(job->n_ranks + UINT64_C(1), sizeof *made->first);
	made->calls = malloc((times->list->n + 1) * sizeof *made->calls);
	size_t *next = malloc((job->n_ranks + UINT64_C(1)) * sizeof *next);
	int status = made->first && made->calls && next ? TB_OK : TB_ENOMEM;
	if (status == TB_OK) {
		place_calls(made, times);
		for (uint32_t rank = 0; rank < job->n_ranks; rank++)
			next[rank] = made->first[rank];
		status = tb_call_times_begin(&made->times, made->n_ranks);
		for (size_t i = 0; status == TB_OK && i < times->list->n; i++) {
			const struct tb_inferred_message *row = &times->list->rows[i];
			uint32_t source = tb_inferred_rank(times->rank_of, row->source);
			uint32_t destination =
				tb_inferred_rank(times->rank_of, row->destination);
			if (source == TB_ID_NONE)
				continue;
			uint64_t left_ps = since_ps(row->left_ns, times->begin_ns);
			// Without the captured path.
			int64_t path_ns = row->path_ns > TB_PATH_SLACK_NS
						  ? row->path_ns - TB_PATH_SLACK_NS
						  : 0;
			int64_t at_ns = row->delivered_ns - path_ns > row->last_ns
						? row->delivered_ns - path_ns
						: row->last_ns;
			uint64_t delivered_ps = since_ps(at_ns, times->begin_ns);
			made->calls[next[source]++] = (struct tb_timed_call){
				(job->first_op[source] + times->send[i]) | TB_DEP_START,
				job->first_op[destination] + times->recv[i],
				TB_TIMED_MESSAGE};
			status = tb_call_times_add(&made->times, source, TB_TIMED_MESSAGE,
				row->bytes, left_ps,
				delivered_ps > left_ps ? delivered_ps : left_ps);
		}
		tb_call_times_end(&made->times);
	}
	free(next);
	if (status == TB_OK)
		job->recorded = made;
	else
		tb_recorded_calls_free(made);
	return status;
}
