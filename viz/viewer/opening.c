#include "opening.h"

#include "beside.h"
#include "opening_form.h"
#include "preset.h"
#include "underload.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW_H	 34
#define WIDTH	 600
#define LABEL	 130 // of it, for the names of the rows
#define OWN_MOST 64

struct tb_opening {
	char *trace;
	struct tb_beside beside;
	struct tb_glance glance;
	struct tb_opening_form form;
	char *own_names, *own_files; // the user's presets, of which `own` has the lines
	const char *own[OWN_MOST];
	size_t n_own;
	char glanced[1024]; // what the glance was asked
	bool begun;
	double fraction, left_s; // of the replay; a negative fraction is unknown
	char network[PATH_MAX];	 // of the replay
	char trouble[512];
};

// What can be clicked, as numbers of parts: a row, and its two arrows.
enum opening_part { PART_LESS, PART_MORE, PART_ROW, PARTS_OF_ROW };
enum { PART_BEGIN = PARTS_OF_ROW * TB_FORM_N_ROWS, PART_SUGGESTION };

// follow_form has the trace looked into, anew when the form asks for something else;
// without an answer there is no suggestion.
static void follow_form(struct tb_opening *opening)
{
	char asked[sizeof opening->glanced];
	struct tb_form_words words;
	const char *network = tb_opening_form_chosen(&opening->form);
	tb_opening_form_words(&opening->form, true, &words);
	size_t n = (size_t)snprintf(asked, sizeof asked, "%s", network);
	for (size_t i = 0; i < words.n && n < sizeof asked; i++)
		n += (size_t)snprintf(asked + n, sizeof asked - n, " %s", words.words[i]);
	if (strcmp(asked, opening->glanced) == 0)
		return;
	memcpy(opening->glanced, asked, sizeof asked);
	tb_glance_end(&opening->glance);
	opening->trouble[0] = '\0';
	(void)!tb_glance_start(
		&opening->glance, opening->trace, network, words.words, words.n, NULL);
}

// add_opening_own adds the lines of a text, which it cuts, but for the presets that are
// built in.
static void add_opening_own(struct tb_opening *opening, char *text)
{
	char *state = NULL;
	for (char *line = text ? strtok_r(text, "\n", &state) : NULL;
		line && opening->n_own < OWN_MOST; line = strtok_r(NULL, "\n", &state)) {
		size_t i = 0;
		const char *name;
		while ((name = tb_network_preset_name(i)) && strcmp(name, line) != 0)
			i++;
		if (!name)
			opening->own[opening->n_own++] = line;
	}
}

void tb_opening_begin_with(
	struct tb_opening *opening, const char *const *words, size_t n_words)
{
	tb_opening_form_init(&opening->form, opening->form.reader, words, n_words);
	tb_opening_form_offer(&opening->form, opening->own, opening->n_own);
	follow_form(opening);
}

int tb_opening_new(struct tb_opening **opening, const char *trace,
	const struct tb_trace_reader *reader, struct tb_error *error)
{
	struct tb_opening *made = calloc(1, sizeof *made);
	if (!made || !(made->trace = strdup(trace))) {
		free(made);
		return tb_fail_memory_in(error, trace, "it");
	}
	made->fraction = -1;
	// Look for the user's presets: in the folder for them, and beside the trace.
	// Without memory for their names they are not offered.
	const char *slash = strrchr(made->trace, '/');
	char *folder =
		slash ? strndup(made->trace, (size_t)(slash - made->trace)) : strdup(".");
	made->own_names = tb_network_preset_names();
	made->own_files = folder ? tb_network_preset_files(*folder ? folder : "/") : NULL;
	free(folder);
	add_opening_own(made, made->own_names);
	add_opening_own(made, made->own_files);
	tb_opening_form_init(&made->form, reader, NULL, 0);
	tb_opening_form_offer(&made->form, made->own, made->n_own);
	follow_form(made);
	*opening = made;
	return TB_OK;
}

void tb_opening_free(struct tb_opening *opening)
{
	if (!opening)
		return;
	tb_glance_end(&opening->glance);
	tb_beside_end(&opening->beside, true);
	free(opening->own_names);
	free(opening->own_files);
	free(opening->trace);
	free(opening);
}

