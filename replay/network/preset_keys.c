#include "preset_keys.h"

#include "key_rows.h"
#include "switchings.h"

#include <stdio.h>
#include <string.h>

// The longest that a queue pair can have: 4.096 us 2^31 (docs/credits.md, C32).
#define RETRY_DELAY_MOST (8797 * TB_PS_PER_S)

#define WORD(name) #name,
static const char *const switchings[] = {TB_SWITCHINGS(WORD)};

const struct tb_preset_key tb_preset_keys[] = {
	{"network", "name", TEXT(WORD), AT(name), TB_KEY_NEEDED, "the network's name"},
	{"network", "switching", TB_FORM_SWITCHING, switchings, 0,
		sizeof switchings / sizeof *switchings - 1, AT(switching),
		TB_KEY_MAY_LACK, "how links and switches carry packets"},
	{"network", "arity", COUNT(2, 4096), AT(arity), TB_KEY_NEEDED,
		"links down, and up, of a switch"},
	{"network", "levels", COUNT(1, 24), AT(levels), TB_KEY_NEEDED,
		"levels of switches; there are arity^levels nodes"},
	{"network", "shape", TEXT(SHAPE), AT(shape), TB_KEY_CAME_LATER,
		"another regular tree, in place of arity and levels"},
	{"network", "rails", COUNT(1, 64), AT(n_rails), TB_KEY_MAY_LACK,
		"networks side by side"},
	{"network", "ascent", CHOICE(tb_ascent_words, TB_ASCENT_ECMP), AT(ascent),
		TB_KEY_NEEDED, "which of the links that lead on a header takes"},
	{"network", "broadcast", YES_OR_NO, AT(broadcast), TB_KEY_MAY_LACK,
		"a message to a range of nodes is one"},
	{"network", "host", TEXT(LIBRARY), AT(host.name), TB_KEY_MAY_LACK,
		"the library that processes send with, one of [host.NAME]"},
	{"link", "rate", RATE, AT(link_bytes_per_s), TB_KEY_NEEDED,
		"data rate of each direction"},
	{"link", "hop_latency", TIME(1, TB_PS_PER_S), AT(hop_latency_ps), TB_KEY_NEEDED,
		"time through a switch and the cable to it"},
	{"link", "level_rates", TEXT(LEVEL_RATES), AT(level_rates), TB_KEY_CAME_LATER,
		"in place of rate, by level"},
	{"link", "level_latencies", TEXT(LEVEL_TIMES), AT(level_latencies),
		TB_KEY_CAME_LATER, "in place of hop_latency, by level"},
	{"packet", "payload", SIZE(1, 1 << 20), AT(packet_payload_bytes), TB_KEY_NEEDED,
		"the most that a packet carries"},
	{"packet", "overhead", SIZE(0, 1 << 16), AT(packet_overhead_bytes), TB_KEY_NEEDED,
		"bytes of a packet beyond its payload"},
	{"node", "send_overhead", TIME(0, TB_PS_PER_S), AT(send_overhead_ps),
		TB_KEY_NEEDED, "time from a message's post to its first byte"},
	{"node", "receive_overhead", TIME(0, TB_PS_PER_S), AT(receive_overhead_ps),
		TB_KEY_NEEDED, "time from the last byte to the notification"},
	{"node", "retries", COUNT(0, 255), AT(retries), TB_KEY_NEEDED,
		"tries of a packet that failed, before its node turns elsewhere"},
	{"node", "retry_delay", TIME(0, RETRY_DELAY_MOST), AT(retry_delay_ps),
		TB_KEY_NEEDED, "time from a failure to the next try"},
	{TB_PRESET_HOST, "issue", TIME(0, TB_PS_PER_S), AT_HOST(issue_ps),
		TB_KEY_MAY_LACK, "time that the sending process takes for a piece"},
	{TB_PRESET_HOST, "notice", TIME(0, TB_PS_PER_S), AT_HOST(notice_ps),
		TB_KEY_MAY_LACK, "time that the receiving process takes for a piece"},
	{TB_PRESET_HOST, "wake", TIME(0, TB_PS_PER_S), AT_HOST(wake_ps),
		TB_KEY_CAME_LATER, "time until it sees a piece, during which it is free"},
	{TB_PRESET_HOST, "copy", RATE, AT_HOST(copy_bytes_per_s), TB_KEY_MAY_BE_NONE,
		"rate at which the sender copies what it sends"},
	{TB_PRESET_HOST, "eager_copy", RATE, AT_HOST(eager_copy_bytes_per_s),
		TB_KEY_NONE_LATER,
		"rate at which both ends copy what goes without a handshake"},
	{TB_PRESET_HOST, "largest", SIZE(1, 1 << 30), AT_HOST(largest_bytes),
		TB_KEY_MAY_BE_NONE, "longest piece of a message"},
	{TB_PRESET_HOST, "outstanding", COUNT(1, 1 << 20), AT_HOST(n_outstanding),
		TB_KEY_MAY_BE_NONE, "pieces of a process that are under way at most"},
	{TB_PRESET_HOST, "launch", TIME(0, TB_PS_PER_S), AT_HOST(launch_ps),
		TB_KEY_MAY_LACK, "time that a single message takes to begin"},
	{TB_PRESET_HOST, "channel_rate", RATE, AT_HOST(channel_bytes_per_s),
		TB_KEY_MAY_BE_NONE, "most that a channel of two processes carries"},
	{TB_PRESET_HOST, "rails_policy", CHOICE(tb_rails_policy_words, TB_RAILS_BY_RANK),
		AT_HOST(rails_policy), TB_KEY_CAME_LATER,
		"which rails a message goes over"},
	{TB_PRESET_HOST, "between_rails",
		CHOICE(tb_between_rails_words, TB_BETWEEN_SPINE), AT_HOST(between_rails),
		TB_KEY_CAME_LATER, "how a message reaches a rank bound to another rail"},
	{TB_PRESET_HOST, "gpus", COUNT(0, 64), AT_HOST(n_gpus), TB_KEY_CAME_LATER,
		"GPUs of a node; where there are more rails, each has several"},
	{TB_PRESET_HOST, "stripe_above", SIZE(0, 1 << 30), AT_HOST(stripe_above_bytes),
		TB_KEY_MAY_LACK, "longer pieces are split over rails"},
	{TB_PRESET_HOST, "handshake", CHOICE(tb_handshake_words, TB_HANDSHAKE_RENDEZVOUS),
		AT_HOST(handshake), TB_KEY_MAY_LACK,
		"what is exchanged before the data of a message"},
	{TB_PRESET_HOST, "handshake_above", SIZE(0, 1 << 30),
		AT_HOST(handshake_above_bytes), TB_KEY_MAY_LACK,
		"shorter pieces go without a handshake"},
	{TB_PRESET_HOST, "handshake_delay", TIME(0, TB_PS_PER_S),
		AT_HOST(handshake_delay_ps), TB_KEY_CAME_LATER,
		"time from a message of a handshake to what it lets begin"},
	{TB_PRESET_HOST, "local", CHOICE(tb_local_words, TB_LOCAL_LINKS), AT_HOST(local),
		TB_KEY_MAY_LACK, "how messages between processes of a node travel"},
	{TB_PRESET_HOST, "local_latency", TIME(0, TB_PS_PER_S), AT_HOST(local_latency_ps),
		TB_KEY_MAY_LACK, "latency of a message within a node"},
	{TB_PRESET_HOST, "local_inline", SIZE(0, 1 << 30), AT_HOST(local_inline_bytes),
		TB_KEY_CAME_LATER, "through memory, longer messages wait local_fetch"},
	{TB_PRESET_HOST, "local_fetch", TIME(0, TB_PS_PER_S), AT_HOST(local_fetch_ps),
		TB_KEY_CAME_LATER, "time to find data that stand apart from the message"},
	{TB_PRESET_HOST, "local_rate", RATE, AT_HOST(local_bytes_per_s),
		TB_KEY_MAY_BE_NONE, "rate at which a process copies, or of its link"},
	{TB_PRESET_HOST, "combine", RATE, AT_HOST(combine_bytes_per_s), TB_KEY_NONE_LATER,
		"rate at which a process adds up what a collective call brings"},
	{TB_PRESET_HOST, "combine_cached", RATE, AT_HOST(combine_cached_bytes_per_s),
		TB_KEY_NONE_LATER,
		"the same in a cache, where that is faster; none: 2/3 of eager_copy"},
	{TB_PRESET_HOST, "pack", RATE, AT_HOST(pack_bytes_per_s), TB_KEY_NONE_LATER,
		"rate at which it copies blocks, and packs those of Bruck's all-to-all"},
	{TB_PRESET_HOST, "cache", SIZE(0, 1 << 30), AT_HOST(cache_bytes),
		TB_KEY_CAME_LATER,
		"of a core; in it, copies are done at eager_copy where that is faster"},
	{TB_PRESET_HOST, "shared_cache", SIZE(0, 1 << 30), AT_HOST(shared_cache_bytes),
		TB_KEY_CAME_LATER, "that the ranks of a node share, for adding up"},
	{TB_PRESET_HOST, "fresh", RATE, AT_HOST(fresh_bytes_per_s), TB_KEY_NONE_LATER,
		"rate at which a reduction first touches vectors that it allocates"},
	{TB_PRESET_HOST, "pin", TIME(0, TB_PS_PER_S), AT_HOST(pin_ps), TB_KEY_CAME_LATER,
		"time to register these for a message with a handshake, at each end"},
	{TB_PRESET_HOST, "call", TIME(0, TB_PS_PER_S), AT_HOST(call_ps),
		TB_KEY_CAME_LATER,
		"time that a collective call of an MPI takes to begin"},
	{TB_PRESET_HOST, "memory_rate", RATE, AT_HOST(memory_bytes_per_s),
		TB_KEY_NONE_LATER, "rate of all copies within a node together"},
};
const size_t tb_preset_n_keys = sizeof tb_preset_keys / sizeof *tb_preset_keys;

