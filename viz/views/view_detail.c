// The panel on the right: the selection in full, or the run when nothing is selected. Its
// rows select what they name; going back returns from there.
#include "detail.h"
#include "rank_held.h"
#include "run_text.h"
#include "views.h"

#include <inttypes.h>
#include <stdlib.h>

#define TOP    12
#define BACK_H 24

struct panel {
	struct tb_sheet sheet;
	struct tb_sheet_place place;
	struct tb_pick shown; // the selection that `place` belongs to
};

static struct panel *detail_panel(const struct tb_pane *pane)
{
	return pane->state;
}

static void close_panel(void *state)
{
	struct panel *panel = state;
	tb_sheet_fini(&panel->sheet);
}

static int open_panel(struct tb_pane *pane, struct tb_error *error)
{
	if (!pane->state)
		pane->state = calloc(1, sizeof(struct panel));
	return pane->state ? TB_OK : tb_fail_memory(error, "the panel");
}

// write_sheet writes the sheet of the selection, and begins at its top when that is new.
static const struct tb_sheet *write_sheet(struct tb_pane *pane)
{
	struct panel *panel = detail_panel(pane);
	struct tb_pick pick = pane->selection->selected;
	const struct tb_detail detail = {pane, &panel->sheet};
	if (!tb_pick_equal(panel->shown, pick))
		panel->place = (struct tb_sheet_place){.scroll = 0};
	panel->shown = pick;
	tb_sheet_clear(&panel->sheet);
	if (tb_selection_has_routes(pane->selection)) {
		tb_detail_routes(&detail);
		return &panel->sheet;
	}
	switch ((int)pick.kind) {
	case TB_PICK_LINK:
		tb_detail_link(&detail, pick.index);
		tb_ranks_link_sheet(&detail);
		tb_detail_link_traffic(&detail, pick.index);
		break;
	case TB_PICK_SWITCH:
		tb_detail_switch(&detail, pick.index);
		break;
	case TB_PICK_NODE:
		tb_detail_node(&detail, pick.index);
		break;
	case TB_PICK_JOB:
		tb_detail_job(&detail, pick.index);
		break;
	case TB_PICK_FLOW:
		tb_detail_flow(&detail, pick.index);
		break;
	case TB_PICK_PAIR:
		tb_detail_pair(&detail, pick.index);
		break;
	default:
		if (!tb_ranks_span_sheet(&detail, pick))
			tb_detail_run(&detail);
		break;
	}
	return &panel->sheet;
}

// detail_name writes what the way back leads to.
static char *detail_name(
	const struct tb_pane *pane, struct tb_pick pick, char *buffer, size_t size)
{
	const struct tb_run *run = pane->data->run;
	const struct tb_flow_table *flows;
	switch ((int)pick.kind) {
	case TB_PICK_LINK:
		snprintf(buffer, size, "link %s", tb_run_links(run)[pick.index].name);
		break;
	case TB_PICK_SWITCH:
		snprintf(
			buffer, size, "switch %s", tb_run_switches(run)[pick.index].name);
		break;
	case TB_PICK_NODE:
		snprintf(buffer, size, "node %" PRIu32, pick.index);
		break;
	case TB_PICK_JOB:
		snprintf(buffer, size, "job %s", tb_run_job_name(run, pick.index));
		break;
	case TB_PICK_FLOW:
		flows = tb_viewer_flows(pane->viewer);
		snprintf(buffer, size, "flow %" PRIu32 " > %" PRIu32,
			flows ? flows->rows[pick.index].source.id : 0,
			flows ? flows->rows[pick.index].destination.id : 0);
		break;
	case TB_PICK_SPAN:
		snprintf(buffer, size, "%s", tb_ranks_span_name(pane, pick));
		break;
	default:
		snprintf(buffer, size, "the wait");
		break;
	}
	return buffer;
}

// sheet_box returns the place of the sheet, below the way back when there is one.
static struct tb_box sheet_box(const struct tb_pane *pane)
{
	struct tb_box box = pane->place;
	bool back = tb_viewer_came_from(pane->viewer).kind != TB_PICK_NONE;
	double top = TOP + (back ? BACK_H : 0);
	return (struct tb_box){box.x, box.y + top, box.w, box.h - top};
}

static void draw_back(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_box place = pane->place;
	char name[112], text[128];
	struct tb_pick from = tb_viewer_came_from(pane->viewer);
	if (from.kind == TB_PICK_NONE)
		return;
	snprintf(text, sizeof text, "< %s", detail_name(pane, from, name, sizeof name));
	double w = tb_text_width(TB_FONT_TEXT, 12, text) + 20;
	tb_pane_button(pane, picture,
		(struct tb_box){place.x + 10, place.y + 8,
			w < place.w - 20 ? w : place.w - 20, 20},
		TB_REQUEST_BACK, text);
}

static void detail_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_box place = pane->place;
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	tb_picture_rect(picture, place, palette->panel);
	tb_picture_line(picture, (struct tb_box){place.x + 0.5, place.y, 0, place.h}, 1,
		palette->line);
	tb_picture_line(picture, (struct tb_box){place.x, place.y + 0.5, place.w, 0}, 1,
		palette->line);
	if (!detail_panel(pane))
		return;
	tb_sheet_draw(write_sheet(pane), &detail_panel(pane)->place, pane, picture,
		sheet_box(pane));
	draw_back(pane, picture);
}

// detail_follow goes where the chosen row leads.
static bool detail_follow(struct tb_pane *pane)
{
	struct panel *panel = detail_panel(pane);
	const struct tb_sheet *sheet = write_sheet(pane);
	if (!panel->place.has_chosen)
		return false;
	struct tb_pick pick = tb_sheet_pick(sheet, panel->place.chosen);
	const struct tb_request request = {(enum tb_request_name)pick.index, 0};
	if (pick.kind == TB_PICK_MESSAGE)
		tb_detail_show_message(pane, pick.index);
	else if (pick.kind == TB_PICK_BUTTON)
		tb_viewer_ask(pane->viewer, &request);
	else if (pick.kind != TB_PICK_NONE)
		tb_viewer_enter(pane->viewer, pick);
	return true;
}

static bool detail_request(struct tb_pane *pane, const struct tb_request *asked)
{
	struct panel *panel = detail_panel(pane);
	if (!panel)
		return false;
	switch ((int)asked->name) {
	case TB_REQUEST_ROW_NEXT:
	case TB_REQUEST_ROW_BACK:
		return tb_sheet_step(write_sheet(pane), &panel->place,
			asked->name == TB_REQUEST_ROW_NEXT ? 1 : -1, sheet_box(pane).h);
	case TB_REQUEST_FOCUS:
		return detail_follow(pane);
	case TB_REQUEST_BACK:
		if (!panel->place.has_chosen)
			return false;
		panel->place.has_chosen = false;
		return true;
	default:
		return false;
	}
}

static void detail_pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	struct panel *panel = detail_panel(pane);
	if (panel && event->kind == TB_EVENT_WHEEL)
		panel->place.scroll -= event->steps * 60;
	else if (panel && event->kind == TB_EVENT_DRAG)
		panel->place.scroll -= event->dy;
	else if (panel && event->kind == TB_EVENT_CLICK &&
		 event->pick.kind == TB_PICK_MESSAGE)
		tb_detail_show_message(pane, event->pick.index);
}

const struct tb_view tb_view_detail = {.slot = TB_SLOT_DETAIL,
	.open = open_panel,
	.draw = detail_draw,
	.request = detail_request,
	.pointer = detail_pointer,
	.close = close_panel};
