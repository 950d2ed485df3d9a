#include "congestion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct tb_congestion_name tb_congestion_names[TB_CONGESTION_N] = {
	[TB_CONGESTION_RETRANSMISSIONS] = {"retransmissions", "Sent again",
		"Segments or packets that were sent again, without keep-alives",
		"retransmission"},
	[TB_CONGESTION_FAST] = {"fast_retransmissions", "fast",
		"Of them, after two duplicate acknowledgements", "fast"},
	[TB_CONGESTION_TIMEOUTS] = {"timeout_retransmissions", "by time-out",
		"Of them, after both ends had been silent for two round trips",
		"by time-out"},
	[TB_CONGESTION_SPURIOUS] = {"spurious_retransmissions", "in vain",
		"Of them, although they had been acknowledged", "in vain"},
	[TB_CONGESTION_KEEP_ALIVES] = {"keep_alives", "Keep-alives",
		"Segments that only ask whether the other end is there", "keep-alive"},
	[TB_CONGESTION_DUPLICATE_ACKS] = {"duplicate_acks", "Dup. ACKs",
		"Acknowledgements that repeat the one before",
		"duplicate acknowledgement"},
	[TB_CONGESTION_DUPLICATES] = {"duplicates", "Copies",
		"Copies of a frame that another point of the capture saw",
		"copied frame"},
	[TB_CONGESTION_OUT_OF_ORDER] = {"out_of_order", "Out of order",
		"Packets that a later one overtook", "out-of-order packet"},
	[TB_CONGESTION_ZERO_WINDOWS] = {"zero_windows", "Zero windows",
		"Segments in which the receiver takes no more bytes", "zero window"},
	[TB_CONGESTION_CLOSED_PS] = {"zero_window_ps", "closed for",
		"How long that lasted, of all connections together", NULL},
	[TB_CONGESTION_FULL_WINDOWS] = {"full_windows", "Full windows",
		"Segments that fill the receiver's window exactly", "full window"},
	[TB_CONGESTION_LIMITED_PS] = {"window_limited_ps", "limited for",
		"How long the receiver's window left no room for a full segment, and the "
		"sender went on once it did, of all connections together",
		NULL},
	[TB_CONGESTION_MARKED] = {"marked", "Marked",
		"Packets with a congestion mark (ECN's CE, InfiniBand's FECN)",
		"marked packet"},
	[TB_CONGESTION_CNPS] = {"cnps", "CNPs",
		"Congestion notification packets of RoCE v2", "CNP"},
	[TB_CONGESTION_PAUSES] = {"pauses", "Pauses",
		"Classes that frames ask to pause (IEEE 802.1Qbb, 802.3x)", "pause"},
	[TB_CONGESTION_RESUMES] = {"pause_resumes", "Resumed",
		"Classes that such frames let go on (0 quanta)", "resumption"},
	[TB_CONGESTION_PAUSE_QUANTA] = {"pause_quanta", "Quanta",
		"For how long they ask, in 512 bit times of the port, at most", NULL},
};

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
static double badness(const struct tb_congestion_counts *counts)
{
	const uint64_t *of = counts->of;
	return 1000 * (double)of[TB_CONGESTION_RETRANSMISSIONS] +
	       100 * (double)(of[TB_CONGESTION_PAUSES] + of[TB_CONGESTION_ZERO_WINDOWS]) +
	       (double)(of[TB_CONGESTION_CLOSED_PS] + of[TB_CONGESTION_LIMITED_PS]) /
		       (double)TB_PS_PER_US +
	       10 * (double)of[TB_CONGESTION_CNPS] + (double)of[TB_CONGESTION_MARKED] +
	       (double)of[TB_CONGESTION_OUT_OF_ORDER] +
	       (double)of[TB_CONGESTION_DUPLICATE_ACKS];
}

static int by_badness(const void *a, const void *b, void *pairs)
{
	size_t one = *(const size_t *)a, other = *(const size_t *)b;
	const struct tb_congestion_pair *of = pairs;
	double x = badness(&of[one].counts), y = badness(&of[other].counts);
	return x != y ? (x > y ? -1 : 1) : (one > other) - (one < other);
}

size_t *tb_congestion_worst(const struct tb_congestion *congestion, size_t *n)
{
	size_t *worst = calloc(congestion->n_pairs + 1, sizeof *worst), n_worst = 0;
	for (size_t i = 0; worst && i < congestion->n_pairs; i++)
		if (badness(&congestion->pairs[i].counts) > 0)
			worst[n_worst++] = i;
	if (worst)
		qsort_r(worst, n_worst, sizeof *worst, by_badness, congestion->pairs);
	*n = n_worst;
	return worst;
}

char *tb_congestion_format(
	const struct tb_congestion_counts *counts, char *buffer, size_t size)
{
	static const enum tb_congestion_figure listed[] = {TB_CONGESTION_RETRANSMISSIONS,
		TB_CONGESTION_ZERO_WINDOWS, TB_CONGESTION_LIMITED_PS,
		TB_CONGESTION_MARKED, TB_CONGESTION_CNPS, TB_CONGESTION_PAUSES,
		TB_CONGESTION_RESUMES, TB_CONGESTION_OUT_OF_ORDER,
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