char *tb_preset_key_expects(const struct tb_preset_key *key, char *buffer, size_t size)
{
	static const char *const sentences[] = {
		[TB_FORM_WORD] = "a name of 1 to 31 bytes",
		[TB_FORM_LIBRARY] = "a name of 1 to 31 bytes",
		[TB_FORM_REAL] = "a number from 0 to 1",
		[TB_FORM_VL_TABLE] = "none, even, or up to 64 words VL:WEIGHT, weights "
				     "up to 255, such as 0:64 1:32",
		[TB_FORM_SL_TO_VL] = "modulo, or up to 16 lanes, such as 0 0 1",
		[TB_FORM_SHAPE] = "a tree, such as 'xgft(2; 4,4; 1,4)'",
		[TB_FORM_LEVEL_RATES] = "1 to 12 rates from 1MB/s to 1000GB/s, the "
					"nodes' first: " TB_RATE_HINT,
		[TB_FORM_LEVEL_TIMES] = "1 to 12 times above 0 and up to 1s, the nodes' "
					"first, such as 300ns 500ns",
	};
	if (key->form == TB_FORM_CHOICE || key->form == TB_FORM_SWITCHING) {
		// Write "A, B or C" of the words up to number `last`.
		const char *const *words = key->words;
		uint64_t last = key->max;
		size_t n = 0;
		for (uint64_t i = 0; i <= last && n < size; i++)
			n += (size_t)snprintf(buffer + n, size - n, "%s%s",
				i == 0	    ? ""
				: i == last ? " or "
					    : ", ",
				words[i]);
		return buffer;
	}
	if (!sentences[key->form]) {
		// Write what a number may be.
		const char *none = key->need >= TB_KEY_MAY_BE_NONE ? ", or none" : "";
		if (key->form == TB_FORM_TIME)
			snprintf(buffer, size, "a time %s %llus, such as 200ns",
				key->min ? "above 0 and up to" : "from 0 to",
				(unsigned long long)(key->max / (uint64_t)TB_PS_PER_S));
		else if (key->form == TB_FORM_RATE)
			snprintf(buffer, size,
				"%sa rate from 1MB/s to 1000GB/s: " TB_RATE_HINT,
				*none ? "none or " : "");
		else
			snprintf(buffer, size, "a %s from %llu to %llu%s",
				key->form == TB_FORM_COUNT ? "whole number"
							   : "size in bytes",
				(unsigned long long)key->min,
				(unsigned long long)key->max, none);
		return buffer;
	}
	snprintf(buffer, size, "%s", sentences[key->form]);
	return buffer;
}

