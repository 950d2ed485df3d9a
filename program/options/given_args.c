#include "given_args.h"

#include "cli.h"

#include <stdbool.h>

static bool is_among(const int *keys, size_t n, int key)
{
	for (size_t i = 0; i < n; i++)
		if (keys[i] == key)
			return true;
	return false;
}

void tb_cmd_given_note(struct tb_cmd_given *given, int key)
{
	// argp's own keys, of arguments and of the end, are 0 or behind those of options.
	if (key > 0 && key < ARGP_KEY_END && !is_among(given->keys, given->n, key) &&
		given->n < sizeof given->keys / sizeof *given->keys)
		given->keys[given->n++] = key;
}

static const struct argp_option *option_of(const struct argp_option *options, int key)
{
	while (options->key != key)
		options++;
	return options;
}

int tb_cmd_given_settle(const struct tb_cmd_given *given,
	const struct argp_option *options, const char *command, const int *effective,
	const char *with)
{
	size_t n = 0;
	while (effective[n])
		n++;
	for (size_t i = 0; i < given->n; i++)
		if (!is_among(effective, n, given->keys[i]))
			return tb_cli_usage(command, "--%s has no effect with %s",
				option_of(options, given->keys[i])->name, with);
	return TB_EXIT_OK;
}