const char *tb_opening_store(const struct tb_opening *opening)
{
	return opening->begun ? opening->beside.store : NULL;
}

bool tb_opening_runs(const struct tb_opening *opening)
{
	return opening->beside.child.pid != 0;
}

const char *tb_opening_trouble(const struct tb_opening *opening)
{
	return opening->trouble;
}

static void opening_begin(struct tb_opening *opening)
{
	struct tb_error error;
	const struct tb_opening_form *form = &opening->form;
	struct tb_form_words words;
	tb_opening_form_words(form, false, &words);
	const struct tb_beside_options options = {
		.network = tb_opening_form_network(
			form, opening->network, sizeof opening->network),
		.trace = opening->trace,
		.words = words.words,
		.n_words = words.n,
		.input = -1};
	opening->trouble[0] = '\0';
	opening->fraction = -1;
	opening->begun = tb_beside_start(&opening->beside, &options, &error) == TB_OK;
	if (!opening->begun)
		tb_error_format(&error, opening->trouble, sizeof opening->trouble);
}

bool tb_opening_key(struct tb_opening *opening, const char *key)
{
	if (opening->begun)
		return false;
	if (strcmp(key, "Return") == 0)
		opening_begin(opening);
	else if (!tb_opening_form_key(&opening->form, key))
		return false;
	follow_form(opening);
	return true;
}

void tb_opening_press(struct tb_opening *opening, struct tb_pick pick)
{
	if (opening->begun || pick.kind != TB_PICK_PART)
		return;
	enum tb_form_row row = (enum tb_form_row)(pick.index / PARTS_OF_ROW);
	if (pick.index == PART_BEGIN)
		opening_begin(opening);
	else if (pick.index == PART_SUGGESTION)
		tb_opening_form_key(&opening->form, "h");
	else if (pick.index % PARTS_OF_ROW == PART_ROW)
		tb_opening_form_choose(&opening->form, row);
	else
		tb_opening_form_step(&opening->form, row,
			pick.index % PARTS_OF_ROW == PART_LESS ? -1 : 1);
	follow_form(opening);
}

bool tb_opening_poll(struct tb_opening *opening)
{
	struct tb_beside *beside = &opening->beside;
	int code;
	if (!beside->child.pid) {
		struct tb_glance_answer answer;
		struct tb_error error;
		int status = tb_glance_poll(&opening->glance, &answer, &error);
		if (status > 0) {
			tb_opening_form_take(&opening->form, &answer);
			follow_form(opening);
		}
		if (status < 0)
			tb_error_format(
				&error, opening->trouble, sizeof opening->trouble);
		return status != 0;
	}
	if (!tb_child_ended(&beside->child, &code))
		return tb_beside_progress(
			beside->said, &opening->fraction, &opening->left_s);
	if (code != 0) {
		tb_beside_sentence(
			beside->said, opening->trouble, sizeof opening->trouble);
		tb_beside_end(beside, true);
		opening->begun = false;
	}
	return true;
}

// What the drawing functions share.
struct dialog_sheet {
	const struct tb_opening *opening;
	struct tb_picture *picture;
	const struct tb_palette *palette;
};

static struct tb_type opening_type(const struct dialog_sheet *sheet, enum tb_font font,
	enum tb_align align, bool muted)
{
	return (struct tb_type){
		font, 13, align, muted ? sheet->palette->muted : sheet->palette->text};
}

static void draw_opening_button(const struct dialog_sheet *sheet, struct tb_box box,
	uint32_t part, const char *text)
{
	tb_picture_rect(sheet->picture, box, sheet->palette->line);
	tb_picture_pick(sheet->picture, (struct tb_pick){TB_PICK_PART, part});
	tb_picture_text(sheet->picture, box,
		opening_type(sheet, TB_FONT_TEXT, TB_ALIGN_CENTRE, false), text);
}

