#include "reading_args.h"

#include "trace.h"
#include "visible.h"

#include <stdlib.h>
#include <string.h>

#define AT(member)                                                                       \
	TB_AT(struct tb_cmd_reading, member), TB_SET(struct tb_cmd_reading, given)

// take_collective checks only the form: what operations and algorithms there are is known
// to those who expand them.
static void take_collective(
	const struct tb_option *row, void *target, char *value, struct argp_state *state)
{
	const char *sign = strchr(value, '=');
	struct tb_texts *collectives = target;
	if (!sign || sign == value || !sign[1])
		argp_error(state,
			"--%s=%s: expected an operation and an algorithm, such as "
			"allreduce=ring",
			row->name, value);
	tb_texts_add(collectives, value);
}

const struct tb_option tb_reading_options[] = {
	{"library", 0, "NAME",
		"Make collective calls into the messages of this library, and send long "
		"ones by its rendezvous: %s (default: the one that made the trace)",
		TB_TEXT, AT(reading.library), .word = tb_trace_library},
	{"collective", 0, "OP=ALGORITHM",
		"Use this algorithm for calls of an operation, such as allreduce=ring; "
		"may be given again",
		TB_CALL, AT(collectives), .word = tb_trace_collective,
		.take = take_collective},
	{"lenient", 0, NULL,
		"Leave out and count sends, receives and collective calls without a "
		"counterpart, and take files that break off as far as they go, instead "
		"of refusing the trace",
		TB_FLAG, AT(reading.lenient)},
	{"clone-ranks", 0, "N",
		"The trace has some ranks of a data-parallel job of N; the others do "
		"what these do",
		TB_COUNT, AT(reading.clone_ranks), .min = 1, .max = 1 << 24},
	{0},
};

const struct tb_reading *tb_cmd_reading_of(struct tb_cmd_reading *reading)
{
	reading->reading.collectives = reading->collectives.of;
	reading->reading.n_collectives = reading->collectives.n;
	return reading->given ? &reading->reading : NULL;
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
