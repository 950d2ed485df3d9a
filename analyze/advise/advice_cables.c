// More cables between switches, fewer, and a faster one to a node.
#include "advice_impl.h"
#include "fabric_file_write.h"
#include "network_open.h"

#include <stdio.h>
#include <string.h>

static void search_shape(struct tb_advice *advice, const struct tb_shape *shape,
	const char *rule, const char *title)
{
	struct tb_replay_command words;
	char text[TB_SHAPE_TEXT];
	struct tb_shape parsed;
	tb_shape_text(shape, text);
	if (tb_shape_parse(&parsed, text, NULL) != TB_OK ||
		!tb_advice_again(advice, &words))
		return;
	tb_replay_command_network(&words, "arity", NULL);
	tb_replay_command_network(&words, "levels", NULL);
	tb_replay_command_network(&words, "shape", text);
	tb_advice_search(advice, rule, &words, title);
}

// taper tries the cables up from a level doubled, where there are fewer than down, and
// halved: what it costs to save them.
static void taper(struct tb_advice *advice, const struct tb_shape *shape, uint32_t level)
{
	uint32_t n_up = tb_shape_n_up(shape, level);
	unsigned long long n =
		(unsigned long long)n_up * tb_shape_n_switches(shape, level);
	struct tb_shape changed = *shape;
	char title[160];
	if (n_up < tb_shape_n_down(shape, level)) {
		changed.w[level + 1] *= 2;
		snprintf(title, sizeof title,
			"twice the cables up from level %u (%llu more)", level, n);
		search_shape(advice, &changed, "more-cables", title);
	}
	changed = *shape;
	if (n_up % 2 || n_up < 2)
		return;
	if (changed.w[level + 1] % 2 == 0)
		changed.w[level + 1] /= 2;
	else
		changed.p[level + 1] /= 2;
	snprintf(title, sizeof title, "half the cables up from level %u (saves %llu)",
		level, n / 2);
	search_shape(advice, &changed, "fewer-cables", title);
}

// With rates by level cables do not tell the taper.
void tb_advice_search_taper(struct tb_advice *advice)
{
	const struct tb_network_params *network = &advice->info->network;
	struct tb_shape shape;
	if (network->level_rates[0] || advice->evidence.n_inside == 0 ||
		tb_advice_has_option(advice, "--routes") ||
		tb_advice_has_option(advice, "--fault") ||
		tb_shape_parse(&shape, network->shape, NULL) != TB_OK)
		return;
	for (uint32_t level = 0; level + 1 < shape.n_levels; level++)
		taper(advice, &shape, level);
}

// double_rate doubles the rate of a node's cable in an edge list: "SWITCH PORT NODE PORT
// RATE LATENCY". It returns the text anew, malloc'ed; NULL: there is no such line, or
// two.
static char *double_rate(const char *list, const char *node, size_t *size)
{
	char *text = NULL;
	uint32_t n = 0;
	FILE *stream = open_memstream(&text, size);
	for (const char *line = list; stream && *line;) {
		const char *end = strchr(line, '\n');
		int length = end ? (int)(end - line) : (int)strlen(line), at = 0;
		char name[160] = "", unit[16] = "", copy[512];
		double rate = 0;
		// Of the line alone: sscanf measures all of a text before it reads.
		snprintf(copy, sizeof copy, "%.*s", length, line);
		if (sscanf(copy, "%*s %*u %159s %*u %n%lf%15[a-zA-Z/]", name, &at, &rate,
			    unit) == 3 &&
			strcmp(name, node) == 0 && at < length) {
			int behind = at + (int)strcspn(line + at, " \n");
			fprintf(stream, "%.*s%.12g%s%.*s\n", at, line, 2 * rate, unit,
				length - behind, line + behind);
			n++;
		} else {
			fprintf(stream, "%.*s\n", length, line);
		}
		line += length + (end != NULL);
	}
	if (stream && fclose(stream) == 0 && n == 1)
		return text;
	free(text);
	return NULL;
}

