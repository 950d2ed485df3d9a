#include "fabric_readers.h"

#include "cabling_rates.h"
#include "text_lines.h"
#include "units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n\v\f"

enum { HEAD_WORDS_MOST = 7 };

// What a node of the file is, in its device's LMC.
enum ns3_kind { NS3_HOST, NS3_SWITCH, NS3_NVSWITCH };

struct ns3_reading {
	struct tb_cabling *cabling;
	uint64_t n_nodes, n_switches, n_tors, n_links;
	uint64_t n_of_host, n_nvswitches; // SimAI's; 0: another's
	uint64_t n_ids, n_read;		  // switches and links so far
	enum ns3_kind *kinds;		  // by node
	uint32_t *devices;		  // by node; of NVSwitches none
};

// split_words cuts a line into words, in place, and returns how many there are, at most
// one more than there is room for.
static size_t split_words(char *line, char **words, size_t most)
{
	size_t n = 0;
	for (char *word; n <= most && (word = strtok_r(line, BLANKS, &line)); n++)
		if (n < most)
			words[n] = word;
	return n;
}

// read_head reads the numbers of a file's first line.
static bool read_head(char *line, struct ns3_reading *reading)
{
	char *words[HEAD_WORDS_MOST];
	uint64_t numbers[5] = {0};
	size_t n = split_words(line, words, HEAD_WORDS_MOST);
	bool is_simai = n == 6 || n == 7;
	size_t n_numbers = is_simai ? 5 : n;
	if (n < 3 || n == 5 || n > HEAD_WORDS_MOST ||
		(is_simai && !isalpha((unsigned char)words[5][0])))
		return false;
	for (size_t i = 0; i < n_numbers; i++)
		if (tb_parse_count(words[i], 0, UINT32_MAX, &numbers[i]) != TB_OK)
			return false;
	reading->n_nodes = numbers[0];
	reading->n_switches = is_simai ? numbers[3] : numbers[1];
	reading->n_tors = n == 4 ? numbers[2] : 0;
	reading->n_links = numbers[n_numbers - 1];
	reading->n_of_host = is_simai ? numbers[1] : 0;
	reading->n_nvswitches = is_simai ? numbers[2] : 0;
	return true;
}

bool tb_ns3_topology_is(const char *line)
{
	struct ns3_reading reading = {.n_nodes = 0};
	char *copy = strdup(line);
	// Every host has a link, and no more switches are leaves than there are: a list
	// of cables may have four numbers in a line as well.
	bool is = copy && read_head(copy, &reading) && reading.n_switches > 0 &&
		  reading.n_tors <= reading.n_switches;
	uint64_t n_switches = reading.n_switches + reading.n_nvswitches;
	is = is && reading.n_nodes > n_switches &&
	     reading.n_links >= reading.n_nodes - n_switches;
	free(copy);
	return is;
}

static int ns3_begin(struct ns3_reading *reading, char *line)
{
	if (!read_head(line, reading))
		return REFUSE(reading,
			"expected NODES SWITCHES LINKS, NODES SWITCHES TORS LINKS, or "
			"NODES GPUS_PER_SERVER NVSWITCHES SWITCHES LINKS GPU");
	if (reading->n_switches == 0)
		return REFUSE(reading, "expected at least one switch among the nodes");
	if (reading->n_nodes > TB_FABRIC_CABLES_MOST ||
		reading->n_links > TB_FABRIC_CABLES_MOST ||
		reading->n_switches + reading->n_nvswitches > reading->n_nodes)
		return REFUSE(reading,
			"%" PRIu64 " nodes of which %" PRIu64 " are switches, %" PRIu64
			" links: up to %u of each are read",
			reading->n_nodes, reading->n_switches + reading->n_nvswitches,
			reading->n_links, TB_FABRIC_CABLES_MOST);
	reading->kinds = calloc(reading->n_nodes + 1, sizeof *reading->kinds);
	reading->devices = calloc(reading->n_nodes + 1, sizeof *reading->devices);
	return reading->kinds && reading->devices
		       ? TB_OK
		       : tb_cabling_no_memory(reading->cabling);
}

