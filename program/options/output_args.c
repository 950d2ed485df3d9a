#include "output_args.h"

#include "cli.h"
#include "input_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

// file_of returns the file that a part of an input names: the first part is one, and so
// are those behind "hosts=" and "map=". NULL for other parts.
static const char *file_of(const char *part, bool first)
{
	static const char *const keys[] = {"hosts=", "map="};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (strncmp(part, keys[i], strlen(keys[i])) == 0)
			return part + strlen(keys[i]);
	return first ? part : NULL;
}

// note_parts notes the files that an input names: it may be one with settings behind it,
// or one whose name has a comma.
static int note_parts(const char *input, struct tb_error *error)
{
	char *parts = strdup(input), *rest = parts;
	int status = parts ? tb_input_note_path(input) : TB_ENOMEM;
	for (char *part; !status && (part = strsep(&rest, ","));) {
		const char *file = file_of(part, part == parts);
		status = file ? tb_input_note_path(file) : TB_OK;
	}
	free(parts);
	return status ? tb_fail_memory_in(error, input, "its name") : TB_OK;
}

int tb_cmd_spare(const char *output, const char *const inputs[], size_t n)
{
	struct tb_error error;
	int status = TB_OK;
	for (size_t i = 0; i < n && !status; i++)
		if (inputs[i])
			status = note_parts(inputs[i], &error);
	if (!status)
		status = tb_outfile_spare(output, &error);
	return status ? tb_cli_fail(&error) : TB_EXIT_OK;
}

int tb_cmd_output_settle(struct tb_cmd_output *output, unsigned allowed,
	const char *command, const char *const inputs[], size_t n_inputs)
{
	bool to_stdout = strcmp(output->file, "-") == 0;
	if (!output->format_given && !to_stdout &&
		tb_format_of_file(output->file, allowed, &output->format) != TB_OK)
		return tb_cli_usage(command,
			"the ending of '%s' names no format: name one with -f",
			output->file);
	bool binary = output->format == TB_FORMAT_PNG || output->format == TB_FORMAT_PDF;
	if (binary && to_stdout && isatty(STDOUT_FILENO))
		return tb_cli_usage(command,
			"a terminal cannot show a %s: write it to a file with -o",
			tb_format_name(output->format));
	return tb_cmd_spare(output->file, inputs, n_inputs);
}

int tb_cmd_output_end(struct tb_outfile *out, int status, struct tb_error *error)
{
	if (status == TB_OK)
		return tb_outfile_commit(out, error);
	tb_outfile_abandon(out);
	return status;
}

bool tb_cmd_output_is_to_read(const struct tb_cmd_output *output)
{
	return output->format == TB_FORMAT_TEXT || output->format == TB_FORMAT_MARKDOWN ||
	       output->format == TB_FORMAT_GITHUB;
}

int tb_cmd_output_settle_width(
	const struct tb_cmd_output *output, const char *command, uint64_t width)
{
	if (width == 0 || output->format == TB_FORMAT_TEXT)
		return TB_EXIT_OK;
	return tb_cli_usage(
		command, "--width is for text: the other formats have no lines to fit");
}

uint32_t tb_cmd_text_width(uint64_t asked, FILE *stream, uint32_t otherwise)
{
	struct winsize size;
	if (asked)
		return (uint32_t)asked;
	if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
		return size.ws_col;
	return otherwise;
}

void tb_cmd_print_schema(
	int (*write)(FILE *stream, struct tb_error *error), const char *text)
{
	struct tb_outfile out;
	struct tb_error error;
	int status = tb_outfile_open(&out, "-", &error);
	if (status == TB_OK) {
		if (text)
			fputs(text, out.stream);
		status = tb_cmd_output_end(
			&out, text ? TB_OK : write(out.stream, &error), &error);
	}
	exit(status == TB_OK ? TB_EXIT_OK : tb_cli_fail(&error));
}
