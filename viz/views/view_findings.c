// What the run comes to, in words, as the report begins with: a finding a paragraph, then
// what is worth trying; and the notes on how the run was made. A finding about a link,
// node or job selects it.
#include "critical_path.h"
#include "detail.h"
#include "markup.h"
#include "views.h"

#include "parts.h"
#include "recorded_picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAD	  16
#define RULE_W	  104 // of numbers, buttons and names left of the sentences
#define NUMBER_W  28  // of a finding
#define LINE_H	  19
#define COMMAND_H 18
#define SCROLL_H  95 // per key
#define GAP	  9
#define BUTTON_W  80
#define BUTTON_H  20
#define TITLE_H	  26
#define SCATTER_W 460

struct findings {
	double scroll;
	double height; // of all, when last drawn
};

static struct findings *findings_of(const struct tb_pane *pane)
{
	return pane->state;
}

// finding_pick returns what a finding is about, as far as it can be selected.
static struct tb_pick finding_pick(const struct tb_finding *finding)
{
	static const struct {
		const char *key;
		enum tb_pick_kind kind;
	} kinds[] = {{"link", TB_PICK_LINK}, {"node", TB_PICK_NODE},
		{"victim_job", TB_PICK_JOB}};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const struct tb_figure *figure = tb_finding_figure(finding, kinds[i].key);
		if (figure && figure->whole)
			return (struct tb_pick){kinds[i].kind, (uint32_t)figure->count};
	}
	return (struct tb_pick){TB_PICK_NONE, 0};
}

// sentence_of returns the sentence of a finding, of a run that the viewer has not yet
// replayed to its end without calling that stopped.
static const char *sentence_of(
	const struct tb_pane *pane, const struct tb_finding *finding)
{
	return pane->data->replaying && strcmp(finding->rule, "incomplete") == 0
		       ? "The run is being replayed: this is what there is so far."
		       : finding->sentence;
}

// A part of the run time, by a key of the finding's figures.
struct time_part {
	const char *key, *name;
	struct tb_colour colour;
};

#define MOST_PARTS TB_PATH_CAUSES

// draw_time_bar draws those that a finding has as a bar, below a line that names it, and
// returns its height; 0 where there are none.
static double draw_time_bar(const struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_finding *finding, struct tb_box box, const char *title,
	const struct time_part *parts, size_t n_parts)
{
	struct tb_share shares[MOST_PARTS];
	const struct tb_figure *run = tb_finding_figure(finding, "run_ps");
	char percent[16];
	size_t n = 0;
	for (size_t i = 0; run && i < n_parts; i++) {
		const struct tb_figure *at = tb_finding_figure(finding, parts[i].key);
		if (!at || at->count == 0)
			continue;
		struct tb_share *share = &shares[n++];
		*share = (struct tb_share){
			.amount = (double)at->count, .colour = parts[i].colour};
		snprintf(share->text, sizeof share->text, "%s %s, %s", parts[i].name,
			TB_TIME_TEXT((tb_time_ps)at->count),
			tb_share_text(100 * (double)at->count / (double)run->count,
				percent, sizeof percent));
	}
	if (n == 0)
		return 0;
	tb_picture_text(picture, (struct tb_box){box.x, box.y, box.w, LINE_H},
		tb_style_type(pane->style, TB_FONT_TEXT, 12, true), title);
	box.y += LINE_H;
	return LINE_H + tb_share_bar_draw(picture, pane->style, box, shares, n, 3) + 3;
}