// ns3_add_devices adds hosts as n0, or by server and GPU as "server0 gpu0", switches as
// s320.
static int ns3_add_devices(struct ns3_reading *reading)
{
	uint64_t n_gpus = 0, each = reading->n_of_host;
	int status = TB_OK;
	for (uint64_t i = 0; i < reading->n_nodes && status == TB_OK; i++) {
		enum ns3_kind kind = reading->kinds[i];
		if (kind == NS3_NVSWITCH)
			continue;
		bool is_gpu = kind == NS3_HOST && each;
		status = tb_cabling_find_numbered(reading->cabling,
			kind == NS3_SWITCH ? TB_DEVICE_SWITCH : TB_DEVICE_ADAPTER, i,
			&reading->devices[i],
			is_gpu		     ? "server%" PRIu64 " gpu%" PRIu64
			: kind == NS3_SWITCH ? "s%" PRIu64
					     : "n%" PRIu64,
			is_gpu ? n_gpus / each : i, is_gpu ? n_gpus % each : 0);
		n_gpus += is_gpu;
	}
	return status;
}

static int ns3_take_link(struct ns3_reading *reading, char *line)
{
	char *words[5];
	struct tb_cabling_port seen = {.bytes_per_s = 0};
	uint64_t ends[2];
	size_t n = split_words(line, words, 5);
	if (n < 4 || n > 5)
		return REFUSE(reading, "expected A B RATE DELAY ERRORS");
	for (size_t i = 0; i < 2; i++)
		if (tb_parse_count(words[i], 0, reading->n_nodes - 1, &ends[i]) != TB_OK)
			return REFUSE(reading,
				"'%.20s': expected a node from 0 to %" PRIu64, words[i],
				reading->n_nodes - 1);
	if (!tb_cabling_rate_read(words[2], 'b', &seen.bytes_per_s))
		return REFUSE(reading,
			"'%.20s': expected a rate such as 25Gbps, or bits per second",
			words[2]);
	if (tb_parse_time(words[3], &seen.latency_ps) != TB_OK ||
		seen.latency_ps > TB_PS_PER_S)
		return REFUSE(reading, "'%.20s': expected a delay such as 1us", words[3]);
	seen.latency_ps += seen.latency_ps == 0; // 0 would be the preset's
	if (n == 5 && strtod(words[4], NULL) > 0)
		tb_cabling_note(reading->cabling, TB_REMARK_ERROR_RATE,
			"line %" PRIu64 ": %.20s", reading->cabling->line, words[4]);
	reading->n_read++;
	if (reading->kinds[ends[0]] == NS3_NVSWITCH ||
		reading->kinds[ends[1]] == NS3_NVSWITCH) {
		tb_cabling_note(reading->cabling, TB_REMARK_INSIDE, "line %" PRIu64,
			reading->cabling->line);
		return TB_OK;
	}
	return tb_cabling_join(reading->cabling, reading->devices[ends[0]],
		reading->devices[ends[1]], &seen);
}

static int ns3_read_line(void *context, struct tb_text_lines *lines)
{
	struct ns3_reading *reading = context;
	char *line = lines->text + strspn(lines->text, BLANKS);
	if (*line == '\0' || *line == '#')
		return TB_OK;
	if (!reading->kinds)
		return ns3_begin(reading, line);
	if (reading->n_ids < reading->n_switches + reading->n_nvswitches) {
		// Mark switches; those of a server (NVSwitches) come first.
		uint64_t id, n = reading->n_switches + reading->n_nvswitches;
		for (char *word; (word = strtok_r(line, BLANKS, &line));) {
			if (reading->n_ids == n)
				return REFUSE(reading,
					"'%.20s': expected the numbers of %" PRIu64
					" switches",
					word, n);
			if (tb_parse_count(word, 0, reading->n_nodes - 1, &id) != TB_OK)
				return REFUSE(reading,
					"'%.20s': expected the number of a switch, from "
					"0 to "
					"%" PRIu64,
					word, reading->n_nodes - 1);
			if (reading->kinds[id] != NS3_HOST)
				return REFUSE(reading,
					"switch %" PRIu64 " stands here twice", id);
			reading->kinds[id] = reading->n_ids < reading->n_nvswitches
						     ? NS3_NVSWITCH
						     : NS3_SWITCH;
			reading->n_ids++;
		}
		return reading->n_ids == n ? ns3_add_devices(reading) : TB_OK;
	}
	if (reading->n_read == reading->n_links)
		return REFUSE(reading, "expected nothing behind the %" PRIu64 " links",
			reading->n_links);
	return ns3_take_link(reading, line);
}

int tb_ns3_topology_read(struct tb_cabling *cabling, FILE *stream)
{
	struct ns3_reading reading = {.cabling = cabling};
	int status = tb_fabric_each_line(cabling, stream, ns3_read_line, &reading);
	if (status == TB_OK && reading.n_read < reading.n_links)
		status = tb_cabling_refuse_at(cabling, 0,
			"the file is cut off: %" PRIu64 " of %" PRIu64 " links are there",
			reading.n_read, reading.n_links);
	free(reading.kinds);
	free(reading.devices);
	return status;
}
