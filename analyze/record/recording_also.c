#include "recording_also.h"

#include "format.h"
#include "order.h"
#include "text_lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Captures are of one program if the bytes of one are at most so many percent more, and
// at least so many percent are between the same nodes. (Of the captures of docs/
// closed-loop.md those of one program differ by 0.03 and have 87 in common, a task farm,
// and else 99.9; those of two have 62 at most.)
#define BYTES_PERCENT  1.0
#define COMMON_PERCENT 80.0

void tb_recording_also_free(struct tb_recording_also *also)
{
	if (!also)
		return;
	tb_recording_fini(&also->recording);
	free(also->trace);
	free(also->note);
	free(also);
}

// also_parse cuts the keys off the file's name.
static int also_parse(
	struct tb_recording_also *also, const char *text, struct tb_error *error)
{
	struct tb_packets_options *packets = &also->options.workload.packets;
	const struct tb_instant none = {0};
	packets->from = packets->to = none;
	for (char *key; (key = strrchr(also->trace, ',')) != NULL;) {
		bool from = strncmp(key, ",from=", 6) == 0;
		if (!from && strncmp(key, ",to=", 4) != 0)
			break;
		const char *value = strchr(key, '=') + 1;
		if (tb_instant_parse(value, from ? &packets->from : &packets->to) !=
			TB_OK)
			return tb_fail(error, TB_EUSAGE,
				"--also=%s: expected FILE[,from=TIME][,to=TIME], times "
				"as of --from, not '%s'",
				text, value);
		*key = '\0';
	}
	return TB_OK;
}

const struct tb_job *tb_recording_inferred(const struct tb_recording *recording)
{
	if (tb_workload_n_inputs(recording->workload) != 1)
		return NULL;
	const struct tb_job *job = tb_workload_input_at(recording->workload, 0).job;
	return job && job->bounds && job->recorded && job->recorded->on_wire ? job : NULL;
}

struct named_rank {
	const char *name;
	uint32_t rank;
};

TB_ORDER_BY(rank_by_name, struct named_rank, TB_UP_TEXT(name))

// pair_ranks fills in which rank of `other` each rank of a job was, or n_ranks: none.
static int pair_ranks(
	const struct tb_job *job, const struct tb_job *other, uint32_t *ranks)
{
	struct named_rank *names = calloc(other->n_ranks, sizeof *names);
	for (uint32_t i = 0; names && i < other->n_ranks; i++) {
		const char *name = other->endpoints ? other->endpoints[i] : NULL;
		names[i] = (struct named_rank){name ? name : "", i};
	}
	if (names)
		qsort(names, other->n_ranks, sizeof *names, rank_by_name);
	for (uint32_t i = 0; names && i < job->n_ranks; i++) {
		const struct named_rank key = {
			job->endpoints && job->endpoints[i] ? job->endpoints[i] : "", 0};
		const struct named_rank *at =
			bsearch(&key, names, other->n_ranks, sizeof *names, rank_by_name);
		ranks[i] = at ? at->rank : other->n_ranks;
	}
	bool fine = names != NULL;
	free(names);
	return fine ? TB_OK : TB_ENOMEM;
}

static uint64_t rank_sends(const struct tb_job *job, uint32_t rank, uint64_t *to)
{
	uint64_t sum = 0;
	memset(to, 0, (job->n_ranks + UINT64_C(1)) * sizeof *to);
	for (uint32_t i = job->first_op[rank]; i < job->first_op[rank + 1]; i++)
		if (job->ops[i].kind == TB_OP_SEND) {
			to[job->ops[i].peer] += job->ops[i].amount;
			sum += job->ops[i].amount;
		}
	return sum;
}

struct likeness {
	uint64_t bytes, other_bytes, common_bytes;
};

