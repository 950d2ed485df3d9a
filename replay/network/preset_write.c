#include "preset_write.h"

#include "parameters.h"
#include "preset_keys.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void write_value(const struct tb_parameter *at, FILE *stream)
{
	static const char *const units[] = {[TB_UNIT_NONE] = "",
		[TB_UNIT_PS] = "ps",
		[TB_UNIT_BYTES] = "",
		[TB_UNIT_BYTES_PER_S] = "B/s"};
	if (at->is_none)
		fputs("none", stream);
	else if (at->value.type == TB_VALUE_WORD)
		fputs(at->value.word, stream);
	else if (at->value.type == TB_VALUE_REAL) {
		// Write as few digits as read back the same.
		double real = at->value.real;
		char text[32];
		int digits = 1;
		do
			snprintf(text, sizeof text, "%.*g", digits, real);
		while (strtod(text, NULL) != real && digits++ < 17);
		fputs(text, stream);
	} else
		fprintf(stream, "%" PRId64 "%s", at->value.whole, units[at->unit]);
}

// preset_writes_nothing_of: a word that is not there says as much; a tree of a shape has
// no arity.
static bool preset_writes_nothing_of(
	const struct tb_network_params *params, const struct tb_parameter *at)
{
	bool shaped = params->shape[0] != '\0';
	if (at->value.type == TB_VALUE_WORD && !at->is_none && at->value.word[0] == '\0')
		return true;
	return shaped &&
	       (strcmp(at->key, "arity") == 0 || strcmp(at->key, "levels") == 0);
}

// write_section opens the section of a parameter. The first has the keys without which
// the others are not understood.
static void write_section(const struct tb_network_params *params, const char *section,
	bool first, FILE *stream)
{
	if (strcmp(section, TB_PRESET_HOST) == 0)
		fprintf(stream, "\n[%s.%s]\n", section, params->host.name);
	else
		fprintf(stream, "%s[%s]\n", first ? "" : "\n", section);
	if (first)
		fprintf(stream, "name = %s\nswitching = %s\n", params->name,
			params->switching);
}

void tb_preset_write(const struct tb_network_params *params, FILE *stream)
{
	struct tb_parameter list[TB_PARAMETERS_MOST];
	size_t n = tb_parameters(params, list);
	const char *section = "";
	for (size_t i = 0; i < n; i++) {
		if (preset_writes_nothing_of(params, &list[i]))
			continue;
		if (strcmp(section, list[i].section) != 0)
			write_section(params, list[i].section, !*section, stream);
		section = list[i].section;
		fprintf(stream, "%s = ", list[i].key);
		write_value(&list[i], stream);
		fputc('\n', stream);
	}
}