bool tb_preset_key_choice(
	const struct tb_preset_key *key, const char *word, unsigned *number)
{
	for (unsigned i = 0; key->words[i]; i++)
		if (strcmp(key->words[i], word) == 0) {
			*number = i;
			return true;
		}
	return false;
}

size_t tb_preset_text_room(enum tb_preset_form form)
{
	if (form == TB_FORM_VL_TABLE)
		return TB_VL_TABLE_TEXT;
	return form == TB_FORM_SL_TO_VL ? TB_SL_TEXT : 0;
}

int tb_preset_shape_text(
	enum tb_preset_form form, char *text, const char *value, struct tb_error *error)
{
	struct tb_shape shape;
	uint64_t rates[TB_SHAPE_LEVELS_MOST];
	tb_time_ps times[TB_SHAPE_LEVELS_MOST];
	if (form == TB_FORM_SHAPE) {
		int status = tb_shape_parse(&shape, value, error);
		if (status == TB_OK)
			tb_shape_text(&shape, text);
		return status;
	}
	if (strlen(value) >= TB_SHAPE_TEXT)
		return TB_EUSAGE;
	int status = form == TB_FORM_LEVEL_RATES ? tb_shape_rates(rates, value)
						 : tb_shape_times(times, value);
	if (status == TB_OK)
		snprintf(text, TB_SHAPE_TEXT, "%s", value);
	return status;
}

