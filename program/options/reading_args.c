#include "reading_args.h"

#include "units.h"
#include "visible.h"

#include <stdlib.h>
#include <string.h>

// add_collective checks only the form: what operations and algorithms there are is known
// to those who expand them.
static void add_collective(
	const char *value, const struct argp_state *state, struct tb_cmd_reading *reading)
{
	const char *sign = strchr(value, '=');
	if (!sign || sign == value || !sign[1])
		argp_error(state,
			"--collective=%s: expected an operation and an algorithm, such "
			"as allreduce=ring",
			value);
	if (reading->reading.n_collectives == TB_CMD_COLLECTIVES_MAX)
		argp_error(state, "--collective is given more than %d times",
			TB_CMD_COLLECTIVES_MAX);
	reading->collectives[reading->reading.n_collectives++] = value;
	reading->reading.collectives = reading->collectives;
}

static void set_clones(
	const char *value, const struct argp_state *state, struct tb_cmd_reading *reading)
{
	uint64_t n = 0;
	if (tb_parse_count(value, 1, UINT32_C(1) << 24, &n) != TB_OK)
		argp_error(state,
			"--clone-ranks=%s: expected a number from 1 to 16777216", value);
	reading->reading.clone_ranks = (uint32_t)n;
}

error_t tb_cmd_reading_arg(int key, const char *value, const struct argp_state *state,
	struct tb_cmd_reading *reading)
{
	switch (key) {
	case TB_KEY_LIBRARY:
		reading->reading.library = value;
		break;
	case TB_KEY_COLLECTIVE:
		add_collective(value, state, reading);
		break;
	case TB_KEY_LENIENT:
		reading->reading.lenient = true;
		break;
	case TB_KEY_CLONE_RANKS:
		set_clones(value, state, reading);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	reading->given = true;
	return 0;
}

void tb_cmd_put_notes(FILE *stream, const char *notes, const char *indent, size_t most)
{
	char line[2048];
	size_t n = 0;
	for (const char *at = notes; at && *at;) {
		size_t length = strcspn(at, "\n");
		char *note = n++ < most ? strndup(at, length) : NULL;
		if (note)
			fprintf(stream, "%s%s\n", indent,
				tb_visible(note, line, sizeof line));
		free(note);
		at += length + (at[length] == '\n');
	}
	if (n > most)
		fprintf(stream, "%sand %zu more notes, which 'tailback info' prints\n",
			indent, n - most);
}
