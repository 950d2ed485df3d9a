#include "placement.h"

#include "ids.h"
#include "input_files.h"
#include "names.h"
#include "text_lines.h"
#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rank_map_reading {
	const char *file;
	uint32_t *nodes;
	uint32_t n_ranks, n_nodes;
	const struct tb_network *network;
	uint64_t line;
	struct tb_error *error;
};

static int bad_line(struct rank_map_reading *reading, const char *sentence)
{
	return tb_fail_at(reading->error, TB_EUSAGE, reading->file, TB_PLACE_LINE,
		reading->line, "%s", sentence);
}

// rank_map_word takes the blanks around a text away; a name may have some within.
static char *rank_map_word(char *text)
{
	text += strspn(text, " \t");
	size_t n = strlen(text);
	while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		text[--n] = '\0';
	return text;
}

static int rank_map_find_node(
	struct rank_map_reading *reading, const char *text, uint64_t *node)
{
	struct tb_node found;
	uint32_t n = 0;
	if (tb_names_find_host(reading->network, text, &found, &n)) {
		*node = found.id;
		return n == 1 ? TB_OK
			      : bad_line(reading,
					"the host has several network interfaces: "
					"expected one by its name");
	}
	if (tb_parse_count(text, 0, UINT32_MAX - 1, node) == TB_OK)
		return TB_OK;
	return bad_line(reading, strpbrk(text, " \t")
					 ? "expected 'RANK NODE'"
					 : "expected a node, a number from 0");
}

// split_rank_file splits "rank 3=node07 slot=0:1", as Open MPI's rank files have it;
// which slot of the host it is does not matter. False when it is another line.
static bool split_rank_file(char *rest, char **rank_text, char **node_text)
{
	char *equals = strchr(rest, '=');
	if (strcmp(*rank_text, "rank") != 0 || !equals)
		return false;
	*equals = '\0';
	*rank_text = rank_map_word(rest);
	char *host = rank_map_word(equals + 1);
	*node_text = strtok_r(host, " \t", &rest);
	if (!*node_text)
		*node_text = host;
	return true;
}

// rank_map_node_number returns the number that a host's name ends with, which is its node
// where the network has no names (placement.h), or the name.
static const char *rank_map_node_number(
	const struct rank_map_reading *reading, const char *host)
{
	struct tb_node found;
	uint32_t n_nodes;
	if (tb_names_find_host(reading->network, host, &found, &n_nodes))
		return host;
	const char *number = host + strlen(host);
	while (number > host && isdigit((unsigned char)number[-1]))
		number--;
	return *number ? number : host;
}

static int rank_map_read_line(struct rank_map_reading *reading, char *line)
{
	line[strcspn(line, "#\r\n")] = '\0';
	char *rest = line;
	char *rank_text = strtok_r(rest, " \t", &rest);
	if (!rank_text)
		return TB_OK;
	char *node_text;
	bool is_rank_file = split_rank_file(rest, &rank_text, &node_text);
	if (!is_rank_file)
		node_text = rank_map_word(rest);
	uint64_t rank = 0, node = 0;
	if (!*node_text)
		return bad_line(reading, "expected 'RANK NODE'");
	if (tb_parse_count(rank_text, 0, reading->n_ranks - 1, &rank) != TB_OK)
		return bad_line(reading, "expected a rank of the job, a number from 0");
	int status = rank_map_find_node(reading,
		is_rank_file ? rank_map_node_number(reading, node_text) : node_text,
		&node);
	if (status != TB_OK)
		return status;
	if (reading->nodes[rank] != TB_ID_NONE)
		return bad_line(reading, "this rank has a node already");
	if (node >= reading->n_nodes)
		return tb_fail_at(reading->error, TB_ECAPACITY, reading->file,
			TB_PLACE_LINE, reading->line,
			"node %s: the network has %u nodes (--nodes raises the tree)",
			node_text, reading->n_nodes);
	reading->nodes[rank] = (uint32_t)node;
	return TB_OK;
}

static int rank_map_read_file(struct rank_map_reading *reading)
{
	FILE *stream = tb_input_fopen(reading->file);
	if (!stream)
		return tb_fail_in(reading->error, TB_EIO, reading->file,
			"cannot be read: %s", strerror(errno));
	struct tb_text_lines lines;
	int status = TB_OK, found = 1;
	tb_text_lines_init(&lines, stream, reading->file, reading->error);
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		reading->line = lines.number;
		status = rank_map_read_line(reading, lines.text);
	}
	status = found < 0 ? found : status;
	tb_text_lines_fini(&lines);
	fclose(stream);
	for (uint32_t rank = 0; rank < reading->n_ranks && status == TB_OK; rank++)
		if (reading->nodes[rank] == TB_ID_NONE)
			status = tb_fail_in(reading->error, TB_EUSAGE, reading->file,
				"rank %u has no node", rank);
	return status;
}

int tb_rank_map(uint32_t **node_of_rank, uint32_t n_ranks,
	const struct tb_network *network, const char *map_file, struct tb_error *error)
{
	uint32_t *nodes = malloc(((size_t)n_ranks + 1) * sizeof *nodes);
	if (!nodes)
		return tb_fail_memory(error, "the places of %u ranks", n_ranks);
	for (uint32_t rank = 0; rank < n_ranks; rank++)
		nodes[rank] = TB_ID_NONE;
	struct rank_map_reading reading = {.file = map_file,
		.nodes = nodes,
		.n_ranks = n_ranks,
		.n_nodes = tb_network_n_hosts(network),
		.network = network,
		.error = error};
	int status = rank_map_read_file(&reading);
	if (status != TB_OK) {
		free(nodes);
		return status;
	}
	*node_of_rank = nodes;
	return TB_OK;
}
