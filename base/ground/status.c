#include "status.h"

#include "visible.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int fill_error(struct tb_error *error, enum tb_status code, const char *file,
	const char *format, va_list args) TB_PRINTF(4, 0);

static int fill_error(struct tb_error *error, enum tb_status code, const char *file,
	const char *format, va_list args)
{
	if (!error)
		return code;
	error->code = code;
	error->place = TB_PLACE_NONE;
	error->at = 0;
	// Of a path that is too long keep the end: it has the file's name.
	size_t length = file ? strlen(file) : 0;
	size_t skip = length >= sizeof error->file ? length - sizeof error->file + 1 : 0;
	snprintf(error->file, sizeof error->file, "%s", file ? file + skip : "");
	vsnprintf(error->text, sizeof error->text, format, args);
	return code;
}

int tb_fail(struct tb_error *error, enum tb_status code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int status = fill_error(error, code, NULL, format, args);
	va_end(args);
	return status;
}

int tb_fail_in(struct tb_error *error, enum tb_status code, const char *file,
	const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int status = fill_error(error, code, file, format, args);
	va_end(args);
	return status;
}

int tb_fail_at(struct tb_error *error, enum tb_status code, const char *file,
	enum tb_place place, uint64_t at, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int status = fill_error(error, code, file, format, args);
	va_end(args);
	if (error) {
		error->place = place;
		error->at = at;
	}
	return status;
}

static int fill_memory(struct tb_error *error, const char *file, const char *what,
	va_list args) TB_PRINTF(3, 0);

static int fill_memory(
	struct tb_error *error, const char *file, const char *what, va_list args)
{
	struct tb_error wanted;
	fill_error(&wanted, TB_ENOMEM, NULL, what, args);
	return file ? tb_fail_in(error, TB_ENOMEM, file, "no memory for %s", wanted.text)
		    : tb_fail(error, TB_ENOMEM, "no memory for %s", wanted.text);
}

int tb_fail_memory(struct tb_error *error, const char *what, ...)
{
	va_list args;
	va_start(args, what);
	int status = fill_memory(error, NULL, what, args);
	va_end(args);
	return status;
}

int tb_fail_memory_in(struct tb_error *error, const char *file, const char *what, ...)
{
	va_list args;
	va_start(args, what);
	int status = fill_memory(error, file, what, args);
	va_end(args);
	return status;
}

char *tb_error_format(const struct tb_error *error, char *buffer, int size)
{
	char shown_file[4 * sizeof error->file], shown_text[4 * sizeof error->text];
	const char *file = tb_visible(
		error->file[0] ? error->file : "input", shown_file, sizeof shown_file);
	const char *text = tb_visible(error->text, shown_text, sizeof shown_text);
	size_t room = size < 0 ? 0 : (size_t)size;
	switch (error->place) {
	case TB_PLACE_LINE:
		snprintf(buffer, room, "%s:%" PRIu64 ": %s", file, error->at, text);
		break;
	case TB_PLACE_OFFSET:
		snprintf(buffer, room, "%s: offset %" PRIu64 ": %s", file, error->at,
			text);
		break;
	case TB_PLACE_RECORD:
		snprintf(buffer, room, "%s: record %" PRIu64 ": %s", file, error->at,
			text);
		break;
	case TB_PLACE_NONE:
		if (error->file[0])
			snprintf(buffer, room, "%s: %s", file, text);
		else
			snprintf(buffer, room, "%s", text);
		break;
	}
	return buffer;
}
