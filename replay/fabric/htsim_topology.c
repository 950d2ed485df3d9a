#include "fabric_readers.h"

#include "text_lines.h"
#include "units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n\v\f"

enum { TIERS_MOST = 3 };

// What a tier's lines say; 0: nothing.
struct htsim_tier {
	uint64_t line; // "Tier N"
	uint64_t speed_gbps, radix_up, radix_down, oversubscribed, bundle;
	uint64_t queue_up, queue_down, switch_ns, cable_ns;
};

struct htsim_reading {
	struct tb_cabling *cabling;
	uint64_t n_nodes, n_tiers, n_of_pod;
	struct htsim_tier tiers[TIERS_MOST];
	int tier; // whose keys are being read; -1: the head's
	// What they make.
	uint32_t n_of_tier[TIERS_MOST], n_pods; // switches
	uint32_t first[TIERS_MOST];		// device of each tier
};

#define MOST_PORTS TB_CABLING_PORT_MOST

struct htsim_key {
	const char *name; // in lower case
	size_t at;	  // of the value
	uint64_t least, most;
};

static const struct htsim_key head_keys[] = {
	{"nodes", offsetof(struct htsim_reading, n_nodes), 1, TB_FABRIC_CABLES_MOST},
	{"tiers", offsetof(struct htsim_reading, n_tiers), 2, TIERS_MOST},
	{"podsize", offsetof(struct htsim_reading, n_of_pod), 1, TB_FABRIC_CABLES_MOST},
};
enum { N_HEAD_KEYS = sizeof head_keys / sizeof *head_keys };

static const struct htsim_key tier_keys[] = {
	{"downlink_speed_gbps", offsetof(struct htsim_tier, speed_gbps), 1, 8000},
	{"radix_up", offsetof(struct htsim_tier, radix_up), 1, MOST_PORTS},
	{"radix_down", offsetof(struct htsim_tier, radix_down), 1, MOST_PORTS},
	{"oversubscribed", offsetof(struct htsim_tier, oversubscribed), 1, MOST_PORTS},
	{"bundle", offsetof(struct htsim_tier, bundle), 1, MOST_PORTS},
	{"queue_up", offsetof(struct htsim_tier, queue_up), 0, UINT32_MAX},
	{"queue_down", offsetof(struct htsim_tier, queue_down), 0, UINT32_MAX},
	{"switch_latency_ns", offsetof(struct htsim_tier, switch_ns), 0, 500000000},
	{"downlink_latency_ns", offsetof(struct htsim_tier, cable_ns), 0, 500000000},
};
enum { N_TIER_KEYS = sizeof tier_keys / sizeof *tier_keys };

bool tb_htsim_topology_is(const char *line)
{
	line += strspn(line, BLANKS);
	for (size_t i = 0; i < N_HEAD_KEYS; i++) {
		size_t n = strlen(head_keys[i].name);
		if (strncasecmp(line, head_keys[i].name, n) != 0 || !isblank(line[n]))
			continue;
		const char *number = line + n + strspn(line + n, BLANKS);
		size_t digits = strspn(number, "0123456789");
		return digits > 0 &&
		       number[digits + strspn(number + digits, BLANKS)] == '\0';
	}
	return false;
}

// set takes a key of a table: 1, 0 when the table does not have it, or negative.
static int set(const struct htsim_reading *reading, const struct htsim_key *keys,
	size_t n_keys, void *values, const char *word, const char *value)
{
	for (size_t i = 0; i < n_keys; i++) {
		uint64_t *at = (uint64_t *)((char *)values + keys[i].at);
		if (strcasecmp(word, keys[i].name) != 0)
			continue;
		if (*at)
			return REFUSE(reading, "%s stands here a second time", word);
		if (!value ||
			tb_parse_count(value, keys[i].least, keys[i].most, at) != TB_OK)
			return REFUSE(reading,
				"%s: expected a whole number from %" PRIu64
				" to %" PRIu64,
				word, keys[i].least, keys[i].most);
		return 1;
	}
	return 0;
}

