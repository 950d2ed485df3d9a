#include "parameters.h"

#include "switchings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_host_s(const struct tb_preset_key *key)
{
	return strcmp(key->section, TB_PRESET_HOST) == 0;
}

static size_t offset_of(const struct tb_preset_key *key)
{
	return key->offset +
	       (is_host_s(key) ? offsetof(struct tb_network_params, host) : 0);
}

// is_parameter: what says which network it is, is none.
static bool is_parameter(const struct tb_preset_key *key)
{
	return key->form != TB_FORM_WORD && key->form != TB_FORM_SWITCHING;
}

// is_of_shape: a shape stands in place of arity and levels, and what is not by level is
// not listed by level.
static bool is_of_shape(
	const struct tb_network_params *params, const struct tb_preset_key *key)
{
	bool has_shape = params->shape[0] != '\0';
	if (strcmp(key->name, "arity") == 0 || strcmp(key->name, "levels") == 0)
		return !has_shape;
	if (key->form == TB_FORM_SHAPE)
		return has_shape;
	if (key->form == TB_FORM_LEVEL_RATES)
		return params->level_rates[0];
	return key->form != TB_FORM_LEVEL_TIMES || params->level_latencies[0];
}

static bool parameter_has_key(
	const struct tb_network_params *params, const struct tb_preset_key *key)
{
	return is_parameter(key) && is_of_shape(params, key) &&
	       (!is_host_s(key) || params->n_rails > 1 ||
		       !tb_host_does_nothing(&params->host));
}

static struct tb_value whole_at(const void *at, size_t size)
{
	uint32_t small = 0;
	int64_t whole = 0;
	memcpy(size == sizeof small ? (void *)&small : &whole, at, size);
	return (struct tb_value){
		.type = TB_VALUE_WHOLE, .whole = size == sizeof small ? small : whole};
}

static struct tb_value choice_at(const struct tb_preset_key *key, const void *at)
{
	unsigned i = 0;
	memcpy(&i, at, sizeof i);
	return (struct tb_value){.type = TB_VALUE_WORD, .word = key->words[i]};
}

static struct tb_parameter read_parameter(
	const struct tb_network_params *params, const struct tb_preset_key *key)
{
	const char *at = (const char *)params + offset_of(key);
	struct tb_parameter made = {.section = key->section, .key = key->name};
	switch (key->form) {
	case TB_FORM_COUNT:
	case TB_FORM_SIZE:
		made.value = whole_at(at, sizeof(uint32_t));
		made.unit = key->form == TB_FORM_SIZE ? TB_UNIT_BYTES : TB_UNIT_NONE;
		break;
	case TB_FORM_TIME:
	case TB_FORM_RATE:
		made.value = whole_at(at, sizeof(int64_t));
		made.unit = key->form == TB_FORM_TIME ? TB_UNIT_PS : TB_UNIT_BYTES_PER_S;
		break;
	case TB_FORM_REAL:
		made.value.type = TB_VALUE_REAL;
		memcpy(&made.value.real, at, sizeof made.value.real);
		break;
	case TB_FORM_WORD:
	case TB_FORM_SWITCHING:
	case TB_FORM_LIBRARY:
	case TB_FORM_VL_TABLE:
	case TB_FORM_SL_TO_VL:
	case TB_FORM_SHAPE:
	case TB_FORM_LEVEL_RATES:
	case TB_FORM_LEVEL_TIMES:
		made.value = (struct tb_value){.type = TB_VALUE_WORD, .word = at};
		break;
	case TB_FORM_CHOICE:
		made.value = choice_at(key, at);
		break;
	}
	made.is_none = key->need >= TB_KEY_MAY_BE_NONE && made.value.whole == 0;
	return made;
}

// list_section appends the parameters of a section to a list of n.
static size_t list_section(const struct tb_network_params *params, const char *section,
	const struct tb_preset_key *keys, size_t n_keys, struct tb_parameter *list,
	size_t n)
{
	for (size_t i = 0; i < n_keys; i++)
		if (strcmp(keys[i].section, section) == 0 &&
			parameter_has_key(params, &keys[i]))
			list[n++] = read_parameter(params, &keys[i]);
	return n;
}

static bool is_first_of_section(const struct tb_preset_key *keys, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(keys[i].section, keys[at].section) == 0)
			return false;
	return true;
}

// A switching's keys come behind those of all networks, so sections are put together.
size_t tb_parameters(const struct tb_network_params *params,
	struct tb_parameter list[TB_PARAMETERS_MOST])
{
	struct tb_preset_key keys[TB_PARAMETERS_MOST];
	size_t n_keys = tb_switching_keys(tb_switching_of(params), keys);
	size_t n = 0;
	for (size_t i = 0; i < n_keys; i++)
		if (is_first_of_section(keys, i))
			n = list_section(params, keys[i].section, keys, n_keys, list, n);
	return n;
}