// likeness_of adds up what two jobs sent, in all and between the same endpoints.
static int likeness_of(
	struct likeness *like, const struct tb_job *job, const struct tb_job *other)
{
	uint32_t *ranks = malloc(job->n_ranks * sizeof *ranks);
	uint64_t *to = malloc((job->n_ranks + UINT64_C(1)) * sizeof *to);
	uint64_t *other_to = malloc((other->n_ranks + UINT64_C(1)) * sizeof *other_to);
	struct tb_job_summary summary;
	tb_job_summarize(other, &summary);
	*like = (struct likeness){.other_bytes = summary.send_bytes};
	bool fine = ranks && to && other_to && pair_ranks(job, other, ranks) == TB_OK;
	for (uint32_t i = 0; fine && i < job->n_ranks; i++) {
		like->bytes += rank_sends(job, i, to);
		if (ranks[i] == other->n_ranks)
			continue;
		(void)rank_sends(other, ranks[i], other_to);
		other_to[other->n_ranks] = 0;
		for (uint32_t k = 0; k < job->n_ranks; k++) {
			uint64_t there = other_to[ranks[k]];
			like->common_bytes += there < to[k] ? there : to[k];
		}
	}
	free(ranks);
	free(to);
	free(other_to);
	return fine ? TB_OK : TB_ENOMEM;
}

static char *also_note(const struct tb_recording_also *also, double percent)
{
	const struct tb_recorded_calls *recorded =
		tb_recording_inferred(&also->recording)->recorded;
	char rate[32], time[32], share[40], *note = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&note, &size);
	if (!stream)
		return NULL;
	fprintf(stream,
		"%s, captured at %s a port, took %s and narrows the range: %s of its "
		"bytes are between the same nodes",
		also->trace,
		tb_format_rate((double)recorded->bytes_per_s, rate, sizeof rate),
		tb_format_time((tb_time_ps)recorded->times.run_ps, time, sizeof time),
		tb_format_percent(percent, share, sizeof share));
	return tb_text_written(stream, &note);
}

// check_same_program refuses captures of two programs.
static int check_same_program(struct tb_recording_also *also,
	const struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_job *job = tb_recording_inferred(recording),
			    *other = tb_recording_inferred(&also->recording);
	struct likeness like;
	char size[2][32];
	if (!job || !other)
		return tb_fail_in(error, TB_EUSAGE, also->trace,
			"--also: expected a packet capture beside one other, with "
			"--closed-loop and without --no-range");
	if (likeness_of(&like, job, other) != TB_OK)
		return tb_fail_memory(error, "the captures");
	uint64_t most = like.bytes > like.other_bytes ? like.bytes : like.other_bytes;
	uint64_t least = like.bytes + like.other_bytes - most;
	double percent = most ? 100.0 * (double)like.common_bytes / (double)most : 0;
	if ((double)most > (double)least * (1 + BYTES_PERCENT / 100) ||
		percent < COMMON_PERCENT)
		return tb_fail_in(error, TB_EUSAGE, also->trace,
			"--also: expected a capture of the same program, but its "
			"messages have %s and the others %s, of which %.0f %% are "
			"between the same nodes: choose the spans with --from and --to, "
			"and ,from= and ,to= behind the file",
			tb_format_size(like.other_bytes, size[0], sizeof size[0]),
			tb_format_size(like.bytes, size[1], sizeof size[1]), percent);
	also->note = also_note(also, percent);
	return also->note ? TB_OK : tb_fail_memory(error, "the notes");
}

int tb_recording_also_open(struct tb_recording *recording, struct tb_error *error)
{
	const char *text = recording->options->also;
	if (!text)
		return TB_OK;
	struct tb_recording_also *also = calloc(1, sizeof *also);
	if (!also || !(also->trace = strdup(text))) {
		free(also);
		return tb_fail_memory(error, "the second capture");
	}
	recording->also = also;
	also->options = *recording->options;
	also->options.also = NULL;
	also->options.alone = false;
	int status = also_parse(also, text, error);
	also->options.workload.traces = (const char *const *)&also->trace;
	also->options.workload.n_traces = 1;
	also->options.workload.n_jobs = 0;
	also->recording.options = &also->options;
	also->recording.shared = recording->shared;
	if (status == TB_OK)
		status = tb_recording_open(&also->recording, error);
	return status == TB_OK ? check_same_program(also, recording, error) : status;
}
