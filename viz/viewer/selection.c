#include "selection.h"

#include "scale.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint32_t tb_brush_level(const struct tb_viewer_data *data, uint32_t link)
{
	const struct tb_link_info *at = &tb_run_links(data->run)[link].at;
	return at->kind == TB_LINK_EJECTION ? data->info->n_levels
					    : tb_run_switches(data->run)[at->to].at.level;
}

static bool selection_holds(
	const struct tb_brush *brush, const struct tb_viewer_data *data, uint32_t link)
{
	uint32_t level = tb_brush_level(data, link);
	uint64_t value = tb_metric_of(&data->samples[link], brush->metric);
	return level >= brush->from_level && level <= brush->to_level &&
	       value >= brush->low && value <= brush->high;
}

uint32_t tb_brush_apply(
	const struct tb_brush *brush, const struct tb_viewer_data *data, uint8_t *outside)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < data->info->n_links; i++) {
		outside[i] = brush->on && !selection_holds(brush, data, i);
		n += !outside[i];
	}
	return n;
}

static char *selection_level_text(
	const struct tb_brush *brush, uint32_t n_levels, char *buffer, size_t size)
{
	if (brush->from_level == n_levels)
		snprintf(buffer, size, "on links to nodes");
	else if (brush->from_level == brush->to_level)
		snprintf(buffer, size, "on links to level %" PRIu32, brush->from_level);
	else if (brush->to_level == n_levels)
		snprintf(buffer, size, "on links to level %" PRIu32 " up and to nodes",
			brush->from_level);
	else
		snprintf(buffer, size, "on links to levels %" PRIu32 " to %" PRIu32,
			brush->from_level, brush->to_level);
	return buffer;
}

char *tb_brush_text(const struct tb_brush *brush, const struct tb_viewer_data *data,
	char *buffer, size_t size)
{
	char low[48], high[48] = "", level[64];
	bool open_ended = brush->high == UINT64_MAX;
	tb_metric_format(brush->metric, brush->low, low, sizeof low);
	if (!open_ended && brush->high != brush->low)
		tb_metric_format(brush->metric, brush->high, high, sizeof high);
	snprintf(buffer, size, "%s %s%s%s %s", tb_link_figures[brush->metric].name, low,
		open_ended ? " or more"
		: high[0]  ? " to "
			   : "",
		high,
		selection_level_text(brush, data->info->n_levels, level, sizeof level));
	return buffer;
}

int tb_selection_init(struct tb_selection *selection, const struct tb_run_info *info)
{
	struct tb_marks *marks = &selection->marks;
	marks->links = calloc(info->n_links + 1u, 1);
	marks->switches = calloc(info->n_switches + 1u, 1);
	marks->nodes = calloc(info->n_nodes + 1u, 1);
	selection->outside = calloc(info->n_links + 1u, 1);
	return marks->links && marks->switches && marks->nodes && selection->outside
		       ? TB_OK
		       : TB_ENOMEM;
}

void tb_selection_fini(struct tb_selection *selection)
{
	free(selection->marks.links);
	free(selection->marks.switches);
	free(selection->marks.nodes);
	free(selection->outside);
	selection->outside = NULL;
	selection->brush.on = false;
	selection->marks = (struct tb_marks){.any = false};
}

bool tb_selection_can(struct tb_pick pick)
{
	return pick.kind == TB_PICK_LINK || pick.kind == TB_PICK_SWITCH ||
	       pick.kind == TB_PICK_NODE || pick.kind == TB_PICK_JOB ||
	       pick.kind == TB_PICK_FLOW || pick.kind == TB_PICK_PAIR ||
	       pick.kind == TB_PICK_SPAN || pick.kind == TB_PICK_ROW;
}

bool tb_selection_is_end(struct tb_pick pick)
{
	return pick.kind == TB_PICK_NODE || pick.kind == TB_PICK_SWITCH;
}

bool tb_selection_has_routes(const struct tb_selection *selection)
{
	return tb_selection_is_end(selection->end) &&
	       tb_selection_is_end(selection->selected) &&
	       !tb_pick_equal(selection->end, selection->selected);
}

static void selection_mark(uint8_t *marks, uint32_t id, enum tb_mark how)
{
	marks[id] = (uint8_t)how;
}

static void mark_link(struct tb_marks *marks, const struct tb_viewer_data *data,
	uint32_t id, enum tb_mark how)
{
	const struct tb_link_info *at = &tb_run_links(data->run)[id].at;
	selection_mark(marks->links, id, how);
	if (at->kind != TB_LINK_INJECTION)
		selection_mark(marks->switches, at->from, how);
	if (at->kind != TB_LINK_EJECTION)
		selection_mark(marks->switches, at->to, how);
}

// The two ends of a flow; TB_ID_NONE where the store does not name them.
struct selection_ends {
	struct tb_node source, destination;
};

static int mark_path(struct tb_marks *marks, struct tb_viewer_data *data,
	struct selection_ends ends, enum tb_mark how, struct tb_error *error)
{
	uint32_t n;
	int status = tb_viewer_data_answer(data, &data->of_paths.question, error);
	if (status <= 0 || ends.source.id == TB_ID_NONE ||
		ends.destination.id == TB_ID_NONE)
		return status < 0 ? status : TB_OK;
	const struct tb_link *links =
		tb_paths_way(data->of_paths.paths, ends.source, ends.destination, &n);
	for (uint32_t i = 0; i < n; i++)
		mark_link(marks, data, links[i].id, how);
	selection_mark(marks->nodes, ends.source.id, how);
	selection_mark(marks->nodes, ends.destination.id, how);
	return TB_OK;
}

const uint8_t *tb_selection_outside(const struct tb_selection *selection)
{
	return selection->brush.on ? selection->outside : NULL;
}

