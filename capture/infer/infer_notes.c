#include "infer_notes.h"

#include "format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void note_ports(FILE *stream, const struct tb_infer_report *report)
{
	char rate[32], bucket[32];
	if (report->port_bytes_per_s == 0) {
		fputs("no node sent enough full frames in a row to show the rate of its "
		      "port: queues in the captured network are not accounted for\n",
			stream);
		return;
	}
	fprintf(stream, "the nodes' ports carried %s",
		tb_format_rate((double)report->port_bytes_per_s, rate, sizeof rate));
	if (report->bucket_bytes)
		fprintf(stream, " and let %s pass at once after a pause",
			tb_format_size(report->bucket_bytes, bucket, sizeof bucket));
	fputs(" (median, from the spacing of full frames)\n", stream);
}

// note_count writes a sentence about messages, unless there are none.
static void note_count(FILE *stream, uint64_t n, uint64_t of, const char *what)
{
	char number[32], share[40];
	if (n == 0)
		return;
	fprintf(stream, "%s messages (%s) %s\n",
		tb_format_count(n, number, sizeof number),
		tb_format_percent(100.0 * (double)n / (double)of, share, sizeof share),
		what);
}

char *tb_infer_notes(const struct tb_infer_report *report)
{
	char number[32], size[32];
	char *text = NULL;
	size_t length = 0;
	uint64_t n = report->n_messages;
	FILE *stream = open_memstream(&text, &length);
	if (!stream)
		return NULL;
	fprintf(stream, "%s messages of %s in all were inferred from packets\n",
		tb_format_count(n, number, sizeof number),
		tb_format_size(report->bytes, size, sizeof size));
	if (report->is_cut)
		fprintf(stream,
			"the capture breaks off: the %s records before that count\n",
			tb_format_count(report->n_records, number, sizeof number));
	note_ports(stream, report);
	note_count(stream, report->n_recurring, n,
		"wait for what comes before them in every repetition");
	note_count(stream, report->n_nearest, n,
		"wait for the last delivery before them, for want of a rule that recurs");
	note_count(stream, report->n_first, n, "wait for nothing that was captured");
	note_count(stream, report->n_hidden, n,
		"stood behind others of their node, so that the computation before them "
		"is the usual one or the least possible");
	note_count(stream, report->n_split, n,
		"were cut from longer runs by the sizes of others");
	note_count(stream, report->n_unfinished, n,
		"were not known to be whole when the capture ended");
	note_count(stream, report->n_missing, n, "have bytes that were not captured");
	note_count(stream, report->n_unnumbered, n,
		"are datagrams, each taken for a message");
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}
