// The values of a preset's keys: from the text to what the key has.
#include "credit_params.h"
#include "preset_reading.h"

#include "nearest.h"

#include <stdio.h>
#include <string.h>

static void *place_of(struct tb_preset_reading *reading, const struct tb_preset_key *key)
{
	bool in_host = strcmp(key->section, TB_PRESET_HOST) == 0;
	return (in_host ? (char *)&reading->host->params : (char *)&reading->params) +
	       key->offset;
}

static int out_of_range(struct tb_preset_reading *reading,
	const struct tb_preset_key *key, const char *value)
{
	char expected[240];
	return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
		"%s = %s: expected %s", key->name, value,
		tb_preset_key_expects(key, expected, sizeof expected));
}

// is_none: keys that may be without a limit take `none`, and 0 as others do.
static bool is_none(const struct tb_preset_key *key, const char *value)
{
	return key->need >= TB_KEY_MAY_BE_NONE &&
	       (strcmp(value, "none") == 0 || strcmp(value, "0") == 0);
}

static int store_library(struct tb_preset_reading *reading,
	const struct tb_preset_key *key, const char *value)
{
	if (strlen(value) >= sizeof reading->library || value[0] == '\0')
		return out_of_range(reading, key, value);
	snprintf(reading->library, sizeof reading->library, "%s", value);
	return TB_OK;
}

// store_choice stores the place of a word in a list, an enum's value. No preset has its
// routes from a table.
static int store_choice(struct tb_preset_reading *reading,
	const struct tb_preset_key *key, const char *value)
{
	unsigned i = 0;
	if (!tb_preset_key_choice(key, value, &i) || i > key->max)
		return out_of_range(reading, key, value);
	memcpy(place_of(reading, key), &i, sizeof i);
	return TB_OK;
}

// is_table: lanes are checked against how many there are later, when that is known.
static bool is_table(enum tb_preset_form form, const char *text)
{
	struct tb_vl_table table;
	uint8_t vls[TB_SLS];
	return (form == TB_FORM_VL_TABLE
			       ? tb_vl_table_read(&table, text, TB_VLS_MOST, false)
			       : tb_sl_to_vl_read(vls, text, TB_VLS_MOST)) == TB_OK;
}

// space_out writes the words of a list apart by single blanks, as far as there is room,
// and returns the length.
static size_t space_out(char *text, size_t room, const char *value)
{
	size_t n = 0;
	for (const char *at = value; *at && n + 1 < room; at++) {
		bool gap = strchr(" ,\t", *at) != NULL;
		if (!gap)
			text[n++] = *at;
		else if (n > 0 && text[n - 1] != ' ')
			text[n++] = ' ';
	}
	n -= n > 0 && text[n - 1] == ' ';
	text[n] = '\0';
	return n;
}

// store_table keeps a table as a text whose numbers stand apart by single blanks.
static int store_table(struct tb_preset_reading *reading, const struct tb_preset_key *key,
	const char *value)
{
	char text[TB_VL_TABLE_TEXT];
	size_t room = tb_preset_text_room(key->form);
	size_t n = space_out(text, room, value);
	if (n == 0 || n + 1 >= room || !is_table(key->form, text))
		return out_of_range(reading, key, value);
	memcpy(place_of(reading, key), text, n + 1);
	return TB_OK;
}

static int store_shape(struct tb_preset_reading *reading, const struct tb_preset_key *key,
	const char *value)
{
	struct tb_error why = {0};
	if (tb_preset_shape_text(key->form, place_of(reading, key), value, &why) == TB_OK)
		return TB_OK;
	return tb_fail_in(reading->error, TB_EUSAGE, reading->source, "%s", why.text);
}

// preset_store_levels keeps a list by level, apart by single blanks as a table.
static int preset_store_levels(struct tb_preset_reading *reading,
	const struct tb_preset_key *key, const char *value)
{
	char text[TB_SHAPE_TEXT];
	size_t n = space_out(text, sizeof text, value);
	if (n + 1 < sizeof text && tb_preset_shape_text(key->form, place_of(reading, key),
					   text, NULL) == TB_OK)
		return TB_OK;
	return out_of_range(reading, key, value);
}

