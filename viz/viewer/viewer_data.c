// What of the whole run the viewer reads when it is first asked for, and how what is
// selected is named.
#include "viewer_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct tb_flow_table *tb_viewer_flows(struct tb_viewer *viewer)
{
	struct tb_viewer_data *data = &viewer->data;
	struct tb_error error;
	if (data->has_flows)
		return &data->flows;
	if (tb_flow_table_init(&data->flows, viewer->run, &error) != TB_OK) {
		tb_viewer_told(viewer, &error);
		return NULL;
	}
	data->has_flows = true;
	return &data->flows;
}

const struct tb_blame_sample *tb_viewer_blame(struct tb_viewer *viewer, uint32_t *n)
{
	static const struct tb_blame_sample none;
	struct tb_viewer_data *data = &viewer->data;
	struct tb_error error;
	*n = 0;
	if (!data->has_blame && tb_blame_all(viewer->run, &data->blame, &data->n_blame,
					&error) != TB_OK) {
		tb_viewer_told(viewer, &error);
		return NULL;
	}
	data->has_blame = true;
	*n = data->n_blame;
	return data->blame ? data->blame : &none;
}

const struct tb_trees *tb_viewer_trees(struct tb_viewer *viewer)
{
	struct tb_viewer_data *data = &viewer->data;
	struct tb_error error;
	if (data->has_trees)
		return &data->trees;
	if (tb_trees_init(&data->trees, viewer->run, &error) != TB_OK) {
		tb_viewer_told(viewer, &error);
		return NULL;
	}
	data->has_trees = true;
	return &data->trees;
}

struct tb_paths *tb_viewer_paths(struct tb_viewer *viewer)
{
	struct tb_error error;
	if (!viewer->data.paths &&
		tb_paths_new(&viewer->data.paths, viewer->run, &error) != TB_OK)
		tb_viewer_told(viewer, &error);
	return viewer->data.paths;
}

void tb_viewer_data_fini(struct tb_viewer_data *data)
{
	tb_flow_table_fini(&data->flows);
	free(data->blame);
	tb_trees_fini(&data->trees);
	tb_paths_free(data->paths);
	*data = (struct tb_viewer_data){0};
}

static void mark(uint8_t *marks, uint32_t id, enum tb_mark how)
{
	// A root stays one, whoever passes over it.
	if (marks[id] != TB_MARK_ROOT)
		marks[id] = (uint8_t)how;
}

static void mark_link(struct tb_viewer *viewer, uint32_t id, enum tb_mark how)
{
	const struct tb_link_info *at = &tb_run_links(viewer->run)[id].at;
	struct tb_marks *marks = &viewer->marks;
	mark(marks->links, id, how);
	if (at->kind != TB_LINK_INJECTION)
		mark(marks->switches, at->from, how);
	if (at->kind != TB_LINK_EJECTION)
		mark(marks->switches, at->to, how);
}

static void mark_path(struct tb_viewer *viewer, struct tb_node source,
	struct tb_node destination, enum tb_mark how)
{
	uint32_t n;
	struct tb_paths *paths = tb_viewer_paths(viewer);
	if (!paths || source.id == TB_ID_NONE || destination.id == TB_ID_NONE)
		return;
	const struct tb_link *links = tb_paths_find(paths, source, destination, &n);
	for (uint32_t i = 0; i < n; i++)
		mark_link(viewer, links[i].id, how);
	mark(viewer->marks.nodes, source.id, how);
	mark(viewer->marks.nodes, destination.id, how);
}

static void mark_node(struct tb_viewer *viewer, uint32_t node)
{
	const struct tb_run_link *links = tb_run_links(viewer->run);
	mark(viewer->marks.nodes, node, TB_MARK_ON);
	for (uint32_t i = 0; i < viewer->info->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		if ((at->kind == TB_LINK_INJECTION && at->from == node) ||
			(at->kind == TB_LINK_EJECTION && at->to == node))
			mark(viewer->marks.links, i, TB_MARK_ON);
	}
}

// mark_job lights the nodes of a job, and the links that join them to the network.
static void mark_job(struct tb_viewer *viewer, uint32_t job)
{
	const struct tb_run_link *links = tb_run_links(viewer->run);
	const struct tb_flow_table *flows = tb_viewer_flows(viewer);
	for (uint32_t i = 0; flows && flows->group == 1 && i < flows->n; i++) {
		if (flows->rows[i].job != job)
			continue;
		mark(viewer->marks.nodes, flows->rows[i].source.id, TB_MARK_ON);
		mark(viewer->marks.nodes, flows->rows[i].destination.id, TB_MARK_ON);
	}
	for (uint32_t i = 0; i < viewer->info->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		if ((at->kind == TB_LINK_INJECTION && viewer->marks.nodes[at->from]) ||
			(at->kind == TB_LINK_EJECTION && viewer->marks.nodes[at->to]))
			mark(viewer->marks.links, i, TB_MARK_ON);
	}
}

