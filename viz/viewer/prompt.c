// The line that one types into (prompt.h).
#include "metric_text.h"
#include "viewer_impl.h"

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
	[TB_PROMPT_COMMANDS] = {"Command", "any words of what it does"},
	[TB_PROMPT_FILTER] = {"Filter links", "words of their names, or up, down, "
					      "injection, ejection; Escape shows all"},
	[TB_PROMPT_SAVE] = {"Save the picture as", "a name that ends in .png, .svg or "
						   ".pdf"},
	[TB_PROMPT_EXPORT] = {"Export the links as", "a name that ends in .csv"},
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

// holds_words says whether every word of `wanted` is in `text`.
static bool holds_words(const char *text, const char *wanted)
{
	char word[64];
	while (*(wanted += strspn(wanted, " "))) {
		size_t length = strcspn(wanted, " ");
		size_t kept = length < sizeof word - 1 ? length : sizeof word - 1;
		memcpy(word, wanted, kept);
		word[kept] = '\0';
		if (!strcasestr(text, word))
			return false;
		wanted += length;
	}
	return true;
}

static void offer_command(struct tb_prompt *prompt, struct tb_request request,
	const char *text, const char *key)
{
	struct tb_prompt_result result = {.request = request};
	if (!holds_words(text, prompt->text))
		return;
	snprintf(result.text, sizeof result.text, "%s", text);
	snprintf(result.note, sizeof result.note, "%s", key);
	tb_prompt_offer(prompt, &result);
}

// key_of copies the key of a choice.
static const char *key_of(const char *keys, int choice, char *buffer, size_t size)
{
	while (choice-- > 0 && strchr(keys, ' '))
		keys = strchr(keys, ' ') + 1;
	snprintf(buffer, size, "%.*s", (int)strcspn(keys, " "), keys);
	return buffer;
}

static void offer_commands(struct tb_viewer *viewer, struct tb_prompt *prompt)
{
	const struct tb_request_row *rows = tb_request_rows();
	for (int i = 0; i < TB_N_REQUESTS; i++) {
		char text[96], key[32];
		int n = i == TB_REQUEST_METRIC ? TB_N_METRICS
			: i == TB_REQUEST_VIEW ? TB_LAST_MAIN - TB_FIRST_MAIN + 1
					       : 1;
		for (int choice = 0; choice < n; choice++) {
			struct tb_request request = {(enum tb_request_name)i, choice};
			if (i == TB_REQUEST_VIEW &&
				!tb_viewer_has(viewer,
					(enum tb_view_name)(TB_FIRST_MAIN + choice)))
				continue;
			const char *what =
				i == TB_REQUEST_METRIC
					? tb_metric_title((enum tb_metric)choice)
				: i == TB_REQUEST_VIEW
					? tb_viewer_view((enum tb_view_name)(
								 TB_FIRST_MAIN + choice))
						  ->tab
					: "";
			snprintf(text, sizeof text, "%s%s%s", rows[i].help,
				what[0] ? ": " : "", what);
			offer_command(prompt, request, text,
				key_of(rows[i].keys, choice, key, sizeof key));
		}
	}
}

// look brings what is offered, or what is filtered, up to date with the text.
static void look(struct tb_viewer *viewer)
{
	struct tb_prompt *prompt = &viewer->prompt;
	prompt->n = 0;
	prompt->chosen = 0;
	viewer->stale = true;
	if (prompt->kind == TB_PROMPT_SEARCH)
		tb_search_find(viewer, prompt);
	if (prompt->kind == TB_PROMPT_COMMANDS)
		offer_commands(viewer, prompt);
	if (prompt->kind != TB_PROMPT_FILTER)
		return;
	snprintf(viewer->filter, sizeof viewer->filter, "%.*s",
		(int)sizeof viewer->filter - 1, prompt->text);
	viewer->scroll = 0;
	tb_rows_read(viewer);
}

void tb_prompt_open(struct tb_viewer *viewer, enum tb_prompt_kind kind, const char *text)
{
	viewer->prompt.kind = kind;
	snprintf(viewer->prompt.text, sizeof viewer->prompt.text, "%s", text);
	viewer->help = false;
	look(viewer);
}

void tb_prompt_close(struct tb_viewer *viewer)
{
	viewer->prompt.kind = TB_PROMPT_NONE;
	viewer->stale = true;
}

static void wish_for(struct tb_viewer *viewer, enum tb_wish wish)
{
	snprintf(viewer->wish_path, sizeof viewer->wish_path, "%s", viewer->prompt.text);
	viewer->wish = viewer->wish_path[0] ? wish : TB_WISH_NONE;
	viewer->notice_s = 0; // of an earlier save: not for the picture
}

static void accept(struct tb_viewer *viewer)
{
	const struct tb_prompt prompt = viewer->prompt;
	const struct tb_prompt_result *chosen =
		prompt.chosen < prompt.n ? &prompt.results[prompt.chosen] : NULL;
	tb_prompt_close(viewer);
	switch (prompt.kind) {
	case TB_PROMPT_SEARCH:
		if (chosen)
			tb_viewer_select(viewer, chosen->pick);
		else
			tb_viewer_notice(viewer, "nothing is called '%s'", prompt.text);
		break;
	case TB_PROMPT_COMMANDS:
		if (chosen)
			tb_viewer_ask(viewer, &chosen->request);
		break;
	case TB_PROMPT_SAVE:
		wish_for(viewer, TB_WISH_SAVE);
		break;
	case TB_PROMPT_EXPORT:
		wish_for(viewer, TB_WISH_EXPORT);
		break;
	case TB_PROMPT_OPEN:
		wish_for(viewer, TB_WISH_OPEN);
		break;
	case TB_PROMPT_FILTER:
	case TB_PROMPT_NONE:
		break;
	}
}

