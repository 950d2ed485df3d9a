#include "preset_keys.h"
#include "credit_params.h"
#include "key_rows.h"
#include "nearest.h"
#include "preset_reading.h"
#include "shape.h"
#include "switchings.h"

#include <inttypes.h>
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
	{"network", "ports", COUNT(0, 4096), AT(n_ports), TB_KEY_CAME_LATER,
		"ports that a switch has to buy, with a cable or free; 0: not known"},
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

// The values of a preset's keys: from the text to what the key has.

static void *place_of(struct tb_preset_reading *reading, const struct tb_preset_key *key)
{
	bool in_host = strcmp(key->section, TB_PRESET_HOST) == 0;
	return (in_host ? (char *)&reading->host->params : (char *)&reading->params) +
	       key->offset;
}

static int out_of_range(struct tb_preset_reading *reading,
	const struct tb_preset_key *key, const char *value)
{
	char expected[240];
	return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
		"%s = %s: expected %s", key->name, value,
		tb_preset_key_expects(key, expected, sizeof expected));
}

// is_none: keys that may be without a limit take `none`, and 0 as others do.
static bool is_none(const struct tb_preset_key *key, const char *value)
{
	return key->need >= TB_KEY_MAY_BE_NONE &&
	       (strcmp(value, "none") == 0 || strcmp(value, "0") == 0);
}

static int store_library(struct tb_preset_reading *reading,
	const struct tb_preset_key *key, const char *value)
{
	if (strlen(value) >= sizeof reading->library || value[0] == '\0')
		return out_of_range(reading, key, value);
	snprintf(reading->library, sizeof reading->library, "%s", value);
	return TB_OK;
}

// store_choice stores the place of a word in a list, an enum's value. No preset has its
// routes from a table.
static int store_choice(struct tb_preset_reading *reading,
	const struct tb_preset_key *key, const char *value)
{
	unsigned i = 0;
	if (!tb_preset_key_choice(key, value, &i) || i > key->max)
		return out_of_range(reading, key, value);
	memcpy(place_of(reading, key), &i, sizeof i);
	return TB_OK;
}

// is_table: lanes are checked against how many there are later, when that is known.
static bool is_table(enum tb_preset_form form, const char *text)
{
	struct tb_vl_table table;
	uint8_t vls[TB_SLS];
	return (form == TB_FORM_VL_TABLE
			       ? tb_vl_table_read(&table, text, TB_VLS_MOST, false)
			       : tb_sl_to_vl_read(vls, text, TB_VLS_MOST)) == TB_OK;
}

// space_out writes the words of a list apart by single blanks, as far as there is room,
// and returns the length.
static size_t space_out(char *text, size_t room, const char *value)
{
	size_t n = 0;
	for (const char *at = value; *at && n + 1 < room; at++) {
		bool gap = strchr(" ,\t", *at) != NULL;
		if (!gap)
			text[n++] = *at;
		else if (n > 0 && text[n - 1] != ' ')
			text[n++] = ' ';
	}
	n -= n > 0 && text[n - 1] == ' ';
	text[n] = '\0';
	return n;
}

// store_table keeps a table as a text whose numbers stand apart by single blanks.
static int store_table(struct tb_preset_reading *reading, const struct tb_preset_key *key,
	const char *value)
{
	char text[TB_VL_TABLE_TEXT];
	size_t room = tb_preset_text_room(key->form);
	size_t n = space_out(text, room, value);
	if (n == 0 || n + 1 >= room || !is_table(key->form, text))
		return out_of_range(reading, key, value);
	memcpy(place_of(reading, key), text, n + 1);
	return TB_OK;
}

static int store_shape(struct tb_preset_reading *reading, const struct tb_preset_key *key,
	const char *value)
{
	struct tb_error why = {0};
	if (tb_preset_shape_text(key->form, place_of(reading, key), value, &why) == TB_OK)
		return TB_OK;
	return tb_fail_in(reading->error, TB_EUSAGE, reading->source, "%s", why.text);
}

// preset_store_levels keeps a list by level, apart by single blanks as a table.
static int preset_store_levels(struct tb_preset_reading *reading,
	const struct tb_preset_key *key, const char *value)
{
	char text[TB_SHAPE_TEXT];
	size_t n = space_out(text, sizeof text, value);
	if (n + 1 < sizeof text && tb_preset_shape_text(key->form, place_of(reading, key),
					   text, NULL) == TB_OK)
		return TB_OK;
	return out_of_range(reading, key, value);
}

int tb_preset_set_switching(struct tb_preset_reading *reading, const char *name)
{
	const struct tb_switching_kind *kinds = reading->kinds;
	size_t i = 0;
	while (i < reading->n_kinds && strcmp(kinds[i].name, name) != 0)
		i++;
	if (i == reading->n_kinds) {
		struct tb_hint hint;
		return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"switching = %s: there is no such one%s", name,
			tb_hint_choice(&hint, name, &kinds->name, reading->n_kinds,
				sizeof *kinds));
	}
	reading->n_keys = tb_switching_keys(&kinds[i], reading->keys);
	reading->kind = &kinds[i];
	snprintf(reading->params.switching, sizeof reading->params.switching, "%s", name);
	return TB_OK;
}

