#include "instant_args.h"

#include "status.h"

void tb_cmd_want_instant(const struct argp_state *state, const char *name,
	const char *text, struct tb_instant *instant)
{
	if (tb_instant_parse(text, instant) != TB_OK)
		argp_error(state,
			"--%s=%s: expected a time since the first record, such as 1.5s, "
			"seconds or nanoseconds since 1970, or a date in UTC such as "
			"2026-11-22T12:19:00.5",
			name, text);
}
