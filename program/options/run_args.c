#include "run_args.h"

#include "units.h"

error_t tb_cmd_store_arg(
	int key, char *value, struct argp_state *state, const char **store)
{
	switch (key) {
	case ARGP_KEY_ARG:
		if (*store)
			argp_error(state, "one store at a time: '%s' is too many", value);
		*store = value;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "a store is missing: name a run.db");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int64_t tb_cmd_run_number(const char *value, const struct argp_state *state)
{
	uint64_t run = 0;
	if (tb_parse_count(value, 1, INT64_MAX, &run) != TB_OK)
		argp_error(state, "a run is a number from 1, not '%s'", value);
	return (int64_t)run;
}
