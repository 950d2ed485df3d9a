#include "congestion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES(NAME, key, title, meaning, one, kind) {key, one},
const struct tb_congestion_name tb_congestion_names[TB_CONGESTION_N] = {
	TB_CONGESTION_FIGURES(NAMES)};
const struct tb_congestion_name tb_flow_time_names[TB_FLOW_TIME_N] = {
	TB_FLOW_TIMES(NAMES)};
#undef NAMES

void tb_congestion_free(struct tb_congestion *congestion)
{
	if (!congestion)
		return;
	for (size_t i = 0; i < congestion->n_pairs; i++) {
		free(congestion->pairs[i].source);
		free(congestion->pairs[i].destination);
	}
	free(congestion->pairs);
	free(congestion->bins);
	free(congestion->pauses);
	free(congestion);
}

bool tb_congestion_is_quiet(const struct tb_congestion_counts *counts)
{
	for (int i = 0; i < TB_CONGESTION_N; i++)
		if (counts->of[i] > 0)
			return false;
	return true;
}

// badness weighs how much a pair suffered.
static double badness(const struct tb_congestion_pair *pair)
{
	const uint64_t *of = pair->counts.of;
	// Of a flow whose end the capture does not have only the windows are known.
	double lost_ps = fmax((double)tb_flow_lost_ps(&pair->times),
		(double)of[TB_CONGESTION_CLOSED_PS] +
			(double)of[TB_CONGESTION_LIMITED_PS]);
	return 1000 * (double)(of[TB_CONGESTION_RETRANSMISSIONS] +
			       of[TB_CONGESTION_NOT_READY]) +
	       100 * (double)(of[TB_CONGESTION_PAUSES] + of[TB_CONGESTION_ZERO_WINDOWS]) +
	       lost_ps / (double)TB_PS_PER_US + 10 * (double)of[TB_CONGESTION_CNPS] +
	       (double)of[TB_CONGESTION_MARKED] + (double)of[TB_CONGESTION_OUT_OF_ORDER] +
	       (double)of[TB_CONGESTION_DUPLICATE_ACKS];
}

static int by_badness(const void *a, const void *b, void *pairs)
{
	size_t one = *(const size_t *)a, other = *(const size_t *)b;
	const struct tb_congestion_pair *of = pairs;
	double x = badness(&of[one]), y = badness(&of[other]);
	if (x != y)
		return x > y ? -1 : 1;
	uint64_t sent = of[one].times.payload_bytes,
		 other_sent = of[other].times.payload_bytes;
	return sent != other_sent ? (sent > other_sent ? -1 : 1)
				  : (one > other) - (one < other);
}

size_t *tb_congestion_worst(const struct tb_congestion *congestion, size_t *n)
{
	size_t *worst = calloc(congestion->n_pairs + 1, sizeof *worst), n_worst = 0;
	for (size_t i = 0; worst && i < congestion->n_pairs; i++) {
		worst[i] = i;
		n_worst += badness(&congestion->pairs[i]) > 0;
	}
	if (worst)
		qsort_r(worst, congestion->n_pairs, sizeof *worst, by_badness,
			congestion->pairs);
	*n = n_worst;
	return worst;
}

