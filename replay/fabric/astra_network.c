#include "fabric_readers.h"

#include "text_lines.h"
#include "units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASTRA_DIMENSIONS_MOST = 8 };

// What the keys list, by dimension.
struct astra_reading {
	struct tb_cabling *cabling;
	char kinds[ASTRA_DIMENSIONS_MOST][24]; // "Switch"
	double numbers[3][ASTRA_DIMENSIONS_MOST];
	size_t n_kinds, n_numbers[3];
	uint64_t kinds_line;
};

enum { ASTRA_NPUS, ASTRA_BANDWIDTH, ASTRA_LATENCY };

static const struct {
	const char *name;
	int which; // of the numbers; -1: the kinds
} astra_keys[] = {{"topology:", -1}, {"npus_count:", ASTRA_NPUS},
	{"bandwidth:", ASTRA_BANDWIDTH}, {"latency:", ASTRA_LATENCY}};
enum { N_ASTRA_KEYS = sizeof astra_keys / sizeof *astra_keys };

bool tb_astra_network_is(const char *line)
{
	line += strspn(line, " \t");
	for (size_t i = 0; i < N_ASTRA_KEYS; i++) {
		size_t n = strlen(astra_keys[i].name);
		if (strncmp(line, astra_keys[i].name, n) == 0 &&
			line[n + strspn(line + n, " \t")] == '[')
			return true;
	}
	return false;
}

static int astra_line(void *context, struct tb_text_lines *lines)
{
	struct astra_reading *reading = context;
	char *text = lines->text, *rest, *word;
	size_t i = 0;
	text[strcspn(text, "#")] = '\0';
	word = strtok_r(text, " \t\r", &rest);
	if (!word)
		return TB_OK;
	while (i < N_ASTRA_KEYS && strcmp(word, astra_keys[i].name) != 0)
		i++;
	if (i == N_ASTRA_KEYS)
		return REFUSE(reading,
			"'%.40s': expected topology:, npus_count:, bandwidth: or "
			"latency:",
			word);
	int which = astra_keys[i].which;
	size_t *n = which < 0 ? &reading->n_kinds : &reading->n_numbers[which];
	if (*n > 0)
		return REFUSE(reading, "%s stands here a second time", word);
	if (which < 0)
		reading->kinds_line = reading->cabling->line;
	while ((word = strtok_r(NULL, " \t\r,[]", &rest))) {
		if (*n == ASTRA_DIMENSIONS_MOST)
			return REFUSE(reading, "has more than %d dimensions",
				ASTRA_DIMENSIONS_MOST);
		if (which < 0)
			snprintf(reading->kinds[*n], sizeof reading->kinds[0], "%.23s",
				word);
		else if (tb_parse_real(word, 0, 1e9, &reading->numbers[which][*n]) !=
			 TB_OK)
			return REFUSE(reading, "'%.40s': expected a number", word);
		++*n;
	}
	return TB_OK;
}

// astra_check refuses what has no switches, and lists of unequal length.
static int astra_check(struct astra_reading *reading)
{
	size_t n = reading->n_kinds;
	for (int i = 0; i < 3; i++)
		if (n == 0 || reading->n_numbers[i] != n)
			return REFUSE(reading,
				"expected topology, npus_count, bandwidth and latency of "
				"as many dimensions each");
	if (n > 2 || strcmp(reading->kinds[n - 1], "Switch") != 0)
		return tb_cabling_refuse_at(reading->cabling, reading->kinds_line,
			"is a network of ASTRA-sim without switches between its nodes "
			"(%.23s in dimension %zu): read are [ Switch ], and [ ..., "
			"Switch ] of two dimensions, of which the first is within nodes",
			reading->kinds[n - 1], n);
	double all = 1;
	for (size_t i = 0; i < n; i++) {
		double count = reading->numbers[ASTRA_NPUS][i];
		all *= count;
		if (count < 1 || count != (double)(uint32_t)count ||
			all > TB_FABRIC_CABLES_MOST || count > TB_CABLING_PORT_MOST)
			return REFUSE(reading,
				"npus_count: expected whole numbers, of not more than "
				"%" PRIu32 " in all",
				TB_FABRIC_CABLES_MOST);
	}
	if (reading->numbers[ASTRA_BANDWIDTH][n - 1] <= 0)
		return REFUSE(reading, "bandwidth: expected GB/s above 0");
	return TB_OK;
}

// astra_build joins NPU i of each node to switch i.
static int astra_build(struct astra_reading *reading)
{
	size_t last = reading->n_kinds - 1;
	uint32_t n_rails = last ? (uint32_t)reading->numbers[ASTRA_NPUS][0] : 1;
	uint32_t n_nodes = (uint32_t)reading->numbers[ASTRA_NPUS][last];
	// Its gigabyte has 2^30 bytes (bw_GBps_to_Bpns).
	const struct tb_cabling_port cable = {.is_used = true,
		.bytes_per_s = (uint64_t)(reading->numbers[ASTRA_BANDWIDTH][last] *
						  1073741824.0 +
					  0.5),
		.latency_ps =
			(tb_time_ps)(reading->numbers[ASTRA_LATENCY][last] * 1000 + 0.5)};
	int status = TB_OK;
	for (uint32_t rail = 0; rail < n_rails && status == TB_OK; rail++) {
		uint32_t hub, npu;
		status = tb_cabling_find_numbered(reading->cabling, TB_DEVICE_SWITCH,
			rail + 1, &hub, "switch%" PRIu32, rail);
		for (uint32_t i = 0; i < n_nodes && status == TB_OK; i++) {
			uint64_t number =
				(UINT64_C(1) << 32) + (uint64_t)i * n_rails + rail;
			status = tb_cabling_find_numbered(reading->cabling,
				TB_DEVICE_ADAPTER, number, &npu,
				last ? "node%" PRIu32 " npu%" PRIu32 : "npu%" PRIu32, i,
				rail);
			if (status == TB_OK)
				status = tb_cabling_join(
					reading->cabling, hub, npu, &cable);
		}
	}
	return status;
}

int tb_astra_network_read(struct tb_cabling *cabling, FILE *stream)
{
	struct astra_reading reading = {.cabling = cabling};
	int status = tb_fabric_each_line(cabling, stream, astra_line, &reading);
	if (status == TB_OK)
		status = astra_check(&reading);
	return status == TB_OK ? astra_build(&reading) : status;
}