// draw_parts draws what the run time is made of, of the finding that names that: along
// the critical path, which the sentence follows, and by bounds.
static double draw_parts(const struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_finding *finding, struct tb_box box)
{
	static const struct {
		const char *key, *name;
		uint32_t hue;
	} bounds[] = {{"compute_ps", NULL, 2}, {"closed_ps", "windows closed", 5},
		{"hosts_ps", "host links", 0}, {"capacity_ps", "capacity", 1},
		{"routes_ps", "routes", 3}, {"waiting_ps", "held up or waiting", 4},
		{"unknown_ps", "not known", UINT32_MAX}};
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct time_part parts[MOST_PARTS];
	for (uint32_t i = 0; i < TB_PATH_CAUSES; i++)
		parts[i] = (struct time_part){tb_path_key((enum tb_path_cause)i),
			i == TB_PATH_COMPUTE && pane->data->info->is_captured
				? tb_pane_computing(pane)
				: tb_path_words((enum tb_path_cause)i),
			tb_ranks_cause_colour(pane->style, i)};
	double h = draw_time_bar(pane, picture, finding, box,
		"Along the critical path:", parts, TB_PATH_CAUSES);
	size_t n = sizeof bounds / sizeof *bounds;
	for (size_t i = 0; i < n; i++)
		parts[i] = (struct time_part){bounds[i].key,
			bounds[i].name		       ? bounds[i].name
			: pane->data->info->n_jobs > 1 ? "computes, or not yet begun"
						       : tb_pane_computing(pane),
			tb_colour_mix(palette->panel,
				tb_job_colour(pane->style->theme, bounds[i].hue), 0.75)};
	box.y += h;
	return h + draw_time_bar(pane, picture, finding, box,
			   "By bounds, whatever the path: what an ideal network takes, "
			   "and what each adds:",
			   parts, n);
}

// draw_finding_button offers to try what a finding proposes, until it is known what that
// does to the run time.
static void draw_finding_button(const struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_finding *finding, double y)
{
	const struct tb_box box = {pane->place.x + PAD + 18, y, BUTTON_W, BUTTON_H};
	const struct tb_figure *gain = tb_finding_figure(finding, "gain_percent");
	if (gain)
		tb_picture_printf(picture, (struct tb_box){box.x, y, box.w, LINE_H},
			tb_style_type(pane->style, TB_FONT_BOLD, 13, false), "%+.1f %%",
			-gain->real);
	else if (tb_finding_is_change(finding))
		tb_pane_button(pane, picture, box, TB_REQUEST_PROVE,
			tb_viewer_proving(pane->viewer) ? "Cancel (P)" : "Prove (P)");
}

// draw_proved draws how far a proof is, or what the last one came to, and returns the
// height that takes.
static double draw_proved(
	const struct tb_pane *pane, struct tb_picture *picture, double y)
{
	char text[640];
	double left = pane->place.x + PAD + RULE_W;
	struct tb_box line = {
		left, y, fmax(pane->place.x + pane->place.w - PAD - left, 60), LINE_H};
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 13, false);
	type.colour = tb_palette_of(pane->style->theme)->accent;
	if (!tb_viewer_proved(pane->viewer, text, sizeof text)[0])
		return 0;
	return LINE_H * tb_picture_paragraph(picture, line, type, text) + GAP;
}

static double draw_finding_title(const struct tb_pane *pane, struct tb_picture *picture,
	double y, const char *title)
{
	tb_picture_text(picture,
		(struct tb_box){pane->place.x + PAD, y, pane->place.w - 2 * PAD, 20},
		tb_style_type(pane->style, TB_FONT_BOLD, 14, false), title);
	return y + TITLE_H;
}

static double draw_finding_line(const struct tb_pane *pane, struct tb_picture *picture,
	double y, const char *name, const char *text)
{
	struct tb_box place = pane->place;
	double left = place.x + PAD + RULE_W;
	struct tb_box line = {left, y, fmax(place.x + place.w - PAD - left, 60), LINE_H};
	tb_picture_text(picture, (struct tb_box){place.x + PAD, y, RULE_W - 8, LINE_H},
		tb_style_type(pane->style, TB_FONT_TEXT, 12, true), name);
	return y +
	       LINE_H * tb_picture_paragraph(picture, line,
				tb_style_type(pane->style, TB_FONT_TEXT, 13, false),
				text) +
	       GAP;
}