char *tb_congestion_format(
	const struct tb_congestion_counts *counts, char *buffer, size_t size)
{
	static const enum tb_congestion_figure listed[] = {TB_CONGESTION_NOT_READY,
		TB_CONGESTION_RETRANSMISSIONS, TB_CONGESTION_ZERO_WINDOWS,
		TB_CONGESTION_LIMITED_PS, TB_CONGESTION_MARKED, TB_CONGESTION_CNPS,
		TB_CONGESTION_PAUSES, TB_CONGESTION_RESUMES, TB_CONGESTION_OUT_OF_ORDER,
		TB_CONGESTION_DUPLICATE_ACKS, TB_CONGESTION_DUPLICATES,
		TB_CONGESTION_KEEP_ALIVES};
	char item[256];
	const uint64_t *of = counts->of;
	FILE *stream = fmemopen(buffer, size, "w");
	buffer[0] = '\0';
	if (!stream)
		return buffer;
	for (size_t i = 0; i < sizeof listed / sizeof *listed; i++) {
		enum tb_congestion_figure figure = listed[i];
		if (of[figure] == 0)
			continue;
		if (figure == TB_CONGESTION_LIMITED_PS)
			snprintf(item, sizeof item,
				"held by the receiver's window for at least %s",
				TB_TIME_TEXT((tb_time_ps)of[figure]));
		else
			tb_format_counted(of[figure], tb_congestion_names[figure].one,
				item, sizeof item);
		const char *between = ", ";
		fprintf(stream, "%s%s", ftell(stream) > 0 ? between : "", item);
		if (figure == TB_CONGESTION_ZERO_WINDOWS && of[TB_CONGESTION_CLOSED_PS])
			fprintf(stream, " that lasted %s",
				TB_TIME_TEXT((tb_time_ps)of[TB_CONGESTION_CLOSED_PS]));
		const char *opening = " (";
		for (enum tb_congestion_figure kind = TB_CONGESTION_FAST;
			figure == TB_CONGESTION_RETRANSMISSIONS &&
			kind <= TB_CONGESTION_SPURIOUS;
			kind++) {
			if (of[kind] == 0)
				continue;
			fprintf(stream, "%s%s %s", opening, TB_COUNT_TEXT(of[kind]),
				tb_congestion_names[kind].one);
			opening = ", ";
		}
		if (opening[0] == ',')
			fputc(')', stream);
		if (figure == TB_CONGESTION_PAUSES)
			fprintf(stream, " of %s quanta%s",
				TB_COUNT_TEXT(of[TB_CONGESTION_PAUSE_QUANTA]),
				of[figure] > 1 ? " in all" : "");
	}
	fclose(stream);
	buffer[size - 1] = '\0';
	return buffer;
}

uint64_t tb_flow_lost_ps(const struct tb_flow_times *times)
{
	return times->of_ps[TB_FLOW_TIMEOUTS] + times->of_ps[TB_FLOW_RECOVERY] +
	       times->of_ps[TB_FLOW_WINDOW];
}

uint64_t tb_flow_told_ps(const struct tb_flow_times *times)
{
	uint64_t sum_ps = 0;
	for (int i = 0; i < TB_FLOW_TIME_N; i++)
		sum_ps += times->of_ps[i];
	return sum_ps;
}

void tb_flow_times_add(struct tb_flow_times *to, const struct tb_flow_times *from)
{
	to->payload_bytes += from->payload_bytes;
	for (int i = 0; i < TB_FLOW_TIME_N; i++)
		to->of_ps[i] += from->of_ps[i];
}

char *tb_flow_times_format(const struct tb_flow_times *times, char *buffer, size_t size)
{
	uint64_t least_ps = tb_flow_told_ps(times) / 100, left_ps[TB_FLOW_TIME_N];
	size_t used = 0;
	memcpy(left_ps, times->of_ps, sizeof left_ps);
	*buffer = '\0';
	for (int k = 0; k < TB_FLOW_TIME_N; k++) {
		// What it lost stands first.
		int first = k <= TB_FLOW_WINDOW ? 0 : TB_FLOW_IDLE, longest = first;
		for (int i = first; i < (first ? TB_FLOW_TIME_N : TB_FLOW_IDLE); i++)
			if (left_ps[i] > left_ps[longest])
				longest = i;
		if (left_ps[longest] > least_ps && used < size)
			used += (size_t)snprintf(buffer + used, size - used, "%s%s %s",
				used ? ", " : "",
				TB_TIME_TEXT((tb_time_ps)left_ps[longest]),
				tb_flow_time_names[longest].one);
		left_ps[longest] = 0;
	}
	return buffer;
}
