#include "prompt.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define BOX_W  560
#define LIST_W 900
#define LINE_H 26
#define PAD    14

enum { N_COLUMNS = 3 };

static const struct prompt_kind {
	const char *title, *hint;
	bool is_list;
	double columns[N_COLUMNS]; // where those of an offer begin
} kinds[] = {
	[TB_PROMPT_NONE] = {.title = "", .hint = ""},
	[TB_PROMPT_SEARCH] = {.title = "Search",
		.hint = "a switch (2.13), link, node, host or job"},
	[TB_PROMPT_COMMANDS] = {.title = "Command",
		.hint = "any words of its description"},
	[TB_PROMPT_FILTER] = {.title = "Filter links",
		.hint = "words of their names, or up, down, injection, ejection; Escape "
			"shows all"},
	[TB_PROMPT_SAVE] = {.title = "Save the picture as",
		.hint = "a name ending in .png, .svg or .pdf"},
	[TB_PROMPT_EXPORT] = {.title = "Export the links as",
		.hint = "a name ending in .csv"},
	[TB_PROMPT_OPEN] = {"Open", "a path, completed by Tab", true, {0, 560}},
	[TB_PROMPT_RUNS] = {"Run to show", "words of its number, name or settings", true,
		{0, 48, 420}},
	[TB_PROMPT_OTHER] = {"Run to compare with",
		"words of its number, name or settings", true, {0, 48, 420}},
};

bool tb_prompt_offer(struct tb_prompt *prompt, const struct tb_prompt_result *result)
{
	int at = prompt->n;
	while (at > 0 && prompt->results[at - 1].score > result->score)
		at--;
	int most = kinds[prompt->kind].is_list ? TB_PROMPT_RESULTS : TB_PROMPT_SHOWN;
	if (at == most)
		return false;
	int last = prompt->n < most ? prompt->n : most - 1;
	memmove(&prompt->results[at + 1], &prompt->results[at],
		(size_t)(last - at) * sizeof *result);
	prompt->results[at] = *result;
	prompt->n = last + 1;
	return true;
}

bool tb_prompt_wants(const struct tb_prompt *prompt, const char *text)
{
	const char *wanted = prompt->text;
	char word[64];
	while (*(wanted += strspn(wanted, " "))) {
		size_t length = strcspn(wanted, " ");
		snprintf(word, sizeof word, "%.*s", (int)length, wanted);
		if (!strcasestr(text, word))
			return false;
		wanted += length;
	}
	return true;
}

void tb_prompt_scroll(struct tb_prompt *prompt, int by)
{
	int last = prompt->n > TB_PROMPT_SHOWN ? prompt->n - TB_PROMPT_SHOWN : 0;
	prompt->first += by;
	prompt->first = prompt->first > last ? last : prompt->first;
	prompt->first = prompt->first < 0 ? 0 : prompt->first;
}

void tb_prompt_choose(struct tb_prompt *prompt, int result)
{
	int last = prompt->n > 0 ? prompt->n - 1 : 0;
	prompt->chosen = result < 0 ? 0 : result > last ? last : result;
	if (prompt->first > prompt->chosen)
		prompt->first = prompt->chosen;
	if (prompt->first < prompt->chosen - TB_PROMPT_SHOWN + 1)
		prompt->first = prompt->chosen - TB_PROMPT_SHOWN + 1;
	tb_prompt_scroll(prompt, 0);
}

static void prompt_step(struct tb_prompt *prompt, int by)
{
	if (prompt->n)
		tb_prompt_choose(prompt, (prompt->chosen + by + prompt->n) % prompt->n);
}

// prompt_move moves the choice by a key; false for other keys.
static bool prompt_move(struct tb_prompt *prompt, const char *key)
{
	if (strcasecmp(key, "Up") == 0)
		prompt_step(prompt, -1);
	else if (strcasecmp(key, "Down") == 0 || strcasecmp(key, "Tab") == 0)
		prompt_step(prompt, 1);
	else if (strcasecmp(key, "PageUp") == 0)
		tb_prompt_choose(prompt, prompt->chosen - TB_PROMPT_SHOWN);
	else if (strcasecmp(key, "PageDown") == 0)
		tb_prompt_choose(prompt, prompt->chosen + TB_PROMPT_SHOWN);
	else
		return false;
	return true;
}

