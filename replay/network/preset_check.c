// What the values of a preset mean together.
#include "circuit_params.h"
#include "credit_params.h"
#include "preset_reading.h"
#include "shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// is_replaced: a shape has no arity and no levels, and what stands by level stands in
// place of what is for all.
static bool is_replaced(
	const struct tb_preset_reading *reading, const struct tb_preset_key *key)
{
	const struct tb_network_params *params = &reading->params;
	if (strcmp(key->name, "arity") == 0 || strcmp(key->name, "levels") == 0)
		return params->shape[0];
	if (strcmp(key->name, "rate") == 0)
		return params->level_rates[0];
	return strcmp(key->name, "hop_latency") == 0 && params->level_latencies[0];
}

static int check_keys(const struct tb_preset_reading *reading)
{
	const struct tb_preset_key *keys = reading->keys;
	for (size_t i = 0; i < reading->n_keys; i++)
		if (!reading->seen[i] && !is_replaced(reading, &keys[i]) &&
			strcmp(keys[i].section, TB_PRESET_HOST) != 0 &&
			keys[i].need != TB_KEY_MAY_LACK &&
			keys[i].need != TB_KEY_CAME_LATER &&
			keys[i].need != TB_KEY_NONE_LATER)
			return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
				"the key '%s' of section [%s] is missing", keys[i].name,
				keys[i].section);
	const struct tb_network_params hard = tb_preset_hardest(&reading->params);
	return reading->kind->check(&hard, reading->source, reading->error);
}

static int check_broadcast(const struct tb_preset_reading *reading)
{
	const struct tb_network_params *params = &reading->params;
	if (params->broadcast && !reading->kind->has_broadcasts)
		return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"broadcast = yes: switching = %s has no broadcasts",
			reading->kind->name);
	if (!params->broadcast ||
		(params->n_rails == 1 && tb_host_does_nothing(&params->host)))
		return TB_OK;
	return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
		"broadcast = yes: expected one rail and no library (host = none)");
}

// is_set returns whether a key was given a value beside another one that decides whether
// it matters: by the list of changes, or by the file if the list leaves the other one
// alone. A list may make a key of the file matter no more, and a file that of another one
// which it is like.
static bool is_set(
	const struct tb_preset_reading *reading, const char *name, const char *decider)
{
	unsigned in_file = 0, decider_in_file = 0;
	bool is_changed = false, decider_is_changed = false;
	for (size_t i = 0; i < reading->n_keys; i++) {
		const struct tb_preset_key *key = &reading->keys[i];
		bool in_host = strcmp(key->section, TB_PRESET_HOST) == 0;
		unsigned seen = in_host ? reading->host->seen[i] : reading->seen[i];
		if (strcmp(key->name, name) == 0) {
			in_file = seen;
			is_changed = reading->changed[i];
		} else if (strcmp(key->name, decider) == 0) {
			decider_in_file = seen;
			decider_is_changed = reading->changed[i];
		}
	}
	bool overruled = decider_in_file > 0 && decider_in_file < in_file;
	return is_changed || (in_file > 0 && !overruled && !decider_is_changed);
}

// check_effect refuses keys that were given a value and cannot change anything beside
// another key's.
static int check_effect(const struct tb_preset_reading *reading)
{
	const struct tb_network_params *params = &reading->params;
	const struct tb_host_params *host = &params->host;
	const struct tb_circuit_params *circuits = tb_circuit_params(params);
	const struct tb_credit_params *credits = tb_credit_params(params);
	const struct {
		bool is_void;
		const char *key, *decider, *reason;
	} rules[] = {
		{params->shape[0], "arity", "shape", "a shape has its own"},
		{params->shape[0], "levels", "shape", "a shape has its own"},
		{params->level_rates[0], "rate", "level_rates",
			"every level has its own rate"},
		{params->level_latencies[0], "hop_latency", "level_latencies",
			"every level has its own latency"},
		{circuits->bus_bytes_per_s == 0 && circuits->bus_turn_ps > 0, "bus_turn",
			"bus", "with bus = none nothing turns"},
		{circuits->partners == 0 && circuits->partner_delay_ps > 0,
			"partner_delay", "partners",
			"with partners = 0 no partner is one too many"},
		{circuits->partners > 0 && circuits->partner_delay_ps == 0, "partners",
			"partner_delay",
			"with partner_delay = 0 it makes no difference how many partners "
			"a node has"},
		{credits->flow_control != TB_FLOW_PAUSE && credits->xoff_bytes > 0,
			"xoff", "flow_control", "only flow_control = pause has one"},
		{credits->flow_control != TB_FLOW_PAUSE && credits->xon_bytes > 0, "xon",
			"flow_control", "only flow_control = pause has one"},
		{host->rails_policy != TB_RAILS_STRIPING, "stripe_above", "rails_policy",
			"only rails_policy = striping splits messages"},
		{host->rails_policy != TB_RAILS_BY_RANK &&
				host->between_rails != TB_BETWEEN_PXN,
			"between_rails", "rails_policy",
			"only rails_policy = by-rank binds ranks to rails"},
		{host->rails_policy != TB_RAILS_BY_RANK && host->n_gpus > 0, "gpus",
			"rails_policy",
			"only rails_policy = by-rank binds ranks to rails"},
		{host->handshake == TB_HANDSHAKE_NONE && host->handshake_above_bytes > 0,
			"handshake_above", "handshake",
			"with handshake = none there is no handshake above any size"},
		{host->handshake == TB_HANDSHAKE_NONE && host->handshake_delay_ps > 0,
			"handshake_delay", "handshake",
			"with handshake = none there is no handshake to answer"},
		{host->local == TB_LOCAL_NETWORK && host->local_latency_ps > 0,
			"local_latency", "local",
			"with local = network messages within a node go through the NIC"},
		{host->local == TB_LOCAL_NETWORK && host->local_bytes_per_s > 0,
			"local_rate", "local",
			"with local = network messages within a node go through the NIC"},
		{host->local != TB_LOCAL_MEMORY && host->local_fetch_ps > 0,
			"local_fetch", "local",
			"only local = memory copies through the node's memory"},
		{host->local_fetch_ps == 0 && host->local_inline_bytes > 0,
			"local_inline", "local_fetch",
			"with local_fetch = 0 longer messages take no longer"},
		{host->local != TB_LOCAL_MEMORY && host->memory_bytes_per_s > 0,
			"memory_rate", "local",
			"only local = memory copies through the node's memory"},
	};
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (rules[i].is_void && is_set(reading, rules[i].key, rules[i].decider))
			return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
				"%s has no effect: %s", rules[i].key, rules[i].reason);
	return TB_OK;
}

int tb_preset_check(const struct tb_preset_reading *reading)
{
	int status = check_keys(reading);
	if (status == TB_OK)
		status = check_broadcast(reading);
	return status == TB_OK ? check_effect(reading) : status;
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