static void mark_pair(struct tb_viewer *viewer, uint32_t index)
{
	uint32_t n;
	const struct tb_blame_sample *blame = tb_viewer_blame(viewer, &n);
	if (!blame || index >= n)
		return;
	blame += index;
	mark_path(
		viewer, blame->culprit_source, blame->culprit_destination, TB_MARK_OTHER);
	mark_path(viewer, blame->victim_source, blame->victim_destination, TB_MARK_ON);
	mark(viewer->marks.links, blame->root.id, TB_MARK_ROOT);
}

// mark_tree lights where headers waited in the end for a link: the branches of the
// congestion tree whose root it is.
static void mark_tree(struct tb_viewer *viewer, uint32_t root)
{
	bool is_root = false;
	if (viewer->main != TB_VIEW_ROOTS && viewer->main != TB_VIEW_TREE)
		return; // elsewhere a link is a link
	const struct tb_trees *trees = tb_viewer_trees(viewer);
	for (uint32_t i = 0; trees && i < trees->n; i++) {
		const struct tb_tree_sample *row = &trees->rows[i];
		if (row->root.id != root || row->link.id == TB_ID_NONE)
			continue;
		is_root = true;
		mark_link(viewer, row->link.id, TB_MARK_ON);
	}
	if (is_root)
		mark(viewer->marks.links, root, TB_MARK_ROOT);
}

void tb_viewer_mark(struct tb_viewer *viewer)
{
	struct tb_marks *marks = &viewer->marks;
	struct tb_pick pick = viewer->selected;
	if (!viewer->run)
		return;
	memset(marks->links, 0, viewer->info->n_links);
	memset(marks->switches, 0, viewer->info->n_switches);
	memset(marks->nodes, 0, viewer->info->n_nodes);
	marks->any = pick.kind != TB_PICK_NONE;
	const struct tb_flow_table *flows;
	switch ((int)pick.kind) {
	case TB_PICK_LINK:
		mark(viewer->marks.links, pick.index, TB_MARK_ON);
		mark_tree(viewer, pick.index);
		break;
	case TB_PICK_NODE:
		mark_node(viewer, pick.index);
		break;
	case TB_PICK_JOB:
		mark_job(viewer, pick.index);
		break;
	case TB_PICK_FLOW:
		flows = tb_viewer_flows(viewer);
		if (flows && pick.index < flows->n)
			mark_path(viewer, flows->rows[pick.index].source,
				flows->rows[pick.index].destination, TB_MARK_ON);
		break;
	case TB_PICK_PAIR:
		mark_pair(viewer, pick.index);
		break;
	default:
		break;
	}
}

static void node_text(
	const struct tb_viewer *viewer, uint32_t node, char *buffer, size_t size)
{
	const char *name = tb_run_node_name(viewer->run, (struct tb_node){node});
	if (name[0])
		snprintf(buffer, size, "node %" PRIu32 " (%s)", node, name);
	else
		snprintf(buffer, size, "node %" PRIu32, node);
}

static char *flow_ends(
	struct tb_node source, struct tb_node destination, char *buffer, size_t size)
{
	if (source.id == TB_ID_NONE)
		snprintf(buffer, size, "various flows");
	else
		snprintf(buffer, size, "%" PRIu32 " > %" PRIu32, source.id,
			destination.id);
	return buffer;
}

static void pair_text(struct tb_viewer *viewer, uint32_t index, char *buffer, size_t size)
{
	uint32_t n;
	char victim[32];
	char culprit[32];
	const struct tb_blame_sample *blame = tb_viewer_blame(viewer, &n);
	if (!blame || index >= n)
		return;
	blame += index;
	snprintf(buffer, size, "%s waited for %s",
		flow_ends(blame->victim_source, blame->victim_destination, victim,
			sizeof victim),
		flow_ends(blame->culprit_source, blame->culprit_destination, culprit,
			sizeof culprit));
}

char *tb_pick_text(
	struct tb_viewer *viewer, struct tb_pick pick, char *buffer, size_t size)
{
	const struct tb_flow_table *flows;
	buffer[0] = '\0';
	switch ((int)pick.kind) {
	case TB_PICK_LINK:
		snprintf(buffer, size, "link %s",
			tb_run_links(viewer->run)[pick.index].name);
		break;
	case TB_PICK_SWITCH:
		snprintf(buffer, size, "switch %s",
			tb_run_switches(viewer->run)[pick.index].name);
		break;
	case TB_PICK_NODE:
		node_text(viewer, pick.index, buffer, size);
		break;
	case TB_PICK_JOB:
		snprintf(
			buffer, size, "job %s", tb_run_job_name(viewer->run, pick.index));
		break;
	case TB_PICK_FLOW:
		flows = tb_viewer_flows(viewer);
		if (flows && pick.index < flows->n)
			snprintf(buffer, size, "flow %" PRIu32 " > %" PRIu32,
				flows->rows[pick.index].source.id,
				flows->rows[pick.index].destination.id);
		break;
	case TB_PICK_PAIR:
		pair_text(viewer, pick.index, buffer, size);
		break;
	default:
		break;
	}
	return buffer;
}
