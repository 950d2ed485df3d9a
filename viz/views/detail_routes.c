// The sheet of two nodes or switches: the links of all shortest paths from the one to the
// other, and what flows between them.
#include "detail.h"
#include "run_text.h"

#include <inttypes.h>

static char *end_name(
	const struct tb_detail *detail, struct tb_pick end, char *buffer, size_t size)
{
	if (end.kind == TB_PICK_NODE)
		snprintf(buffer, size, "node %" PRIu32, end.index);
	else
		snprintf(buffer, size, "switch %s",
			tb_run_switches(detail->pane->data->run)[end.index].name);
	return buffer;
}

static struct tb_path_end route_end_of(struct tb_pick pick)
{
	return (struct tb_path_end){pick.kind == TB_PICK_SWITCH, pick.index};
}

// add_route_flows lists the flows between two nodes, both ways.
static void add_route_flows(
	const struct tb_detail *detail, struct tb_pick from, struct tb_pick to)
{
	const struct tb_flow_table *table = tb_viewer_flows(detail->pane->viewer);
	char text[48];
	if (from.kind != TB_PICK_NODE || to.kind != TB_PICK_NODE || !table ||
		table->group > 1)
		return;
	tb_sheet_gap(detail->sheet);
	tb_sheet_caption(detail->sheet, "flows between them, whole run");
	uint32_t before = detail->sheet->n_items;
	for (uint32_t i = 0; i < table->n; i++) {
		uint32_t source = table->rows[i].source.id;
		uint32_t destination = table->rows[i].destination.id;
		if ((source == from.index && destination == to.index) ||
			(source == to.index && destination == from.index))
			tb_detail_flow_item(detail, i,
				tb_format_size(table->rows[i].bytes, text, sizeof text));
	}
	if (detail->sheet->n_items == before)
		tb_sheet_caption(detail->sheet, "none");
}

// links lists the links of the shortest paths.
static void links(const struct tb_detail *detail, struct tb_pick from, struct tb_pick to)
{
	uint32_t n;
	char text[64];
	struct tb_paths *paths = tb_viewer_paths(detail->pane->viewer);
	if (!paths)
		return;
	tb_paths_between(paths, route_end_of(from), route_end_of(to), &n);
	snprintf(text, sizeof text, "%" PRIu32, n);
	tb_sheet_row(detail->sheet, "links on the way", n ? text : "none: no path");
	tb_sheet_row(detail->sheet, "marked", "there; in the other colour: back");
	add_route_flows(detail, from, to);
	tb_sheet_gap(detail->sheet);
	snprintf(text, sizeof text, "links of the shortest paths, and their %s",
		tb_link_figures[detail->pane->data->metric].name);
	tb_sheet_caption(detail->sheet, text);
	const struct tb_link *found =
		tb_paths_between(paths, route_end_of(from), route_end_of(to), &n);
	for (uint32_t i = 0; i < n; i++)
		tb_detail_link_item(detail, found[i].id);
}

void tb_detail_routes(const struct tb_detail *detail)
{
	struct tb_pick from = detail->pane->selection->end;
	struct tb_pick to = detail->pane->selection->selected;
	char one[48], text[112], other[48];
	snprintf(text, sizeof text, "%s > %s", end_name(detail, from, one, sizeof one),
		end_name(detail, to, other, sizeof other));
	tb_sheet_heading(detail->sheet, "Routes", text);
	links(detail, from, to);
}

void tb_detail_routes_from(const struct tb_detail *detail)
{
	const struct tb_pick pick = {TB_PICK_BUTTON, TB_REQUEST_ROUTES};
	bool kept = tb_pick_equal(
		detail->pane->selection->end, detail->pane->selection->selected);
	tb_sheet_name(detail->sheet, pick, "routes",
		kept ? "select the other end" : "to another node or switch");
}