// store_switching: the list of changes takes precedence over the preset.
static int store_switching(struct tb_preset_reading *reading, const char *value)
{
	if (reading->switching[0] && reading->kind->stands_for_other) {
		// The list has another switching stand in for that of the preset.
		for (size_t i = 0; i < reading->n_kinds; i++) {
			const struct tb_switching_kind *kind = &reading->kinds[i];
			if (strcmp(kind->name, value) != 0 || kind->stands_for_other)
				continue;
			reading->params.stands_for = (unsigned)i;
			return TB_OK;
		}
		return TB_OK;
	}
	if (reading->switching[0])
		return TB_OK;
	for (size_t i = tb_preset_n_keys; i < reading->n_keys; i++)
		if (reading->seen[i] > reading->file->depth)
			return strcmp(value, reading->kind->name) == 0
				       ? TB_OK
				       : tb_fail_in(reading->error, TB_EUSAGE,
						 reading->source,
						 "switching = %s: it is like a network "
						 "with switching = %s",
						 value, reading->kind->name);
		else if (reading->seen[i])
			return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
				"switching = %s: expected before '%s', a key that not "
				"every switching has",
				value, reading->keys[i].name);
	return tb_preset_set_switching(reading, value);
}

int tb_preset_set_value(struct tb_preset_reading *reading,
	const struct tb_preset_key *key, const char *value)
{
	switch (key->form) {
	case TB_FORM_WORD:
		if (strlen(value) >= sizeof reading->params.name || value[0] == '\0')
			return out_of_range(reading, key, value);
		snprintf(reading->params.name, sizeof reading->params.name, "%s", value);
		return TB_OK;
	case TB_FORM_SWITCHING:
		return store_switching(reading, value);
	case TB_FORM_CHOICE:
		return store_choice(reading, key, value);
	case TB_FORM_COUNT:
	case TB_FORM_SIZE: {
		uint64_t whole = 0;
		bool none = is_none(key, value);
		int status = none ? TB_OK
			     : key->form == TB_FORM_COUNT
				     ? tb_parse_count(value, 0, UINT32_MAX, &whole)
				     : tb_parse_size(value, &whole);
		if (!none && (status != TB_OK || whole < key->min || whole > key->max))
			return out_of_range(reading, key, value);
		uint32_t stored = (uint32_t)whole;
		memcpy(place_of(reading, key), &stored, sizeof stored);
		return TB_OK;
	}
	case TB_FORM_RATE: {
		uint64_t rate = 0;
		bool none = is_none(key, value);
		if (!none && (tb_parse_rate(value, &rate) != TB_OK || rate < key->min ||
				     rate > key->max))
			return out_of_range(reading, key, value);
		memcpy(place_of(reading, key), &rate, sizeof rate);
		return TB_OK;
	}
	case TB_FORM_TIME: {
		tb_time_ps time = 0;
		if (tb_parse_time(value, &time) != TB_OK || (uint64_t)time < key->min ||
			(uint64_t)time > key->max)
			return out_of_range(reading, key, value);
		memcpy(place_of(reading, key), &time, sizeof time);
		return TB_OK;
	}
	case TB_FORM_REAL: {
		double real = 0;
		if (tb_parse_real(value, 0, 1, &real) != TB_OK)
			return out_of_range(reading, key, value);
		memcpy(place_of(reading, key), &real, sizeof real);
		return TB_OK;
	}
	case TB_FORM_LIBRARY:
		return store_library(reading, key, value);
	case TB_FORM_VL_TABLE:
	case TB_FORM_SL_TO_VL:
		return store_table(reading, key, value);
	case TB_FORM_SHAPE:
		return store_shape(reading, key, value);
	case TB_FORM_LEVEL_RATES:
	case TB_FORM_LEVEL_TIMES:
		return preset_store_levels(reading, key, value);
	}
	return TB_EUSAGE;
}

int tb_preset_take_taper(struct tb_preset_reading *reading)
{
	struct tb_network_params *params = &reading->params;
	struct tb_shape shape = {0};
	uint32_t down = 0, up = 1;
	char end;
	int n = sscanf(reading->taper, "%" SCNu32 ":%" SCNu32 "%c", &down, &up, &end);
	int status = TB_OK;
	if (params->shape[0])
		status = tb_shape_parse(&shape, params->shape, reading->error);
	else if (params->levels > TB_SHAPE_LEVELS_MOST)
		status = tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"taper = %s: expected at most %d levels", reading->taper,
			TB_SHAPE_LEVELS_MOST);
	else
		shape = tb_shape_kary(params->arity, params->levels);
	if (status != TB_OK)
		return status;
	if ((n != 1 || strspn(reading->taper, "0123456789") < strlen(reading->taper)) &&
		n != 2)
		down = 0;
	if (down < 1 || up < 1 || down < up)
		return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"taper = %s: expected cables down of a leaf switch for each up, "
			"such "
			"as 2 or 3:2",
			reading->taper);
	if (shape.n_levels < 2)
		return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"taper = %s: there is one level of switches, and nothing above "
			"it",
			reading->taper);
	uint64_t n_up = (uint64_t)shape.m[0] * up / down;
	if (n_up == 0 || (uint64_t)shape.m[0] * up % down)
		return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"taper = %s: of %u cables down of a leaf switch that makes no "
			"whole "
			"number up",
			reading->taper, shape.m[0]);
	if (n_up % shape.p[1])
		shape.p[1] = 1;
	shape.w[1] = (uint32_t)n_up / shape.p[1];
	tb_shape_text(&shape, params->shape);
	return TB_OK;
}