static void step(struct tb_prompt *prompt, int by)
{
	if (prompt->n)
		prompt->chosen = (prompt->chosen + by + prompt->n) % prompt->n;
}

// erase takes the last character away, however many bytes it has.
static void erase(char *text)
{
	size_t length = strlen(text);
	while (length > 0 && ((unsigned char)text[length - 1] & 0xc0) == 0x80)
		length--;
	if (length > 0)
		text[length - 1] = '\0';
}

static bool type(struct tb_viewer *viewer, const char *key)
{
	struct tb_prompt *prompt = &viewer->prompt;
	size_t length = strlen(prompt->text);
	const char *typed = strcasecmp(key, "Space") == 0 ? " " : key;
	bool one = strlen(typed) == 1 || (unsigned char)typed[0] >= 0x80;
	if (!one || iscntrl((unsigned char)typed[0]) ||
		length + strlen(typed) >= sizeof prompt->text)
		return false;
	memcpy(prompt->text + length, typed, strlen(typed) + 1);
	look(viewer);
	return true;
}

bool tb_prompt_key(struct tb_viewer *viewer, const char *key)
{
	struct tb_prompt *prompt = &viewer->prompt;
	viewer->stale = true;
	if (strcasecmp(key, "Escape") == 0) {
		prompt->text[0] = '\0';
		look(viewer); // a filter is taken back
		tb_prompt_close(viewer);
	} else if (strcasecmp(key, "Return") == 0 ||
		   strcasecmp(key, "Keypad Enter") == 0) {
		accept(viewer);
	} else if (strcasecmp(key, "Backspace") == 0) {
		erase(prompt->text);
		look(viewer);
	} else if (strcasecmp(key, "Ctrl+U") == 0) {
		prompt->text[0] = '\0';
		look(viewer);
	} else if (strcasecmp(key, "Up") == 0) {
		step(prompt, -1);
	} else if (strcasecmp(key, "Down") == 0 || strcasecmp(key, "Tab") == 0) {
		step(prompt, 1);
	} else {
		return type(viewer, key);
	}
	return true;
}

void tb_prompt_press(struct tb_viewer *viewer, struct tb_pick pick)
{
	if (pick.kind != TB_PICK_RESULT) {
		tb_prompt_close(viewer);
		return;
	}
	viewer->prompt.chosen = (int)pick.index;
	accept(viewer);
}

static void draw_result(struct tb_viewer *viewer, struct tb_picture *picture,
	struct tb_box box, int index)
{
	const struct tb_palette *palette = tb_palette_of(viewer->theme);
	const struct tb_prompt_result *result = &viewer->prompt.results[index];
	struct tb_pick pick = {TB_PICK_RESULT, (uint32_t)index};
	bool chosen = viewer->prompt.chosen == index;
	bool under = tb_pick_equal(viewer->hovered, pick);
	tb_picture_rect(picture, box, chosen || under ? palette->raised : palette->panel);
	tb_picture_pick(picture, pick);
	if (chosen)
		tb_picture_rect(picture, (struct tb_box){box.x, box.y, 3, box.h},
			palette->accent);
	tb_picture_text(picture, (struct tb_box){box.x + PAD, box.y, box.w - 130, box.h},
		tb_viewer_type(viewer, TB_FONT_TEXT, 13, false), result->text);
	struct tb_type type = tb_viewer_type(viewer, TB_FONT_MONO, 11, true);
	type.align = TB_ALIGN_RIGHT;
	tb_picture_text(picture, (struct tb_box){box.x, box.y, box.w - PAD, box.h}, type,
		result->note);
}

void tb_prompt_draw(struct tb_viewer *viewer, struct tb_picture *picture)
{
	const struct tb_palette *palette = tb_palette_of(viewer->theme);
	const struct tb_prompt *prompt = &viewer->prompt;
	double w = fmin(BOX_W, viewer->width - 20);
	struct tb_box box = {round((viewer->width - w) / 2), 66, w,
		62 + prompt->n * (double)LINE_H + (prompt->n ? 8 : 0)};
	tb_picture_rect(picture, box, palette->panel);
	tb_picture_frame(picture, box, 1, palette->muted);
	const char *title = words[prompt->kind].title;
	tb_picture_printf(picture,
		(struct tb_box){box.x + PAD, box.y + 6, w - 2 * PAD, 18},
		tb_viewer_type(viewer, TB_FONT_TEXT, 11, true), "%s: %s", title,
		words[prompt->kind].hint);
	struct tb_type type = tb_viewer_type(viewer, TB_FONT_TEXT, 16, false);
	double room = w - 2 * PAD - 4;
	const char *text = prompt->text;
	// Of what is too long the end is seen, where one types.
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
	for (int i = 0; i < prompt->n; i++)
		draw_result(viewer, picture,
			(struct tb_box){box.x + 1, box.y + 60 + i * (double)LINE_H, w - 2,
				LINE_H},
			i);
}
