

#include "fabric_readers.h"
#include "network.h"
#include "text_lines.h"
#include "visible.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"

enum { WORDS_MOST = 7 };

struct edge_list_reading {
	struct tb_cabling *cabling;
	struct tb_edge_ports ports;
	char *words[WORDS_MOST]; // of the line, without quotes
	bool is_quoted[WORDS_MOST];
	uint32_t n_words;
};

// unquote takes a name in quotes, in place, and returns what is behind it; NULL when the
// last quote is missing.
static char *unquote(char *text)
{
	char *to = text;
	for (char *at = text + 1; *at; at++) {
		if (*at == '"') {
			*to = '\0';
			return at + 1;
		}
		if (*at == '\\' && at[1])
			at++;
		*to++ = *at;
	}
	return NULL;
}

// edge_list_split cuts a line into words, in place: false when a quote is missing or
// there are more words than any line has.
static bool edge_list_split(struct edge_list_reading *reading, char *line)
{
	reading->n_words = 0;
	for (char *at = line + strspn(line, BLANKS); *at && *at != '#';
		at += strspn(at, BLANKS)) {
		if (reading->n_words == WORDS_MOST)
			return false;
		char *word = at;
		reading->is_quoted[reading->n_words] = *at == '"';
		at = *at == '"' ? unquote(at) : at + strcspn(at, BLANKS "#\"");
		if (!at || (*at && !strchr(BLANKS "#", *at)))
			return false;
		bool is_comment = *at == '#';
		if (*at)
			*at++ = '\0';
		reading->words[reading->n_words++] = word;
		if (is_comment)
			break;
	}
	return true;
}

// declares returns whether the words are "switch NAME" or "host NAME".
static bool declares(const struct edge_list_reading *reading, const char *kind)
{
	return reading->n_words == 2 && !reading->is_quoted[0] &&
	       strcmp(reading->words[0], kind) == 0;
}

bool tb_edge_list_is(const char *line)
{
	struct edge_list_reading reading = {.n_words = 0};
	char *copy = strdup(line);
	bool is = copy && edge_list_split(&reading, copy) &&
		  (declares(&reading, "switch") || declares(&reading, "host") ||
			  (reading.n_words >= 4 && tb_edge_ports_has(reading.words[1]) &&
				  tb_edge_ports_has(reading.words[3])));
	free(copy);
	return is;
}

bool tb_edge_list_lacks_ports(const char *line)
{
	struct edge_list_reading reading = {.n_words = 0};
	char *copy = strpbrk(line, "=:[,") ? NULL : strdup(line);
	bool lacks = copy && edge_list_split(&reading, copy) &&
		     (reading.n_words == 2 || reading.n_words == 3);
	free(copy);
	return lacks;
}

static int declare(struct edge_list_reading *reading, uint32_t kind)
{
	uint32_t device = 0;
	int status = tb_cabling_find_seen(reading->cabling, reading->words[1], &device);
	if (status != TB_OK)
		return status;
	uint32_t *said = &reading->cabling->devices[device].lid;
	if (*said != TB_SAID_NOTHING && *said != kind)
		return REFUSE(
			reading, "'%s' is called a host and a switch", reading->words[1]);
	*said = kind;
	return TB_OK;
}

static int read_end(struct edge_list_reading *reading, uint32_t word, uint32_t *device,
	uint32_t *port)
{
	char *name = reading->words[word + 1];
	if (!tb_edge_ports_has(name))
		return REFUSE(reading,
			"'%.60s' behind '%.60s': expected a port from 0 to %d, or a name "
			"such as swp1",
			name, reading->words[word], TB_CABLING_PORT_MOST);
	int status = tb_cabling_find_seen(reading->cabling, reading->words[word], device);
	return status == TB_OK ? tb_edge_ports_find(&reading->ports, reading->cabling,
					 *device, name, port)
			       : status;
}

static int read_figures(struct edge_list_reading *reading, struct tb_cabling_port *seen)
{
	if (reading->n_words > 4 &&
		(tb_parse_rate(reading->words[4], &seen->bytes_per_s) != TB_OK ||
			seen->bytes_per_s < 1000000 ||
			seen->bytes_per_s > UINT64_C(1000000000000)))
		return REFUSE(reading,
			"'%.60s': expected a rate from 1MB/s to 1000GB/s: " TB_RATE_HINT,
			reading->words[4]);
	if (reading->n_words > 5 &&
		(tb_parse_time(reading->words[5], &seen->latency_ps) != TB_OK ||
			seen->latency_ps < 1 || seen->latency_ps > TB_PS_PER_S))
		return REFUSE(reading,
			"'%.60s': expected a latency above 0 and up to 1s, such as 150ns",
			reading->words[5]);
	return TB_OK;
}

static int edge_list_read_line(void *context, struct tb_text_lines *lines)
{
	struct edge_list_reading *reading = context;
	if (!edge_list_split(reading, lines->text))
		return REFUSE(reading, "expected A PORT B PORT [RATE [LATENCY]], names "
				       "with blanks in double quotes");
	if (reading->n_words == 0)
		return TB_OK;
	if (declares(reading, "switch"))
		return declare(reading, TB_SAID_SWITCH);
	if (declares(reading, "host"))
		return declare(reading, TB_SAID_HOST);
	if (reading->n_words < 4 || reading->n_words > 6)
		return REFUSE(reading,
			"%u words: expected A PORT B PORT [RATE [LATENCY]], host NAME or "
			"switch NAME",
			reading->n_words);
	struct tb_cabling_port seen = {.bytes_per_s = 0};
	uint32_t device = 0, port = 0;
	int status = read_end(reading, 0, &device, &port);
	if (status == TB_OK)
		status = read_end(reading, 2, &seen.peer, &seen.peer_port);
	if (status == TB_OK)
		status = read_figures(reading, &seen);
	return status == TB_OK
		       ? tb_cabling_plug_both(reading->cabling, device, port, &seen)
		       : status;
}

int tb_edge_list_read(struct tb_cabling *cabling, FILE *stream)
{
	struct edge_list_reading reading = {.cabling = cabling};
	int status = tb_fabric_each_line(cabling, stream, edge_list_read_line, &reading);
	tb_edge_ports_give(&reading.ports, cabling);
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		const struct tb_cabling_device *at = &cabling->devices[i];
		size_t port = 0;
		while (port < at->n_ports && !at->ports[port].is_used)
			port++;
		if (port == at->n_ports)
			tb_cabling_note(cabling, TB_REMARK_NO_CABLE,
				"line %" PRIu64 ": %s", at->line, at->name);
	}
	return status == TB_OK ? tb_cabling_kinds_by_cables(cabling) : status;
}
