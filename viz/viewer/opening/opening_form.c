#include "opening_form.h"

#include "network.h"
#include "preset.h"
#include "underload.h"
#include "units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LEAST_NODES 16
#define MOST_NODES  65536
#define LEAST_SCALE 1e-6
#define MOST_SCALE  1e3

static uint64_t nodes_of(const struct tb_opening_form *form, uint32_t levels)
{
	uint64_t n = 1;
	while (levels-- > 0 && n <= MOST_NODES)
		n *= form->arity;
	return n;
}

// hold keeps the levels where there are enough nodes and not too many.
static void hold(struct tb_opening_form *form)
{
	while (nodes_of(form, form->levels) < LEAST_NODES)
		form->levels++;
	while (form->levels > 1 && nodes_of(form, form->levels) > MOST_NODES)
		form->levels--;
}

// fit chooses the smallest network that has the nodes of the trace.
static void fit(struct tb_opening_form *form)
{
	if (form->chose_levels || form->trace.n_nodes == 0)
		return;
	form->levels = 1;
	hold(form);
	while (nodes_of(form, form->levels) < form->trace.n_nodes &&
		nodes_of(form, form->levels + 1) <= MOST_NODES)
		form->levels++;
}

static void choose_preset(struct tb_opening_form *form, size_t preset)
{
	struct tb_network_params params;
	if (tb_network_preset(&params, tb_network_preset_name(preset), NULL) != TB_OK ||
		params.arity < 2)
		return;
	form->preset = preset;
	form->arity = params.arity;
	form->natural = params.levels;
	if (!form->chose_levels)
		form->levels = params.levels;
	hold(form);
	fit(form);
}

void tb_opening_form_init(struct tb_opening_form *form)
{
	*form = (struct tb_opening_form){.arity = 2, .scale = "1"};
	choose_preset(form, 0);
}

void tb_opening_form_take(
	struct tb_opening_form *form, const struct tb_glance_answer *answer)
{
	form->trace = *answer;
	form->glanced = true;
	fit(form);
}

int tb_opening_form_n_rows(const struct tb_opening_form *form)
{
	return form->glanced && form->trace.is_capture ? TB_FORM_N_ROWS : TB_FORM_SCALE;
}

// scale_of returns the time scale; 0 for what is none.
static double scale_of(const struct tb_opening_form *form)
{
	double scale;
	return tb_parse_real(form->scale, LEAST_SCALE, MOST_SCALE, &scale) == TB_OK
		       ? scale
		       : 0;
}

// step_scale goes to the next of 1, 2, 5, 10 and so on.
static void step_scale(struct tb_opening_form *form, int by)
{
	static const double steps[] = {1, 2, 5};
	double now = scale_of(form), found = now;
	for (double ten = LEAST_SCALE; ten <= MOST_SCALE; ten *= 10)
		for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
			double scale = ten * steps[i];
			if (by < 0 && scale < now * 0.999)
				found = scale;
			if (by > 0 && scale > now * 1.001 && found <= now * 1.001)
				found = scale;
		}
	snprintf(form->scale, sizeof form->scale, "%.3g", found);
	form->typing = false;
}

void tb_opening_form_step(struct tb_opening_form *form, enum tb_form_row row, int by)
{
	form->row = row;
	if (row == TB_FORM_SCALE)
		step_scale(form, by);
	else if (row == TB_FORM_NETWORK && by < 0 && form->preset > 0)
		choose_preset(form, form->preset - 1);
	else if (row == TB_FORM_NETWORK && by > 0 &&
		 tb_network_preset_name(form->preset + 1))
		choose_preset(form, form->preset + 1);
	else if (row == TB_FORM_NODES) {
		form->levels += (uint32_t)by;
		form->chose_levels = true;
		hold(form);
	}
}

// type_scale edits the time scale: it begins anew where it was not typed before.
static bool type_scale(struct tb_opening_form *form, const char *key)
{
	size_t length = strlen(form->scale);
	if (strcmp(key, "Backspace") == 0) {
		form->scale[length > 0 ? length - 1 : 0] = '\0';
	} else if (strlen(key) == 1 && (isdigit((unsigned char)*key) || *key == '.')) {
		length = form->typing ? length : 0;
		if (length + 1 < sizeof form->scale)
			snprintf(form->scale + length, sizeof form->scale - length, "%s",
				key);
	} else {
		return false;
	}
	form->typing = true;
	form->row = TB_FORM_SCALE;
	return true;
}

// use_suggestion is a key of its own and the button's.
static bool use_suggestion(struct tb_opening_form *form)
{
	char scale[sizeof form->scale];
	if (!*tb_opening_form_suggestion(form, scale, sizeof scale))
		return false;
	memcpy(form->scale, scale, sizeof scale);
	form->typing = false;
	form->row = TB_FORM_SCALE;
	return true;
}

bool tb_opening_form_key(struct tb_opening_form *form, const char *key)
{
	unsigned n = (unsigned)tb_opening_form_n_rows(form);
	if (strcmp(key, "Up") == 0)
		form->row = (enum tb_form_row)((form->row + n - 1) % n);
	else if (strcmp(key, "Down") == 0 || strcmp(key, "Tab") == 0)
		form->row = (enum tb_form_row)((form->row + 1) % n);
	else if (strcmp(key, "Left") == 0)
		tb_opening_form_step(form, form->row, -1);
	else if (strcmp(key, "Right") == 0)
		tb_opening_form_step(form, form->row, 1);
	else if (n <= TB_FORM_SCALE)
		return false;
	else if (strcmp(key, "h") == 0)
		return use_suggestion(form);
	else
		return type_scale(form, key);
	return true;
}

char *tb_opening_form_network(
	const struct tb_opening_form *form, char *buffer, size_t size)
{
	const char *name = tb_network_preset_name(form->preset);
	if (form->levels == form->natural)
		snprintf(buffer, size, "%s", name);
	else
		snprintf(buffer, size, "%s,levels=%" PRIu32, name, form->levels);
	return buffer;
}

uint32_t tb_opening_form_n_nodes(const struct tb_opening_form *form)
{
	return (uint32_t)nodes_of(form, form->levels);
}

double tb_opening_form_share(const struct tb_opening_form *form)
{
	double scale = scale_of(form);
	bool known = tb_opening_form_n_rows(form) > TB_FORM_SCALE && scale > 0;
	return known ? form->trace.busiest_share / scale : 0;
}

char *tb_opening_form_suggestion(
	const struct tb_opening_form *form, char *buffer, size_t size)
{
	double share = tb_opening_form_share(form);
	buffer[0] = '\0';
	if (share > 0 && share < TB_UNDERLOAD_SHARE && form->trace.half_scale > 0)
		snprintf(buffer, size, "%.3g", form->trace.half_scale);
	return buffer;
}