// erase removes the last character, of one or more bytes.
static void erase(char *text)
{
	size_t length = strlen(text);
	while (length > 0 && ((unsigned char)text[length - 1] & 0xc0) == 0x80)
		length--;
	if (length > 0)
		text[length - 1] = '\0';
}

static bool prompt_type(struct tb_prompt *prompt, const char *key)
{
	size_t length = strlen(prompt->text);
	const char *typed = strcasecmp(key, "Space") == 0 ? " " : key;
	bool one = strlen(typed) == 1 || (unsigned char)typed[0] >= 0x80;
	if (!one || iscntrl((unsigned char)typed[0]) ||
		length + strlen(typed) >= sizeof prompt->text)
		return false;
	memcpy(prompt->text + length, typed, strlen(typed) + 1);
	return true;
}

enum tb_prompt_event tb_prompt_key(struct tb_prompt *prompt, const char *key)
{
	if (strcasecmp(key, "Escape") == 0) {
		prompt->text[0] = '\0';
		return TB_PROMPT_LEFT;
	}
	if (strcasecmp(key, "Return") == 0 || strcasecmp(key, "Keypad Enter") == 0)
		return TB_PROMPT_ACCEPTED;
	if (strcasecmp(key, "Backspace") == 0) {
		erase(prompt->text);
		return TB_PROMPT_EDITED;
	}
	if (strcasecmp(key, "Ctrl+U") == 0) {
		prompt->text[0] = '\0';
		return TB_PROMPT_EDITED;
	}
	if (prompt_move(prompt, key))
		return TB_PROMPT_MOVED;
	return prompt_type(prompt, key) ? TB_PROMPT_EDITED : TB_PROMPT_IGNORED;
}

// How offers are drawn.
struct prompt_look {
	const struct tb_style *style;
	struct tb_pick hovered;
	double columns[N_COLUMNS]; // where they begin
};

// place_columns lets each column begin as soon as all before it end, and no later than
// its kind's.
static void place_columns(const struct tb_prompt *prompt, double columns[N_COLUMNS])
{
	double widths[N_COLUMNS] = {0};
	for (int i = 0; i < prompt->n; i++) {
		const char *text = prompt->results[i].text, *end;
		for (int k = 0; k < N_COLUMNS && (end = strchr(text, '\t')); k++) {
			char part[sizeof prompt->results[i].text];
			snprintf(part, sizeof part, "%.*s", (int)(end - text), text);
			widths[k] =
				fmax(widths[k], tb_text_width(TB_FONT_TEXT, 13, part));
			text = end + 1;
		}
	}
	for (int k = 1; k < N_COLUMNS; k++)
		columns[k] = fmin(columns[k - 1] + ceil(widths[k - 1]) + 24,
			kinds[prompt->kind].columns[k]);
}

// draw_columns draws a text whose columns are separated by tabs, each up to the next. The
// last is settings or a kind, which differ at their ends.
static void draw_columns(const struct prompt_look *look, struct tb_picture *picture,
	struct tb_box box, const char *text)
{
	const double *columns = look->columns;
	const struct tb_type type = tb_style_type(look->style, TB_FONT_TEXT, 13, false);
	for (int i = 0; i < N_COLUMNS && text; i++) {
		const char *end = strchr(text, '\t');
		double w = (end && i + 1 < N_COLUMNS ? columns[i + 1] - 8 : box.w) -
			   columns[i];
		struct tb_box part = {box.x + columns[i], box.y, fmax(w, 1), box.h};
		if (i > 0 && !end)
			tb_picture_name(picture, part, type, text);
		else
			tb_picture_printf(picture, part, type, "%.*s",
				(int)strcspn(text, "\t"), text);
		text = end ? end + 1 : NULL;
	}
}

static void draw_result(const struct tb_prompt *prompt, const struct prompt_look *look,
	struct tb_picture *picture, struct tb_box box, struct tb_pick pick)
{
	bool under = tb_pick_equal(look->hovered, pick);
	const struct tb_palette *palette = tb_palette_of(look->style->theme);
	const struct tb_prompt_result *result = &prompt->results[pick.index];
	bool chosen = prompt->chosen == (int)pick.index;
	tb_picture_rect(picture, box, chosen || under ? palette->raised : palette->panel);
	tb_picture_pick(picture, pick);
	if (chosen)
		tb_picture_rect(picture, (struct tb_box){box.x, box.y, 3, box.h},
			palette->accent);
	struct tb_type type = tb_style_type(look->style, TB_FONT_MONO, 11, true);
	type.align = TB_ALIGN_RIGHT;
	double note_w = tb_text_width(type.font, type.size, result->note);
	tb_picture_text(picture, (struct tb_box){box.x, box.y, box.w - PAD, box.h}, type,
		result->note);
	draw_columns(look, picture,
		(struct tb_box){box.x + PAD, box.y, box.w - 3 * PAD - note_w, box.h},
		result->text);
}

