#include "trace_args.h"

#include "trace.h"
#include "units.h"
#include "visible.h"

#include <stdlib.h>
#include <string.h>

#define CAPTURES_AT(member)                                                              \
	TB_AT(struct tb_cmd_captures, member), TB_SET(struct tb_cmd_captures, given)

static void take_instant(
	const struct tb_option *row, void *target, char *value, struct argp_state *state)
{
	if (tb_instant_parse(value, target) != TB_OK)
		argp_error(state,
			"--%s=%s: expected a time since the first record, such as 1.5s, "
			"seconds or nanoseconds since 1970, or a date in UTC such as "
			"2026-11-22T12:19:00.5",
			row->name, value);
}

static const char *const dedup_words[] = {
	[TB_AUTO] = "auto", [TB_YES] = "yes", [TB_NO] = "no", NULL};

static const struct tb_option ends_options[] = {
	{"from", 0, "INSTANT",
		"Only what was captured from then on: 1.5s (since the first record), "
		"seconds or nanoseconds since 1970, or 2026-11-22T12:19:00.5 (UTC)",
		TB_CALL, CAPTURES_AT(packets.from), .take = take_instant},
	{"to", 0, "INSTANT",
		"Only what was captured until then; both instants belong to it", TB_CALL,
		CAPTURES_AT(packets.to), .take = take_instant},
	{0},
};

static const struct tb_option sampled_options[] = {
	{"sampled", 0, "N",
		"The capture has one packet of N: count and replay each N times, spread "
		"over time",
		TB_COUNT, CAPTURES_AT(packets.sampled), .min = 1, .max = UINT32_MAX,
		.seldom = true},
	{0},
};

const struct tb_option tb_span_options[] = {
	{.table = ends_options, .kind = TB_TABLE},
	{.table = sampled_options, .kind = TB_TABLE},
	{0},
};

const struct tb_option tb_loop_options[] = {
	{"closed-loop", 0, NULL,
		"Infer a job: each message waits for what it waited for when it was "
		"captured, and each rank computes for as long as it did then",
		TB_FLAG, CAPTURES_AT(closed_loop)},
	{.table = ends_options, .kind = TB_TABLE},
	{"squeeze-idle", 0, "TIME",
		"Shorten gaps of more than TIME without packets to TIME", TB_TIME,
		CAPTURES_AT(packets.squeeze_idle), .min = 1, .seldom = true},
	{0},
};

const struct tb_option tb_capture_options[] = {
	{.table = tb_loop_options, .kind = TB_TABLE},
	{.table = sampled_options, .kind = TB_TABLE},
	{"time-scale", 0, "F",
		"Multiply captured time: 0.1 makes the trace ten times as dense", TB_REAL,
		CAPTURES_AT(packets.time_scale), .least = 1e-9, .most = 1e9},
	{"dedup", 0, "auto|yes|no",
		"Drop frames seen at several capture points; auto (default): for 'any' "
		"captures, pcapng and several inputs",
		TB_WORD, CAPTURES_AT(packets.dedup), .optional = true,
		.otherwise = TB_YES, .list = dedup_words, .seldom = true},
	{"keep-retransmissions", 0, NULL, "Replay retransmitted ranges too", TB_FLAG,
		CAPTURES_AT(packets.keep_retransmissions), .seldom = true},
	{"keep-acks", 0, NULL, "Replay pure acknowledgements too", TB_FLAG,
		CAPTURES_AT(packets.keep_acks), .seldom = true},
	{0},
};

#define READING_AT(member)                                                               \
	TB_AT(struct tb_cmd_reading, member), TB_SET(struct tb_cmd_reading, given)

// take_collective checks only the form: what operations and algorithms there are is known
// to those who expand them.
static void take_collective(
	const struct tb_option *row, void *target, char *value, struct argp_state *state)
{
	const char *sign = strchr(value, '=');
	struct tb_texts *collectives = target;
	if (!sign || sign == value || !sign[1])
		argp_error(state,
			"--%s=%s: expected an operation and an algorithm, such as "
			"allreduce=ring",
			row->name, value);
	tb_texts_add(collectives, value);
}

const struct tb_option tb_reading_options[] = {
	{"library", 0, "NAME",
		"Expand collective calls into messages as this library does, and send "
		"long ones by its rendezvous: %s (default: the library that made the "
		"trace); NCCL takes a version and settings: 'nccl@2.19 NCCL_ALGO=Ring'",
		TB_TEXT, READING_AT(reading.library), .word = tb_trace_library},
	{"collective", 0, "OP=ALGORITHM",
		"Use this algorithm for calls of an operation, such as allreduce=ring; "
		"may be given again",
		TB_CALL, READING_AT(collectives), .word = tb_trace_collective,
		.take = take_collective, .seldom = true},
	{"lenient", 0, NULL,
		"Leave out and count sends, receives and collective calls without a "
		"counterpart, and read files that break off up to that point, instead of "
		"refusing the trace",
		TB_FLAG, READING_AT(reading.lenient), .seldom = true},
	{"clone-ranks", 0, "N",
		"The trace has some ranks of a data-parallel job of N ranks; the others "
		"do what these do",
		TB_COUNT, READING_AT(reading.clone_ranks), .min = 1, .max = 1 << 24,
		.seldom = true},
	{0},
};

const struct tb_reading *tb_cmd_reading_of(struct tb_cmd_reading *reading)
{
	reading->reading.collectives = reading->collectives.of;
	reading->reading.n_collectives = reading->collectives.n;
	return reading->given ? &reading->reading : NULL;
}

void tb_cmd_put_notes(FILE *stream, const char *notes, const char *indent, size_t most)
{
	char line[2048];
	size_t n = 0;
	for (const char *at = notes; at && *at;) {
		size_t length = strcspn(at, "\n");
		char *note = n++ < most ? strndup(at, length) : NULL;
		if (note)
			fprintf(stream, "%s%s\n", indent,
				tb_visible(note, line, sizeof line));
		free(note);
		at += length + (at[length] == '\n');
	}
	if (n > most)
		fprintf(stream, "%sand %zu more notes, which 'tailback info' prints\n",
			indent, n - most);
}