// draw_finding_recorded sets what the traces recorded beside the replay.
static double draw_finding_recorded(
	const struct tb_pane *pane, struct tb_picture *picture, double y)
{
	const struct tb_recorded *recorded = &pane->data->of_findings.recorded;
	struct tb_box place = {pane->place.x + PAD, y, pane->place.w - 2 * PAD, 0};
	char text[512], time[2][32];
	if (recorded->jobs.n == 0)
		return y;
	y = draw_finding_title(pane, picture, y + GAP, "Recorded and simulated");
	for (size_t i = 0; i < recorded->jobs.n; i++)
		y = draw_finding_line(pane, picture, y, "run time",
			tb_recorded_sentence(&recorded->jobs.rows[i], text, sizeof text));
	for (size_t i = 0; i < recorded->checks.n; i++)
		y = draw_finding_line(pane, picture, y, "check",
			tb_recorded_check_sentence(
				&recorded->checks.rows[i], text, sizeof text));
	for (size_t i = 0; i < recorded->kinds.n; i++) {
		const struct tb_recorded_row *row = &recorded->kinds.rows[i];
		tb_format_time(row->simulated_ps, time[1], sizeof time[1]);
		snprintf(text, sizeof text, "%s in all calls, simulated %s",
			tb_format_time(row->recorded_ps, time[0], sizeof time[0]),
			row->unmodelled ? "not modelled" : time[1]);
		y = draw_finding_line(pane, picture, y, row->name, text);
	}
	place.y = y;
	place.w = fmin(place.w, SCATTER_W);
	return y + tb_recorded_scatter(picture, recorded, pane->style->theme, place);
}

// draw_findings draws what is found, and then what is worth trying; what a proof came to
// stands between, even when it has left nothing that is.
static double draw_findings(const struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_findings *findings, double y)
{
	bool begun = false;
	size_t number = 0;
	for (size_t i = 0; i < findings->n; i++) {
		const struct tb_finding *finding = &findings->list[i];
		if (finding->remedy && !begun) {
			y += GAP;
			double h = draw_proved(pane, picture, y);
			y = fmax(draw_finding_title(pane, picture, y, "Worth trying"),
				y + h);
		}
		number = finding->remedy && !begun ? 1 : number + 1;
		begun |= finding->remedy;
		// Draw a finding from `y` on and returns where the next begins.
		const struct tb_palette *palette = tb_palette_of(pane->style->theme);
		const struct tb_pick pick = finding_pick(finding);
		struct tb_box place = pane->place;
		struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 13, false);
		// What can be tried has a button before it.
		double left = place.x + PAD + (finding->remedy ? RULE_W : NUMBER_W);
		struct tb_box line = {
			left, y, fmax(place.x + place.w - PAD - left, 60), LINE_H};
		if (pick.kind != TB_PICK_NONE &&
			(tb_pick_equal(pane->selection->selected, pick) ||
				tb_pick_equal(pane->selection->hovered, pick)))
			type.colour = palette->accent;
		tb_picture_printf(picture,
			(struct tb_box){place.x + PAD, y, RULE_W - 8, LINE_H},
			tb_style_type(pane->style, TB_FONT_TEXT, 12, true), "%zu",
			number);
		size_t first = picture->n_items;
		line.y += LINE_H * tb_picture_paragraph(picture, line, type,
					   sentence_of(pane, finding));
		for (size_t j = first; j < picture->n_items; j++)
			picture->items[j].pick = pick;
		draw_finding_button(pane, picture, finding, y);
		if (strcmp(finding->rule, "time-parts") == 0) {
			line.y += 3;
			line.y += draw_parts(pane, picture, finding, line);
		}
		if (finding->command) {
			line.h = COMMAND_H;
			line.y += COMMAND_H * tb_picture_paragraph(picture, line,
						      tb_style_type(pane->style,
							      TB_FONT_MONO, 12, true),
						      finding->command);
		}
		y = line.y + GAP;
	}
	return begun ? y : y + draw_proved(pane, picture, y);
}