static int htsim_read_line(void *context, struct tb_text_lines *lines)
{
	struct htsim_reading *reading = context;
	char *line = lines->text;
	char *word = strtok_r(line, BLANKS, &line);
	if (!word || *word == '#')
		return TB_OK;
	const char *value = strtok_r(line, BLANKS, &line);
	const char *more = strtok_r(line, BLANKS, &line);
	if (more && *more != '#')
		return REFUSE(reading, "'%.40s': expected nothing behind %s %s", more,
			word, value);
	if (strcasecmp(word, "tier") == 0) {
		uint64_t tier = 0;
		if (!value || tb_parse_count(value, 0, TIERS_MOST - 1, &tier) != TB_OK)
			return REFUSE(
				reading, "expected a tier from 0 to %d", TIERS_MOST - 1);
		if (reading->tiers[tier].line)
			return REFUSE(
				reading, "tier %" PRIu64 " is here a second time", tier);
		reading->tiers[tier].line = reading->cabling->line;
		reading->tier = (int)tier;
		return TB_OK;
	}
	int known = reading->tier < 0
			    ? set(reading, head_keys, N_HEAD_KEYS, reading, word, value)
			    : set(reading, tier_keys, N_TIER_KEYS,
				      &reading->tiers[reading->tier], word, value);
	if (known == 1 && strncasecmp(word, "queue_", 6) == 0)
		tb_cabling_note(reading->cabling, TB_REMARK_QUEUE_SIZE,
			"line %" PRIu64 ": %s %s", reading->cabling->line, word, value);
	if (known == 0)
		return REFUSE(reading, "'%.40s' is no key of %s", word,
			reading->tier < 0 ? "the head (Nodes, Tiers, Podsize)"
					  : "a tier");
	return known < 0 ? known : TB_OK;
}

// need refuses a key that is missing or does not fit the others.
static int need(struct htsim_reading *reading, int tier, bool is_fine, const char *key,
	uint64_t given, uint64_t expected)
{
	reading->cabling->line = reading->tiers[tier].line;
	if (is_fine)
		return TB_OK;
	if (given == 0)
		return REFUSE(reading, "%s of tier %d is missing", key, tier);
	return REFUSE(reading, "%s %" PRIu64 " of tier %d: the rest gives %" PRIu64, key,
		given, tier, expected);
}

// htsim_check_given refuses files without what htsim demands.
static int htsim_check_given(struct htsim_reading *reading)
{
	int status = TB_OK, n = (int)reading->n_tiers;
	if (!reading->n_nodes || !reading->n_tiers || !reading->n_of_pod)
		return tb_cabling_refuse_at(reading->cabling, 0,
			"its head lacks one of Nodes, Tiers and Podsize");
	for (int i = 0; i < n && status == TB_OK; i++) {
		struct htsim_tier *tier = &reading->tiers[i];
		if (!tier->line)
			return tb_cabling_refuse_at(
				reading->cabling, 0, "tier %d is missing", i);
		tier->bundle = tier->bundle ? tier->bundle : 1;
		status = need(reading, i, tier->radix_down > 0, "Radix_Down", 0, 0);
		if (status == TB_OK)
			status = need(reading, i, tier->radix_up > 0 || i == n - 1,
				"Radix_Up", 0, 0);
		if (status == TB_OK)
			status = need(reading, i, tier->speed_gbps > 0,
				"Downlink_speed_Gbps", 0, 0);
	}
	return status;
}

// multiples refuses a number that is no multiple of another.
static int multiples(struct htsim_reading *reading, int tier, const char *what,
	uint64_t n, const char *of, uint64_t part)
{
	reading->cabling->line = reading->tiers[tier].line;
	return n % part == 0
		       ? TB_OK
		       : REFUSE(reading, "%s %" PRIu64 " is no multiple of %s %" PRIu64,
				 what, n, of, part);
}

// count_switches derives how many switches the tiers have.
static int count_switches(struct htsim_reading *reading)
{
	struct htsim_tier *tiers = reading->tiers;
	bool has_cores = reading->n_tiers == 3;
	int status = multiples(
		reading, 0, "Nodes", reading->n_nodes, "Podsize", reading->n_of_pod);
	if (status == TB_OK)
		status = multiples(reading, 0, "Podsize", reading->n_of_pod, "Radix_Down",
			tiers[0].radix_down);
	if (status == TB_OK)
		status = multiples(reading, 0, "Radix_Up", tiers[0].radix_up,
			"the Bundle of tier 1,", tiers[1].bundle);
	if (status == TB_OK && has_cores)
		status = multiples(reading, 1, "Radix_Up", tiers[1].radix_up,
			"the Bundle of tier 2,", tiers[2].bundle);
	if (status != TB_OK)
		return status;
	uint64_t n_pods = reading->n_nodes / reading->n_of_pod;
	uint64_t of_pod = reading->n_of_pod / tiers[0].radix_down; // switches of tier 0
	uint64_t spines = tiers[0].radix_up / tiers[1].bundle;	   // of tier 1
	uint64_t down = of_pod * tiers[1].bundle;
	if (!has_cores && n_pods > 1)
		return tb_cabling_refuse_at(reading->cabling, 0,
			"Podsize %" PRIu64 ": two tiers are one pod, of all %" PRIu64
			" nodes",
			reading->n_of_pod, reading->n_nodes);
	status = need(reading, 1, tiers[1].radix_down == down, "Radix_Down",
		tiers[1].radix_down, down);
	if (status == TB_OK && has_cores)
		status = need(reading, 2, tiers[2].radix_down == n_pods * tiers[2].bundle,
			"Radix_Down", tiers[2].radix_down, n_pods * tiers[2].bundle);
	uint64_t cores = has_cores ? spines * (tiers[1].radix_up / tiers[2].bundle) : 0;
	uint64_t n_cables = reading->n_nodes + n_pods * of_pod * tiers[0].radix_up +
			    (has_cores ? n_pods * spines * tiers[1].radix_up : 0);
	if (status == TB_OK && n_cables > TB_FABRIC_CABLES_MOST)
		return tb_cabling_refuse_at(reading->cabling, 0,
			"it describes %" PRIu64 " cables: %u are the most", n_cables,
			TB_FABRIC_CABLES_MOST);
	reading->n_pods = (uint32_t)n_pods;
	reading->n_of_tier[0] = (uint32_t)(n_pods * of_pod);
	reading->n_of_tier[1] = (uint32_t)(n_pods * spines);
	reading->n_of_tier[2] = (uint32_t)cores;
	return status;
}