static struct tb_path_end path_end(struct tb_pick pick)
{
	return (struct tb_path_end){pick.kind == TB_PICK_SWITCH, pick.index};
}

static void mark_end(struct tb_marks *marks, struct tb_pick pick)
{
	selection_mark(pick.kind == TB_PICK_SWITCH ? marks->switches : marks->nodes,
		pick.index, TB_MARK_ON);
}

// mark_routes marks the links of all shortest paths from the kept end to the selected
// one, and those of the way back.
static int mark_routes(const struct tb_selection *selection, struct tb_viewer_data *data,
	struct tb_error *error)
{
	uint32_t n;
	struct tb_marks marks = selection->marks;
	int status = tb_viewer_data_answer(data, &data->of_paths.question, error);
	if (status <= 0)
		return status;
	struct tb_paths *paths = data->of_paths.paths;
	struct tb_path_end from = path_end(selection->end);
	struct tb_path_end to = path_end(selection->selected);
	const struct tb_link *links = tb_paths_between(paths, to, from, &n);
	for (uint32_t i = 0; i < n; i++)
		mark_link(&marks, data, links[i].id, TB_MARK_OTHER);
	links = tb_paths_between(paths, from, to, &n);
	for (uint32_t i = 0; i < n; i++)
		mark_link(&marks, data, links[i].id, TB_MARK_ON);
	mark_end(&marks, selection->end);
	mark_end(&marks, selection->selected);
	return TB_OK;
}

// mark_node_links marks the links between the network and the nodes that are marked.
static void mark_node_links(struct tb_marks *marks, const struct tb_viewer_data *data)
{
	const struct tb_run_link *links = tb_run_links(data->run);
	for (uint32_t i = 0; i < data->info->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		if ((at->kind == TB_LINK_INJECTION && marks->nodes[at->from]) ||
			(at->kind == TB_LINK_EJECTION && marks->nodes[at->to]))
			selection_mark(marks->links, i, TB_MARK_ON);
	}
}

static int mark_pair(struct tb_marks *marks, struct tb_viewer_data *data, uint32_t index,
	struct tb_error *error)
{
	const struct tb_heavy_waits *blame = &data->of_blame.heaviest;
	int status = tb_viewer_data_answer(data, &data->of_blame.question, error);
	if (status <= 0 || index >= blame->listed.n)
		return status < 0 ? status : TB_OK;
	const struct tb_blame_sample *pair = &blame->rows[index];
	status = mark_path(marks, data,
		(struct selection_ends){pair->culprit_source, pair->culprit_destination},
		TB_MARK_OTHER, error);
	if (status == TB_OK)
		status = mark_path(marks, data,
			(struct selection_ends){
				pair->victim_source, pair->victim_destination},
			TB_MARK_ON, error);
	return status;
}

// mark_tree marks the branches of the congestion tree whose root is a link.
static int mark_tree(struct tb_marks *marks, struct tb_viewer_data *data, uint32_t root,
	struct tb_error *error)
{
	const struct tb_trees *trees = &data->of_trees.trees;
	int status = tb_viewer_data_answer(data, &data->of_trees.question, error);
	if (status <= 0)
		return status;
	for (uint32_t i = trees->first[root]; i < trees->first[root + 1]; i++)
		mark_link(marks, data, trees->rows[i].link.id, TB_MARK_ON);
	if (trees->root_first[root] < trees->root_first[root + 1])
		selection_mark(marks->links, root, TB_MARK_ROOT);
	return TB_OK;
}

int tb_selection_mark(struct tb_selection *selection, struct tb_viewer_data *data,
	bool trees, struct tb_error *error)
{
	struct tb_marks *marks = &selection->marks;
	struct tb_pick pick = selection->selected;
	memset(marks->links, 0, data->info->n_links);
	memset(marks->switches, 0, data->info->n_switches);
	memset(marks->nodes, 0, data->info->n_nodes);
	marks->any = pick.kind != TB_PICK_NONE;
	if (tb_selection_has_routes(selection))
		return mark_routes(selection, data, error);
	switch ((int)pick.kind) {
	case TB_PICK_LINK:
		selection_mark(marks->links, pick.index, TB_MARK_ON);
		return trees ? mark_tree(marks, data, pick.index, error) : TB_OK;
	case TB_PICK_NODE:
		selection_mark(marks->nodes, pick.index, TB_MARK_ON);
		mark_node_links(marks, data);
		return TB_OK;
	case TB_PICK_JOB: {
		const struct tb_flow_table *flows = &data->of_flows.flows;
		int status = tb_viewer_data_answer(data, &data->of_flows.question, error);
		if (status <= 0)
			return status;
		for (uint32_t i = 0; flows->group == 1 && i < flows->n; i++) {
			if (flows->rows[i].job != pick.index)
				continue;
			selection_mark(
				marks->nodes, flows->rows[i].source.id, TB_MARK_ON);
			selection_mark(
				marks->nodes, flows->rows[i].destination.id, TB_MARK_ON);
		}
		mark_node_links(marks, data);
		return TB_OK;
	}
	case TB_PICK_FLOW: {
		const struct tb_flow_table *flows = &data->of_flows.flows;
		int status = tb_viewer_data_answer(data, &data->of_flows.question, error);
		if (status <= 0 || pick.index >= flows->n)
			return status < 0 ? status : TB_OK;
		const struct tb_flow_sample *flow = &flows->rows[pick.index];
		return mark_path(marks, data,
			(struct selection_ends){flow->source, flow->destination},
			TB_MARK_ON, error);
	}
	case TB_PICK_PAIR:
		return mark_pair(marks, data, pick.index, error);
	default:
		return TB_OK;
	}
}
