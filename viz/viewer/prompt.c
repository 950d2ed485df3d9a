#include "prompt.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define BOX_W  560
#define LINE_H 26
#define PAD    14

static const struct {
	const char *title, *hint;
} words[] = {
	[TB_PROMPT_NONE] = {"", ""},
	[TB_PROMPT_SEARCH] = {"Search", "a switch (2.13), link, node, host or job"},
	[TB_PROMPT_COMMANDS] = {"Command", "any words of its description"},
	[TB_PROMPT_FILTER] = {"Filter links", "words of their names, or up, down, "
					      "injection, ejection; Escape shows all"},
	[TB_PROMPT_SAVE] = {"Save the picture as", "a name ending in .png, .svg or .pdf"},
	[TB_PROMPT_EXPORT] = {"Export the links as", "a name ending in .csv"},
	[TB_PROMPT_OPEN] = {"Open", "a store, a capture or a job"},
};

bool tb_prompt_offer(struct tb_prompt *prompt, const struct tb_prompt_result *result)
{
	int at = prompt->n;
	while (at > 0 && prompt->results[at - 1].score > result->score)
		at--;
	if (at == TB_PROMPT_RESULTS)
		return false;
	int last = prompt->n < TB_PROMPT_RESULTS ? prompt->n : TB_PROMPT_RESULTS - 1;
	memmove(&prompt->results[at + 1], &prompt->results[at],
		(size_t)(last - at) * sizeof *result);
	prompt->results[at] = *result;
	prompt->n = last + 1;
	return true;
}

static void step(struct tb_prompt *prompt, int by)
{
	if (prompt->n)
		prompt->chosen = (prompt->chosen + by + prompt->n) % prompt->n;
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

static bool type(struct tb_prompt *prompt, const char *key)
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
	if (strcasecmp(key, "Up") == 0) {
		step(prompt, -1);
		return TB_PROMPT_MOVED;
	}
	if (strcasecmp(key, "Down") == 0 || strcasecmp(key, "Tab") == 0) {
		step(prompt, 1);
		return TB_PROMPT_MOVED;
	}
	return type(prompt, key) ? TB_PROMPT_EDITED : TB_PROMPT_IGNORED;
}

static void draw_result(const struct tb_prompt *prompt, const struct tb_style *style,
	struct tb_picture *picture, struct tb_box box, struct tb_pick pick, bool under)
{
	const struct tb_palette *palette = tb_palette_of(style->theme);
	const struct tb_prompt_result *result = &prompt->results[pick.index];
	bool chosen = prompt->chosen == (int)pick.index;
	tb_picture_rect(picture, box, chosen || under ? palette->raised : palette->panel);
	tb_picture_pick(picture, pick);
	if (chosen)
		tb_picture_rect(picture, (struct tb_box){box.x, box.y, 3, box.h},
			palette->accent);
	tb_picture_text(picture, (struct tb_box){box.x + PAD, box.y, box.w - 130, box.h},
		tb_style_type(style, TB_FONT_TEXT, 13, false), result->text);
	struct tb_type type = tb_style_type(style, TB_FONT_MONO, 11, true);
	type.align = TB_ALIGN_RIGHT;
	tb_picture_text(picture, (struct tb_box){box.x, box.y, box.w - PAD, box.h}, type,
		result->note);
}

void tb_prompt_draw(const struct tb_prompt *prompt, const struct tb_style *style,
	struct tb_pick hovered, struct tb_picture *picture)
{
	const struct tb_palette *palette = tb_palette_of(style->theme);
	double w = fmin(BOX_W, picture->width - 20);
	struct tb_box box = {round((picture->width - w) / 2), 66, w,
		62 + prompt->n * (double)LINE_H + (prompt->n ? 8 : 0)};
	tb_picture_rect(picture, box, palette->panel);
	tb_picture_frame(picture, box, 1, palette->muted);
	const char *title = words[prompt->kind].title;
	tb_picture_printf(picture,
		(struct tb_box){box.x + PAD, box.y + 6, w - 2 * PAD, 18},
		tb_style_type(style, TB_FONT_TEXT, 11, true), "%s: %s", title,
		words[prompt->kind].hint);
	struct tb_type type = tb_style_type(style, TB_FONT_TEXT, 16, false);
	double room = w - 2 * PAD - 4;
	const char *text = prompt->text;
	// Show the end of a text that is too long, where the user types.
	while (*text && tb_text_width(type.font, type.size, text) > room)
		do
			text++;
		while (((unsigned char)*text & 0xc0) == 0x80);
	tb_picture_text(
		picture, (struct tb_box){box.x + PAD, box.y + 26, room, 28}, type, text);
	tb_picture_rect(picture,
		(struct tb_box){
			box.x + PAD + tb_text_width(type.font, type.size, text) + 1,
			box.y + 30, 2, 20},
		palette->accent);
	for (int i = 0; i < prompt->n; i++) {
		const struct tb_pick pick = {TB_PICK_RESULT, (uint32_t)i};
		draw_result(prompt, style, picture,
			(struct tb_box){box.x + 1, box.y + 60 + i * (double)LINE_H, w - 2,
				LINE_H},
			pick, tb_pick_equal(hovered, pick));
	}
}