static void draw_opening_row(const struct dialog_sheet *sheet, struct tb_box box,
	enum tb_form_row row, const char *note)
{
	char value[80];
	bool chosen = sheet->opening->form.row == row;
	uint32_t part = (uint32_t)row * PARTS_OF_ROW;
	tb_picture_rect(sheet->picture, box,
		chosen ? sheet->palette->raised : sheet->palette->panel);
	tb_picture_pick(sheet->picture, (struct tb_pick){TB_PICK_PART, part + PART_ROW});
	if (chosen)
		tb_picture_rect(sheet->picture, (struct tb_box){box.x, box.y, 3, box.h},
			sheet->palette->accent);
	tb_picture_text(sheet->picture, (struct tb_box){box.x + 16, box.y, LABEL, box.h},
		opening_type(sheet, TB_FONT_TEXT, TB_ALIGN_LEFT, true),
		tb_opening_form_label(row));
	double x = box.x + LABEL;
	if (tb_opening_form_steps(row)) {
		draw_opening_button(sheet, (struct tb_box){x, box.y + 4, 26, box.h - 8},
			part + PART_LESS, "<");
		draw_opening_button(sheet,
			(struct tb_box){x + 154, box.y + 4, 26, box.h - 8},
			part + PART_MORE, ">");
	} else {
		tb_picture_rect(sheet->picture,
			(struct tb_box){x, box.y + 4, 180, box.h - 8},
			sheet->palette->page);
		tb_picture_pick(
			sheet->picture, (struct tb_pick){TB_PICK_PART, part + PART_ROW});
	}
	double inset = tb_opening_form_steps(row) ? 30 : 4;
	tb_picture_text(sheet->picture,
		(struct tb_box){x + inset, box.y, 180 - 2 * inset, box.h},
		opening_type(sheet, TB_FONT_MONO, TB_ALIGN_CENTRE, false),
		tb_opening_form_value(&sheet->opening->form, row, value, sizeof value));
	tb_picture_text(sheet->picture,
		(struct tb_box){x + 194, box.y, fmax(box.w - LABEL - 204, 1), box.h},
		opening_type(sheet, TB_FONT_TEXT, TB_ALIGN_LEFT, true), note);
}

// describe_nodes writes how many the trace needs.
static char *describe_nodes(const struct tb_opening_form *form, char *buffer, size_t size)
{
	uint32_t needed = form->trace.n_nodes, there = tb_opening_form_n_nodes(form);
	bool too_few = there && needed > there;
	buffer[0] = '\0';
	if (form->glanced && needed > 0)
		snprintf(buffer, size, "the trace has %s%s", TB_COUNT_TEXT(needed),
			too_few ? ": too few" : "");
	return buffer;
}

// draw_load writes what a capture asks for, and the time scale to try where that is
// little; it returns the height it took.
static double draw_load(const struct dialog_sheet *sheet, double x, double y, double w)
{
	const struct tb_opening_form *form = &sheet->opening->form;
	char percent[40], scale[16], text[48];
	double share = tb_opening_form_share(form);
	if (share <= 0)
		return 0;
	tb_opening_form_suggestion(form, scale, sizeof scale);
	tb_picture_printf(sheet->picture, (struct tb_box){x, y, w, 20},
		opening_type(sheet, TB_FONT_TEXT, TB_ALIGN_LEFT, true),
		"At this scale the busiest node asks for %s of what its link "
		"carries.",
		tb_format_percent(share * 100, percent, sizeof percent));
	if (!scale[0])
		return 26;
	tb_picture_text(sheet->picture, (struct tb_box){x, y + 24, w - 150, 24},
		opening_type(sheet, TB_FONT_TEXT, TB_ALIGN_LEFT, false),
		"That is little of this network; loaded to a half, packets would wait.");
	snprintf(text, sizeof text, "Use %s (h)", scale);
	draw_opening_button(sheet, (struct tb_box){x + w - 140, y + 24, 140, 24},
		PART_SUGGESTION, text);
	return 56;
}