// draw_prompt_text draws what was typed, with the caret behind it, and its end when it is
// too long.
static void draw_prompt_text(const struct tb_prompt *prompt, const struct tb_style *style,
	struct tb_picture *picture, struct tb_box box)
{
	struct tb_type type = tb_style_type(style, TB_FONT_TEXT, 16, false);
	const char *text = prompt->text;
	while (*text && tb_text_width(type.font, type.size, text) > box.w)
		do
			text++;
		while (((unsigned char)*text & 0xc0) == 0x80);
	tb_picture_text(picture, box, type, text);
	double end = tb_text_width(type.font, type.size, text);
	tb_picture_rect(picture, (struct tb_box){box.x + end + 1, box.y + 4, 2, 20},
		tb_palette_of(style->theme)->accent);
}

// draw_about describes the list on the right of a line; a click there changes its types.
static void draw_about(const struct tb_prompt *prompt, const struct tb_style *style,
	struct tb_picture *picture, struct tb_box line)
{
	struct tb_type type = tb_style_type(style, TB_FONT_TEXT, 11, true);
	double w = tb_text_width(type.font, type.size, prompt->about);
	if (!prompt->about[0])
		return;
	type.align = TB_ALIGN_RIGHT;
	tb_picture_rect(picture, (struct tb_box){line.x + line.w - w, line.y, w, line.h},
		tb_palette_of(style->theme)->panel);
	tb_picture_pick(picture, (struct tb_pick){TB_PICK_RESULT, TB_PROMPT_ABOUT});
	tb_picture_text(picture, line, type, prompt->about);
}

void tb_prompt_draw(const struct tb_prompt *prompt, const struct tb_style *style,
	struct tb_pick hovered, struct tb_picture *picture)
{
	const struct tb_palette *palette = tb_palette_of(style->theme);
	const struct prompt_kind *kind = &kinds[prompt->kind];
	int n = prompt->n < TB_PROMPT_SHOWN ? prompt->n : TB_PROMPT_SHOWN;
	double w = fmin(kind->is_list ? LIST_W : BOX_W, picture->width - 20);
	struct tb_box box = {round((picture->width - w) / 2), 66, w,
		62 + n * (double)LINE_H + (n ? 8 : 0)};
	tb_picture_rect(picture, box, palette->panel);
	tb_picture_frame(picture, box, 1, palette->muted);
	struct tb_box line = {box.x + PAD, box.y + 6, w - 2 * PAD, 18};
	struct tb_type small = tb_style_type(style, TB_FONT_TEXT, 11, true);
	tb_picture_printf(picture, line, small, "%s: %s", kind->title, kind->hint);
	draw_about(prompt, style, picture, line);
	draw_prompt_text(prompt, style, picture,
		(struct tb_box){box.x + PAD, box.y + 26, w - 2 * PAD - 4, 28});
	struct prompt_look look = {style, hovered, {0}};
	place_columns(prompt, look.columns);
	struct tb_box offers = {box.x + 1, box.y + 60, w - 2, n * (double)LINE_H};
	for (int i = 0; i < n; i++) {
		const struct tb_pick pick = {
			TB_PICK_RESULT, (uint32_t)(prompt->first + i)};
		draw_result(prompt, &look, picture,
			(struct tb_box){offers.x, offers.y + i * (double)LINE_H, offers.w,
				LINE_H},
			pick);
	}
	// Show which of the offers are visible.
	if (prompt->n <= TB_PROMPT_SHOWN)
		return;
	tb_picture_rect(picture,
		(struct tb_box){offers.x + offers.w - 5,
			offers.y + offers.h * prompt->first / prompt->n, 4,
			offers.h * TB_PROMPT_SHOWN / prompt->n},
		tb_palette_of(style->theme)->line);
}