// write_cable_list writes the run's network as an edge list; malloc'ed, NULL where it
// cannot be one.
static char *write_cable_list(const struct tb_advice *advice, const char *name)
{
	struct tb_network *network = NULL;
	char *text = NULL;
	size_t size = 0;
	struct tb_error why;
	const struct tb_network_description description = {.name = name,
		.n_nodes = advice->info->n_nodes,
		.leaves_out_routes = true};
	if (tb_network_open(&network, &description, &why) != TB_OK)
		return NULL;
	FILE *stream = open_memstream(&text, &size);
	int status =
		stream ? tb_fabric_file_write(stream, network, TB_FABRIC_FILE_EDGES, &why)
		       : TB_ENOMEM;
	if (stream && fclose(stream) != 0)
		status = TB_ENOMEM;
	tb_network_free(network);
	if (status == TB_OK)
		return text;
	free(text);
	return NULL;
}

// worst_node returns the node whose link is the root of most wait, TB_ID_NONE when none
// is.
static uint32_t worst_node(const struct tb_advice *advice)
{
	return advice->evidence.n_ends ? advice->evidence.ends[0].node.id : TB_ID_NONE;
}

// add_faster adds the change; `list` is the network, the cable twice as fast.
static int add_faster(struct tb_advice *advice, uint32_t node, char *list, size_t size,
	struct tb_error *error)
{
	struct tb_replay_command words;
	char title[160];
	struct tb_advice_file *file = calloc(1, sizeof *file);
	if (!file || !tb_advice_again(advice, &words)) {
		free(list);
		free(file);
		return file ? TB_OK : tb_fail_memory(error, "a fabric");
	}
	*file = (struct tb_advice_file){
		.text = list, .size = size, .kind = TB_ADVICE_FILE_FABRIC};
	snprintf(file->name, sizeof file->name, "faster-node.edges");
	tb_advice_name_files(
		&words, file, 1, advice->folder ? advice->folder : TB_TRIED_FOLDER);
	const char *name = tb_run_node_name(advice->run, (struct tb_node){node});
	snprintf(title, sizeof title, "link of node %u%s%.80s%s twice as fast", node,
		*name ? " (" : "", name, *name ? ")" : "");
	struct tb_change *change = tb_advice_search(advice, "faster-node", &words, title);
	if (change) {
		change->files = file;
		change->n_files = 1;
		return TB_OK;
	}
	free(file->text);
	free(file);
	return TB_OK;
}

// tb_advice_search_node: a fabric in a file routes by other rules than a regular tree
// does by digits, so of those only ascents by load or chance compare.
int tb_advice_search_node(struct tb_advice *advice, struct tb_error *error)
{
	const struct tb_run_info *info = advice->info;
	struct tb_replay_command words;
	uint32_t node = worst_node(advice);
	bool is_file = strcmp(info->network.shape, TB_SHAPE_FABRIC) == 0;
	bool by_digits = info->network.ascent == TB_ASCENT_DETERMINISTIC ||
			 info->network.ascent == TB_ASCENT_SOURCE;
	if (node == TB_ID_NONE || info->network.n_rails > 1 || info->network.broadcast ||
		(by_digits && !is_file) || tb_advice_has_option(advice, "--routes") ||
		tb_advice_has_option(advice, "--fault") ||
		!tb_advice_again(advice, &words))
		return TB_OK;
	const char *name = tb_advice_network(&words);
	if (name && !is_file && strcspn(name, "./") < strcspn(name, ","))
		name = NULL; // an INI file: an edge list takes presets alone
	char *list = name ? write_cable_list(advice, name) : NULL, *faster = NULL;
	char called[160];
	size_t size = 0;
	snprintf(called, sizeof called, "%s",
		tb_run_node_name(advice->run, (struct tb_node){node}));
	if (!called[0])
		snprintf(called, sizeof called, "node%u", node);
	if (list)
		faster = double_rate(list, called, &size);
	free(list);
	tb_replay_command_fini(&words);
	return faster ? add_faster(advice, node, faster, size, error) : TB_OK;
}
