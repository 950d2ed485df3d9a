#include "output_args.h"

#include "cli.h"
#include "outfile.h"

#include <string.h>
#include <unistd.h>

error_t tb_cmd_output_arg(int key, const char *value, const struct argp_state *state,
	struct tb_cmd_output *output)
{
	switch (key) {
	case 'o':
		output->file = value;
		return 0;
	case 'f':
		if (tb_format_parse(value, output->allowed, &output->format) != TB_OK)
			argp_error(state, "no format is called '%s'", value);
		output->format_given = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int tb_cmd_output_settle(struct tb_cmd_output *output, const char *command)
{
	bool to_stdout = strcmp(output->file, "-") == 0;
	if (!output->format_given && !to_stdout &&
		tb_format_of_file(output->file, output->allowed, &output->format) !=
			TB_OK)
		return tb_cli_usage(command,
			"the ending of '%s' names no format: name one with -f",
			output->file);
	bool binary = output->format == TB_FORMAT_PNG || output->format == TB_FORMAT_PDF;
	if (binary && to_stdout && isatty(STDOUT_FILENO))
		return tb_cli_usage(command,
			"a terminal cannot show a %s: write it to a file with -o",
			tb_format_name(output->format));
	return TB_EXIT_OK;
}

int tb_cmd_output_write(const struct tb_cmd_output *output,
	int (*write)(void *context, FILE *stream, struct tb_error *error), void *context,
	struct tb_error *error)
{
	struct tb_outfile out;
	int status = tb_outfile_open(&out, output->file, error);
	if (status != TB_OK)
		return status;
	status = write(context, out.stream, error);
	if (status == TB_OK)
		return tb_outfile_commit(&out, error);
	tb_outfile_abandon(&out);
	return status;
}

bool tb_cmd_output_is_to_read(const struct tb_cmd_output *output)
{
	return output->format == TB_FORMAT_TEXT || output->format == TB_FORMAT_MARKDOWN;
}