// add_devices adds `n` devices and stores the first.
static int add_devices(struct tb_cabling *cabling, const char *name,
	enum tb_device_kind kind, uint32_t n, uint32_t *first)
{
	int status = TB_OK;
	*first = cabling->n_devices;
	for (uint32_t i = 0; i < n && status == TB_OK; i++) {
		uint32_t device = 0;
		status = tb_cabling_find_numbered(
			cabling, kind, *first + i, &device, "%s%u", name, i);
	}
	return status;
}

// htsim_cable_of returns a cable down from a switch of a tier.
static struct tb_cabling_port htsim_cable_of(
	const struct htsim_reading *reading, int tier)
{
	const struct htsim_tier *at = &reading->tiers[tier];
	uint64_t below = tier > 0 ? reading->tiers[tier - 1].switch_ns : 0;
	return (struct tb_cabling_port){.line = at->line,
		.bytes_per_s = at->speed_gbps * UINT64_C(125000000),
		.latency_ps = (tb_time_ps)(at->cable_ns * 1000 +
					   (at->switch_ns + below) * 500)};
}

// join_bundle joins two switches of neighbouring tiers.
static int join_bundle(
	struct htsim_reading *reading, int upper_tier, uint32_t lower, uint32_t upper)
{
	const struct tb_cabling_port cable = htsim_cable_of(reading, upper_tier);
	int status = TB_OK;
	for (uint64_t i = 0; i < reading->tiers[upper_tier].bundle && status == TB_OK;
		i++)
		status = tb_cabling_join(reading->cabling,
			reading->first[upper_tier - 1] + lower,
			reading->first[upper_tier] + upper, &cable);
	return status;
}

static int join_pods(struct htsim_reading *reading)
{
	uint32_t of_pod = reading->n_of_tier[0] / reading->n_pods;
	uint32_t spines = reading->n_of_tier[1] / reading->n_pods;
	int status = TB_OK;
	for (uint32_t i = 0; i < reading->n_of_tier[0]; i++)
		for (uint32_t j = 0; j < spines && status == TB_OK; j++)
			status = join_bundle(reading, 1, i, i / of_pod * spines + j);
	for (uint32_t i = 0; i < reading->n_of_tier[1] && reading->n_of_tier[2] > 0; i++)
		for (uint32_t core = i % spines;
			core < reading->n_of_tier[2] && status == TB_OK; core += spines)
			status = join_bundle(reading, 2, i, core);
	return status;
}

static int htsim_build(struct htsim_reading *reading)
{
	static const char *const names[TIERS_MOST] = {"tor", "agg", "core"};
	uint32_t hosts = 0;
	int status = htsim_check_given(reading);
	if (status == TB_OK)
		status = count_switches(reading);
	if (status != TB_OK)
		return status;
	status = add_devices(reading->cabling, "n", TB_DEVICE_ADAPTER,
		(uint32_t)reading->n_nodes, &hosts);
	for (int i = 0; i < TIERS_MOST && status == TB_OK; i++)
		status = add_devices(reading->cabling, names[i], TB_DEVICE_SWITCH,
			reading->n_of_tier[i], &reading->first[i]);
	if (status == TB_OK) {
		const struct tb_cabling_port cable = htsim_cable_of(reading, 0);
		uint32_t n_of_switch = (uint32_t)reading->tiers[0].radix_down;
		for (uint32_t i = 0; i < reading->n_nodes && status == TB_OK; i++)
			status = tb_cabling_join(reading->cabling,
				reading->first[0] + i / n_of_switch, hosts + i, &cable);
	}
	return status == TB_OK ? join_pods(reading) : status;
}

int tb_htsim_topology_read(struct tb_cabling *cabling, FILE *stream)
{
	struct htsim_reading reading = {.cabling = cabling, .tier = -1};
	int status = tb_fabric_each_line(cabling, stream, htsim_read_line, &reading);
	return status == TB_OK ? htsim_build(&reading) : status;
}
