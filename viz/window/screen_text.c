#include "screen_impl.h"

#include "builtin_text.h"

#include <fontconfig/fontconfig.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *font_file(const char *family, bool bold)
{
	char *file = NULL;
	FcResult result;
	FcChar8 *found;
	FcPattern *wanted = FcPatternBuild(NULL, FC_FAMILY, FcTypeString, family,
		FC_WEIGHT, FcTypeInteger, bold ? FC_WEIGHT_BOLD : FC_WEIGHT_REGULAR,
		FC_SCALABLE, FcTypeBool, FcTrue, (char *)NULL);
	if (!wanted)
		return NULL;
	FcConfigSubstitute(NULL, wanted, FcMatchPattern);
	FcDefaultSubstitute(wanted);
	FcPattern *match = FcFontMatch(NULL, wanted, &result);
	if (match && FcPatternGetString(match, FC_FILE, 0, &found) == FcResultMatch)
		file = strdup((const char *)found);
	if (match)
		FcPatternDestroy(match);
	FcPatternDestroy(wanted);
	return file;
}

int tb_screen_text_init(
	struct tb_screen_text *text, SDL_Renderer *renderer, struct tb_error *error)
{
	static const struct {
		const char *family;
		bool bold;
	} faces[TB_N_FONTS] = {[TB_FONT_TEXT] = {"DejaVu Sans", false},
		[TB_FONT_BOLD] = {"DejaVu Sans", true},
		[TB_FONT_MONO] = {"DejaVu Sans Mono", false},
		[TB_FONT_CELL] = {"DejaVu Sans Mono", false}};
	*text = (struct tb_screen_text){.renderer = renderer};
	text->slots = calloc(TB_TEXT_SLOTS, sizeof *text->slots);
	if (!text->slots)
		return tb_fail_memory(error, "the window's text");
	for (size_t i = 0; i < TB_N_FONTS; i++)
		text->files[i] = font_file(faces[i].family, faces[i].bold);
	for (size_t i = 0; i < TB_N_FONTS; i++) {
		TTF_Font *font = text->files[i] ? TTF_OpenFont(text->files[i], 12) : NULL;
		if (font) {
			TTF_CloseFont(font);
			continue;
		}
		free(text->files[i]);
		text->files[i] = NULL;
	}
	return TB_OK;
}

bool tb_screen_text_has_fonts(const struct tb_screen_text *text)
{
	for (size_t i = 0; i < TB_N_FONTS; i++)
		if (!text->files[i])
			return false;
	return true;
}

void tb_screen_text_forget(struct tb_screen_text *text)
{
	for (size_t i = 0; i < TB_TEXT_SLOTS; i++) {
		struct tb_text_slot *slot = &text->slots[i];
		if (!slot->text)
			continue;
		free(slot->text);
		if (slot->texture)
			SDL_DestroyTexture(slot->texture);
		*slot = (struct tb_text_slot){.text = NULL};
	}
	text->n_slots = 0;
}

void tb_screen_text_fini(struct tb_screen_text *text)
{
	if (text->slots)
		tb_screen_text_forget(text);
	free(text->slots);
	for (size_t i = 0; i < text->n_fonts; i++)
		TTF_CloseFont(text->fonts[i].font);
	for (size_t i = 0; i < TB_N_FONTS; i++)
		free(text->files[i]);
	*text = (struct tb_screen_text){.renderer = NULL};
}

static TTF_Font *open_font(struct tb_screen_text *text, enum tb_font role, int size)
{
	for (size_t i = 0; i < text->n_fonts; i++)
		if (text->fonts[i].role == role && text->fonts[i].size == size)
			return text->fonts[i].font;
	if (text->n_fonts == TB_MAX_OPEN_FONTS) {
		// A zoom opens many sizes: close the oldest.
		TTF_CloseFont(text->fonts[0].font);
		text->n_fonts--;
		memmove(text->fonts, text->fonts + 1,
			text->n_fonts * sizeof *text->fonts);
	}
	TTF_Font *font = TTF_OpenFont(text->files[role], size);
	if (!font)
		return NULL;
	TTF_SetFontHinting(font, TTF_HINTING_LIGHT_SUBPIXEL);
	text->fonts[text->n_fonts++] = (struct tb_open_font){font, role, size};
	return font;
}

// FNV-1a over all that decides how a line of text looks.
static size_t slot_hash(const char *string, enum tb_font role, int size)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	hash = (hash ^ (uint64_t)role) * UINT64_C(1099511628211);
	hash = (hash ^ (uint64_t)size) * UINT64_C(1099511628211);
	for (const char *at = string; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
	return (size_t)(hash ^ hash >> 32);
}

static const struct tb_text_slot *font_find(
	struct tb_screen_text *text, const char *string, enum tb_font role, int size)
{
	size_t at = slot_hash(string, role, size);
	for (;; at++) {
		struct tb_text_slot *slot = &text->slots[at & (TB_TEXT_SLOTS - 1)];
		if (!slot->text) {
			if (text->n_slots >= TB_TEXT_SLOTS / 2)
				break;
			slot->text = strdup(string);
			if (!slot->text)
				return NULL;
			slot->role = role;
			slot->size = size;
			text->n_slots++;
			// Fill a free slot. A line that cannot be rendered stays there
			// without a texture, so that not every frame tries it again.
			const SDL_Color white = {255, 255, 255, 255};
			struct tb_builtin_text line = {.pixels = NULL};
			SDL_Surface *surface = NULL;
			TTF_Font *font = NULL;
			if (text->files[slot->role])
				font = open_font(text, slot->role, slot->size);
			else {
				surface = NULL;
				if (tb_builtin_text_init(&line, slot->role, slot->size,
					    string) == TB_OK) {
					surface = SDL_CreateRGBSurfaceWithFormatFrom(
						line.pixels, line.w, line.h, 32,
						line.w * 4, SDL_PIXELFORMAT_ARGB8888);
				}
			}
			if (font)
				surface = TTF_RenderUTF8_Blended(font, string, white);
			if (surface) {
				slot->texture = SDL_CreateTextureFromSurface(
					text->renderer, surface);
				slot->w = surface->w;
				slot->h = surface->h;
				slot->ascent = font ? TTF_FontAscent(font) : line.ascent;
				SDL_FreeSurface(surface);
			}
			tb_builtin_text_fini(&line);
			return slot;
		}
		if (slot->role == role && slot->size == size &&
			strcmp(slot->text, string) == 0)
			return slot;
	}
	// Full: drop all lines. Those still drawn come back within a frame.
	tb_screen_text_forget(text);
	return font_find(text, string, role, size);
}

void tb_screen_text_draw(struct tb_screen_text *text, const struct tb_item *item,
	const char *string, double scale)
{
	int size = (int)fmax(round(item->size * scale), 4);
	const struct tb_text_slot *slot = font_find(text, string, item->font, size);
	if (!slot || !slot->texture)
		return;
	double spare = item->box.w * scale - slot->w;
	double baseline =
		(item->box.y + item->box.h / 2 + TB_BASELINE * item->size) * scale;
	SDL_Rect target = {
		(int)lround(item->box.x * scale + spare * (double)item->align / 2),
		(int)lround(baseline) - slot->ascent, slot->w, slot->h};
	SDL_SetTextureColorMod(
		slot->texture, item->colour.r, item->colour.g, item->colour.b);
	SDL_SetTextureAlphaMod(slot->texture, item->colour.a);
	SDL_RenderCopy(text->renderer, slot->texture, NULL, &target);
}