struct tb_network_params tb_preset_hardest(const struct tb_network_params *params)
{
	struct tb_network_params hard = *params;
	uint64_t rates[TB_SHAPE_LEVELS_MOST] = {0};
	tb_time_ps times[TB_SHAPE_LEVELS_MOST] = {0};
	if (params->level_rates[0] && tb_shape_rates(rates, params->level_rates) == TB_OK)
		hard.link_bytes_per_s = 0;
	if (params->level_latencies[0] &&
		tb_shape_times(times, params->level_latencies) == TB_OK)
		hard.hop_latency_ps = 0;
	for (size_t i = 0; i < TB_SHAPE_LEVELS_MOST; i++) {
		if (rates[i] > hard.link_bytes_per_s)
			hard.link_bytes_per_s = rates[i];
		if (times[i] > hard.hop_latency_ps)
			hard.hop_latency_ps = times[i];
	}
	return hard;
}

struct tb_network_params tb_preset_simplified(const struct tb_network_params *read)
{
	struct tb_network_params params = *read;
	struct tb_shape shape = {0};
	uint64_t rates[TB_SHAPE_LEVELS_MOST];
	tb_time_ps times[TB_SHAPE_LEVELS_MOST];
	if (params.level_rates[0] && tb_shape_rates(rates, params.level_rates) == TB_OK)
		params.link_bytes_per_s = rates[0];
	if (params.level_latencies[0] &&
		tb_shape_times(times, params.level_latencies) == TB_OK)
		params.hop_latency_ps = times[0];
	if (!params.shape[0] || tb_shape_parse(&shape, params.shape, NULL) != TB_OK)
		return params;
	bool is_kary = tb_shape_is_kary(&shape);
	params.arity = is_kary ? shape.m[0] : 0;
	params.levels = shape.n_levels;
	if (is_kary)
		params.shape[0] = '\0';
	return params;
}