char *tb_parameter_text(const struct tb_parameter *parameter, char *buffer, size_t size)
{
	const struct tb_value *value = &parameter->value;
	if (value->type == TB_VALUE_WORD || parameter->is_none)
		snprintf(buffer, size, "%s", parameter->is_none ? "none" : value->word);
	else if (value->type == TB_VALUE_REAL)
		snprintf(buffer, size, "%g", value->real);
	else if (parameter->unit == TB_UNIT_PS)
		tb_format_time(value->whole, buffer, size);
	else if (parameter->unit == TB_UNIT_BYTES)
		tb_format_size((uint64_t)value->whole, buffer, size);
	else if (parameter->unit == TB_UNIT_BYTES_PER_S)
		tb_format_rate((double)value->whole, buffer, size);
	else
		snprintf(buffer, size, "%" PRId64, value->whole);
	return buffer;
}

static bool take_whole(void *at, size_t size, const struct tb_value *value)
{
	int64_t most = size == sizeof(uint32_t) ? UINT32_MAX : INT64_MAX;
	if (value->type != TB_VALUE_WHOLE || value->whole < 0 || value->whole > most)
		return false;
	uint32_t small = (uint32_t)value->whole;
	memcpy(at, size == sizeof small ? (const void *)&small : &value->whole, size);
	return true;
}

static bool take_real(void *at, const struct tb_value *value)
{
	double real = value->type == TB_VALUE_WHOLE ? (double)value->whole : value->real;
	if (value->type == TB_VALUE_WORD || !(real >= 0 && real <= 1))
		return false;
	memcpy(at, &real, sizeof real);
	return true;
}

static bool take_text(char *at, size_t size, const struct tb_value *value)
{
	if (value->type != TB_VALUE_WORD || strlen(value->word) >= size)
		return false;
	strcpy(at, value->word);
	return true;
}

static bool take_choice(
	const struct tb_preset_key *key, void *at, const struct tb_value *value)
{
	unsigned i = 0;
	if (value->type != TB_VALUE_WORD || !tb_preset_key_choice(key, value->word, &i))
		return false;
	memcpy(at, &i, sizeof i);
	return true;
}

static bool parameter_take_value(struct tb_network_params *params,
	const struct tb_preset_key *key, const struct tb_value *value)
{
	char *at = (char *)params + offset_of(key);
	switch (key->form) {
	case TB_FORM_COUNT:
	case TB_FORM_SIZE:
		return take_whole(at, sizeof(uint32_t), value);
	case TB_FORM_TIME:
	case TB_FORM_RATE:
		return take_whole(at, sizeof(int64_t), value);
	case TB_FORM_REAL:
		return take_real(at, value);
	case TB_FORM_LIBRARY:
		return take_text(at, sizeof params->host.name, value);
	case TB_FORM_VL_TABLE:
	case TB_FORM_SL_TO_VL:
		return take_text(at, tb_preset_text_room(key->form), value);
	case TB_FORM_SHAPE:
	case TB_FORM_LEVEL_RATES:
	case TB_FORM_LEVEL_TIMES: {
		// Take what can be read again, and the word for a fabric's.
		char text[TB_SHAPE_TEXT];
		bool is_word = value->type == TB_VALUE_WORD;
		if (is_word && key->form == TB_FORM_SHAPE &&
			strcmp(value->word, TB_SHAPE_FABRIC) == 0) {
			strcpy(at, value->word);
			return true;
		}
		if (!is_word ||
			tb_preset_shape_text(key->form, text, value->word, NULL) != TB_OK)
			return false;
		memcpy(at, text, sizeof text);
		return true;
	}
	case TB_FORM_CHOICE:
		return take_choice(key, at, value);
	case TB_FORM_WORD:
	case TB_FORM_SWITCHING:
		break;
	}
	return false;
}

int tb_parameters_take(
	struct tb_parameters_taken *taken, const char *key, const struct tb_value *value)
{
	struct tb_preset_key keys[TB_PARAMETERS_MOST];
	size_t n = tb_switching_keys(tb_switching_of(taken->params), keys);
	for (size_t i = 0; i < n; i++)
		if (is_parameter(&keys[i]) && strcmp(keys[i].name, key) == 0) {
			taken->seen[i] = true;
			return parameter_take_value(taken->params, &keys[i], value)
				       ? 1
				       : TB_EFORMAT;
		}
	return 0;
}

const char *tb_parameters_missing(const struct tb_parameters_taken *taken)
{
	struct tb_preset_key keys[TB_PARAMETERS_MOST];
	size_t n = tb_switching_keys(tb_switching_of(taken->params), keys);
	for (size_t i = 0; i < n; i++)
		if (!taken->seen[i] && keys[i].need != TB_KEY_CAME_LATER &&
			keys[i].need != TB_KEY_NONE_LATER &&
			parameter_has_key(taken->params, &keys[i]))
			return keys[i].name;
	return NULL;
}
