#include "capture_args.h"

#include "units.h"

#include <string.h>

static void want_instant(const struct argp_state *state, const char *name,
	const char *text, struct tb_instant *instant)
{
	if (tb_instant_parse(text, instant) != TB_OK)
		argp_error(state,
			"--%s=%s: expected a time since the first record, such as 1.5s, "
			"seconds or nanoseconds since 1970, or a date in UTC such as "
			"2026-11-22T12:19:00.5",
			name, text);
}

void tb_cmd_want_time(const struct argp_state *state, const char *name, const char *text,
	tb_time_ps *time)
{
	if (tb_parse_time(text, time) != TB_OK || *time == 0)
		argp_error(state,
			"--%s=%s: expected a time above 0 with its unit, such as 10us",
			name, text);
}

const char *const tb_cmd_dedup_words[] = {
	[TB_AUTO] = "auto", [TB_YES] = "yes", [TB_NO] = "no", NULL};

static enum tb_packets_choice want_dedup(const struct argp_state *state, const char *text)
{
	static const struct tb_cmd_words words[] = {TB_CMD_CAPTURE_WORDS, {0}};
	return text ? (enum tb_packets_choice)tb_cmd_word(
			      words, TB_KEY_DEDUP, text, state)
		    : TB_YES;
}

error_t tb_cmd_capture_arg(int key, const char *value, const struct argp_state *state,
	struct tb_cmd_captures *captures)
{
	struct tb_packets_options *packets = &captures->packets;
	uint64_t n = 0;
	switch (key) {
	case TB_KEY_FROM:
		want_instant(state, "from", value, &packets->from);
		break;
	case TB_KEY_TO:
		want_instant(state, "to", value, &packets->to);
		break;
	case TB_KEY_TIME_SCALE:
		if (tb_parse_real(value, 1e-9, 1e9, &packets->time_scale) != TB_OK)
			argp_error(state,
				"--time-scale=%s: expected a number from 1e-9 to 1e9",
				value);
		break;
	case TB_KEY_SAMPLED:
		if (tb_parse_count(value, 1, UINT32_MAX, &n) != TB_OK)
			argp_error(state,
				"--sampled=%s: expected how many packets each stands "
				"for, from 1 on",
				value);
		packets->sampled = (uint32_t)n;
		break;
	case TB_KEY_CLOSED_LOOP:
		captures->closed_loop = true;
		break;
	case TB_KEY_SQUEEZE:
		tb_cmd_want_time(state, "squeeze-idle", value, &packets->squeeze_idle);
		break;
	case TB_KEY_DEDUP:
		packets->dedup = want_dedup(state, value);
		break;
	case TB_KEY_RETRANSMISSIONS:
		packets->keep_retransmissions = true;
		break;
	case TB_KEY_ACKS:
		packets->keep_acks = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	captures->given = true;
	return 0;
}