static void finding_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tb_findings *findings = tb_viewer_findings(pane->viewer);
	struct findings *state = findings_of(pane);
	if (!state || !findings)
		return;
	double most = fmax(state->height - pane->place.h, 0);
	state->scroll = fmin(fmax(state->scroll, 0), most);
	double top = pane->place.y + 10 - state->scroll, y = top;
	tb_picture_clip(picture, pane->place);
	y = draw_finding_title(pane, picture, y, "Findings");
	y = draw_findings(pane, picture, findings, y);
	y = draw_finding_recorded(pane, picture, y);
	if (pane->data->info->n_notes)
		y = draw_finding_title(pane, picture, y + GAP, "Notes");
	for (size_t i = 0; i < pane->data->info->n_notes; i++) {
		// Of the only job, it need not name the job.
		const struct tb_run_note *note = &pane->data->info->notes[i];
		struct tb_box place = pane->place;
		double left = place.x + PAD + RULE_W;
		struct tb_box line = {
			left, y, fmax(place.x + place.w - PAD - left, 60), LINE_H};
		if (note->job == TB_ID_NONE || pane->data->info->n_jobs > 1)
			tb_picture_text(picture,
				(struct tb_box){place.x + PAD, y, RULE_W - 8, LINE_H},
				tb_style_type(pane->style, TB_FONT_TEXT, 12, true),
				tb_run_note_about(pane->data->run, note));
		y = line.y +
		    LINE_H * tb_picture_paragraph(picture, line,
				     tb_style_type(pane->style, TB_FONT_TEXT, 13, false),
				     note->text) +
		    GAP;
	}
	tb_picture_unclip(picture);
	state->height = y - top + 20;
}

static bool finding_request(struct tb_pane *pane, const struct tb_request *asked)
{
	struct findings *state = findings_of(pane);
	switch ((int)asked->name) {
	case TB_REQUEST_PROVE:
		tb_viewer_prove(pane->viewer);
		return true;
	case TB_REQUEST_PAN_UP:
	case TB_REQUEST_PAN_DOWN:
		if (state)
			state->scroll +=
				asked->name == TB_REQUEST_PAN_UP ? -SCROLL_H : SCROLL_H;
		return true;
	case TB_REQUEST_FIT:
		if (state)
			state->scroll = 0;
		return true;
	default:
		return false;
	}
}

static void finding_pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	struct findings *state = findings_of(pane);
	if (!state)
		return;
	if (event->kind == TB_EVENT_WHEEL)
		state->scroll -= event->steps * 3 * LINE_H;
	else if (event->kind == TB_EVENT_DRAG)
		state->scroll -= event->dy;
	else if (event->kind == TB_EVENT_CLICK)
		tb_viewer_select(pane->viewer, event->pick);
}

// is_sparse is true when most links carried nothing, as where few hosts were captured.
static bool is_sparse(const struct tb_viewer_data *data)
{
	uint32_t n_used = 0;
	for (uint32_t i = 0; i < data->info->n_links; i++)
		n_used += data->samples[i].bytes > 0;
	return n_used < data->info->n_links / 2;
}

// comes_first: the matrix of a single switch is a strip of ports that shows little, and
// that of a capture in which few hosts speak is a field of empty ones.
static bool comes_first(const struct tb_pane *pane)
{
	const struct tb_run_info *info = pane->data->info;
	bool captured = strcmp(info->input_kind, "packets") == 0;
	return info->complete &&
	       (info->n_switches == 1 || (captured && is_sparse(pane->data)));
}

static void finding_put_csv(struct tb_pane *pane, FILE *stream)
{
	const struct tb_findings *findings = tb_viewer_findings(pane->viewer);
	fputs("rule,sentence,command\n", stream);
	for (size_t i = 0; findings && i < findings->n; i++) {
		const struct tb_finding *finding = &findings->list[i];
		tb_csv_put(stream, finding->rule);
		fputc(',', stream);
		tb_csv_put(stream, sentence_of(pane, finding));
		fputc(',', stream);
		tb_csv_put(stream, finding->command ? finding->command : "");
		fputc('\n', stream);
	}
}

const struct tb_view tb_view_findings = {.slot = TB_SLOT_MAIN,
	.about = "What the run comes to, and what is worth trying. P tries it beside the "
		 "viewer and says what it gains. A click on a sentence selects the link, "
		 "node or job that it is about.",
	.put_csv = finding_put_csv,
	.name = "findings",
	.tab = "Findings",
	.state_size = sizeof(struct findings),
	.draw = finding_draw,
	.request = finding_request,
	.comes_first = comes_first,
	.pointer = finding_pointer};