int tb_preset_set_switching(struct tb_preset_reading *reading, const char *name)
{
	const struct tb_switching_kind *kinds = reading->kinds;
	size_t i = 0;
	while (i < reading->n_kinds && strcmp(kinds[i].name, name) != 0)
		i++;
	if (i == reading->n_kinds) {
		struct tb_hint hint;
		return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"switching = %s: there is no such one%s", name,
			tb_hint_choice(&hint, name, &kinds->name, reading->n_kinds,
				sizeof *kinds));
	}
	reading->n_keys = tb_switching_keys(&kinds[i], reading->keys);
	reading->kind = &kinds[i];
	snprintf(reading->params.switching, sizeof reading->params.switching, "%s", name);
	return TB_OK;
}

// store_switching: the list of changes takes precedence over the preset.
static int store_switching(struct tb_preset_reading *reading, const char *value)
{
	if (reading->switching[0] && reading->kind->stands_for_other) {
		// The list has another switching stand in for that of the preset.
		for (size_t i = 0; i < reading->n_kinds; i++) {
			const struct tb_switching_kind *kind = &reading->kinds[i];
			if (strcmp(kind->name, value) != 0 || kind->stands_for_other)
				continue;
			reading->params.stands_for = (unsigned)i;
			return TB_OK;
		}
		return TB_OK;
	}
	if (reading->switching[0])
		return TB_OK;
	for (size_t i = tb_preset_n_keys; i < reading->n_keys; i++)
		if (reading->seen[i] > reading->file->depth)
			return strcmp(value, reading->kind->name) == 0
				       ? TB_OK
				       : tb_fail_in(reading->error, TB_EUSAGE,
						 reading->source,
						 "switching = %s: it is like a network "
						 "with switching = %s",
						 value, reading->kind->name);
		else if (reading->seen[i])
			return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
				"switching = %s: expected before '%s', a key that not "
				"every switching has",
				value, reading->keys[i].name);
	return tb_preset_set_switching(reading, value);
}

int tb_preset_set_value(struct tb_preset_reading *reading,
	const struct tb_preset_key *key, const char *value)
{
	switch (key->form) {
	case TB_FORM_WORD:
		if (strlen(value) >= sizeof reading->params.name || value[0] == '\0')
			return out_of_range(reading, key, value);
		snprintf(reading->params.name, sizeof reading->params.name, "%s", value);
		return TB_OK;
	case TB_FORM_SWITCHING:
		return store_switching(reading, value);
	case TB_FORM_CHOICE:
		return store_choice(reading, key, value);
	case TB_FORM_COUNT:
	case TB_FORM_SIZE: {
		uint64_t whole = 0;
		bool none = is_none(key, value);
		int status = none ? TB_OK
			     : key->form == TB_FORM_COUNT
				     ? tb_parse_count(value, 0, UINT32_MAX, &whole)
				     : tb_parse_size(value, &whole);
		if (!none && (status != TB_OK || whole < key->min || whole > key->max))
			return out_of_range(reading, key, value);
		uint32_t stored = (uint32_t)whole;
		memcpy(place_of(reading, key), &stored, sizeof stored);
		return TB_OK;
	}
	case TB_FORM_RATE: {
		uint64_t rate = 0;
		bool none = is_none(key, value);
		if (!none && (tb_parse_rate(value, &rate) != TB_OK || rate < key->min ||
				     rate > key->max))
			return out_of_range(reading, key, value);
		memcpy(place_of(reading, key), &rate, sizeof rate);
		return TB_OK;
	}
	case TB_FORM_TIME: {
		tb_time_ps time = 0;
		if (tb_parse_time(value, &time) != TB_OK || (uint64_t)time < key->min ||
			(uint64_t)time > key->max)
			return out_of_range(reading, key, value);
		memcpy(place_of(reading, key), &time, sizeof time);
		return TB_OK;
	}
	case TB_FORM_REAL: {
		double real = 0;
		if (tb_parse_real(value, 0, 1, &real) != TB_OK)
			return out_of_range(reading, key, value);
		memcpy(place_of(reading, key), &real, sizeof real);
		return TB_OK;
	}
	case TB_FORM_LIBRARY:
		return store_library(reading, key, value);
	case TB_FORM_VL_TABLE:
	case TB_FORM_SL_TO_VL:
		return store_table(reading, key, value);
	case TB_FORM_SHAPE:
		return store_shape(reading, key, value);
	case TB_FORM_LEVEL_RATES:
	case TB_FORM_LEVEL_TIMES:
		return preset_store_levels(reading, key, value);
	}
	return TB_EUSAGE;
}