static void draw_form(const struct dialog_sheet *sheet, double x, double y, double w)
{
	const struct tb_opening_form *form = &sheet->opening->form;
	char note[80];
	for (int i = 0; i < TB_FORM_N_ROWS; i++) {
		enum tb_form_row row = (enum tb_form_row)i;
		if (!tb_opening_form_has(form, row))
			continue;
		draw_opening_row(sheet, (struct tb_box){x, y, w, ROW_H - 2}, row,
			row == TB_FORM_NODES ? describe_nodes(form, note, sizeof note)
					     : tb_opening_form_hint(form, row));
		y += ROW_H;
	}
	if (form->n_others) {
		// List the options that have no row.
		char text[256] = "also";
		for (size_t i = 0, n = strlen(text);
			i < form->n_others && n < sizeof text; i++)
			n += (size_t)snprintf(
				text + n, sizeof text - n, " %s", form->others[i]);
		tb_picture_text(sheet->picture,
			(struct tb_box){x + 16, y + 2, w - 32, 20},
			opening_type(sheet, TB_FONT_MONO, TB_ALIGN_LEFT, true), text);
		y += 26;
	}
	y += draw_load(sheet, x, y + 6, w);
	y += 8;
	draw_opening_button(
		sheet, (struct tb_box){x, y, 160, 30}, PART_BEGIN, "Replay (Return)");
	tb_picture_text(sheet->picture, (struct tb_box){x + 176, y, w - 176, 30},
		opening_type(sheet, TB_FONT_TEXT, TB_ALIGN_LEFT, true),
		"'tailback replay' has more options and keeps the result.");
	struct tb_type trouble =
		opening_type(sheet, TB_FONT_TEXT, TB_ALIGN_CENTRE, false);
	trouble.colour = sheet->palette->accent;
	tb_picture_text(sheet->picture,
		(struct tb_box){16, y + 44, sheet->picture->width - 32, 20}, trouble,
		sheet->opening->trouble);
}

static char *progress_text(const struct tb_opening *opening, char *buffer, size_t size)
{
	return tb_beside_progress_text(opening->fraction, opening->left_s, buffer, size);
}

static void draw_opening_bar(const struct dialog_sheet *sheet, struct tb_box box)
{
	tb_picture_rect(sheet->picture, box, sheet->palette->raised);
	box.w *= fmax(sheet->opening->fraction, 0);
	tb_picture_rect(sheet->picture, box, sheet->palette->accent);
}

void tb_opening_draw(
	const struct tb_opening *opening, enum tb_theme theme, struct tb_picture *picture)
{
	const struct dialog_sheet sheet = {opening, picture, tb_palette_of(theme)};
	char progress[48];
	double w = fmin(WIDTH, picture->width - 32);
	double x = (picture->width - w) / 2;
	int n = 0;
	for (int i = 0; i < TB_FORM_N_ROWS; i++)
		n += tb_opening_form_has(&opening->form, (enum tb_form_row)i);
	double y = fmax((picture->height - (290 + ROW_H * fmax(n - 3, 0))) / 2, 16);
	const char *name = strrchr(opening->trace, '/');
	struct tb_type title = opening_type(&sheet, TB_FONT_BOLD, TB_ALIGN_LEFT, false);
	title.size = 18;
	tb_picture_printf(picture, (struct tb_box){x, y, w, 26}, title,
		opening->begun ? "Replaying %s" : "%s is a trace",
		name ? name + 1 : opening->trace);
	struct tb_type text = opening_type(&sheet, TB_FONT_TEXT, TB_ALIGN_LEFT, true);
	struct tb_box line = {x, y + 32, w, 20};
	if (!opening->begun) {
		tb_picture_text(picture, line, text,
			"How is it to be replayed? The arrow keys or a click change it.");
		draw_form(&sheet, x, y + 64, w);
		return;
	}
	tb_picture_printf(picture, line, text,
		"on %s; the matrix appears with the first results.", opening->network);
	draw_opening_bar(&sheet, (struct tb_box){x, y + 64, w, 4});
	tb_picture_text(picture, (struct tb_box){x, y + 76, w, 20}, text,
		progress_text(opening, progress, sizeof progress));
}

void tb_opening_draw_progress(const struct tb_opening *opening, enum tb_theme theme,
	struct tb_picture *picture, struct tb_box head)
{
	const struct dialog_sheet sheet = {opening, picture, tb_palette_of(theme)};
	char progress[48];
	if (!tb_opening_runs(opening))
		return;
	struct tb_type text = opening_type(&sheet, TB_FONT_TEXT, TB_ALIGN_RIGHT, true);
	text.size = 11;
	draw_opening_bar(&sheet, (struct tb_box){head.x, head.y + head.h - 2, head.w, 2});
	tb_picture_printf(picture,
		(struct tb_box){head.x, head.y + head.h - 15, head.w - 16, 12}, text,
		"replaying%s%s", opening->fraction >= 0 ? ": " : "",
		progress_text(opening, progress, sizeof progress));
}
