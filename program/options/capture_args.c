#include "capture_args.h"

#include "units.h"

#define AT(member)                                                                       \
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
		TB_CALL, AT(packets.from), .take = take_instant},
	{"to", 0, "INSTANT", "Only what was captured until then", TB_CALL, AT(packets.to),
		.take = take_instant},
	{0},
};

static const struct tb_option sampled_options[] = {
	{"sampled", 0, "N",
		"The capture has one packet of N: count and replay each N times, spread "
		"over time",
		TB_COUNT, AT(packets.sampled), .min = 1, .max = UINT32_MAX},
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
		TB_FLAG, AT(closed_loop)},
	{.table = ends_options, .kind = TB_TABLE},
	{"squeeze-idle", 0, "TIME",
		"Shorten gaps of more than TIME without packets to TIME", TB_TIME,
		AT(packets.squeeze_idle), .min = 1},
	{0},
};

const struct tb_option tb_capture_options[] = {
	{.table = tb_loop_options, .kind = TB_TABLE},
	{.table = sampled_options, .kind = TB_TABLE},
	{"time-scale", 0, "F",
		"Multiply captured time: 0.1 makes the trace ten times as dense", TB_REAL,
		AT(packets.time_scale), .least = 1e-9, .most = 1e9},
	{"dedup", 0, "auto|yes|no",
		"Drop frames seen at several capture points; auto (default): for 'any' "
		"captures, pcapng and several inputs",
		TB_WORD, AT(packets.dedup), .optional = true, .otherwise = TB_YES,
		.list = dedup_words},
	{"keep-retransmissions", 0, NULL, "Replay retransmitted ranges too", TB_FLAG,
		AT(packets.keep_retransmissions)},
	{"keep-acks", 0, NULL, "Replay pure acknowledgements too", TB_FLAG,
		AT(packets.keep_acks)},
	{0},
};
