#include "text_lines.h"

#include "array.h"
#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (size_t)(64 << 10)

void tb_text_lines_init(struct tb_text_lines *lines, FILE *stream, const char *file,
	struct tb_error *error)
{
	*lines = (struct tb_text_lines){.most = TB_TEXT_LINE_MOST,
		.stream = stream,
		.file = file,
		.error = error};
}

static int too_long(struct tb_text_lines *lines)
{
	char most[32];
	return tb_fail_at(lines->error, TB_EFORMAT, lines->file, TB_PLACE_LINE,
		lines->number + 1, "the line is longer than %s, the most that is read",
		tb_format_size(lines->most, most, sizeof most));
}

static int fill_text_buffer(struct tb_text_lines *lines)
{
	// Make room for a chunk and a terminating 0 behind what was read.
	if (lines->begin > 0)
		memmove(lines->buffer, lines->buffer + lines->begin,
			lines->end - lines->begin);
	lines->end -= lines->begin;
	lines->begin = 0;
	if (TB_ARRAY_RESERVE(
		    &lines->buffer, &lines->room, lines->end + CHUNK_BYTES + 1) != TB_OK)
		return tb_fail_memory_in(
			lines->error, lines->file, "line %" PRIu64, lines->number + 1);
	errno = 0;
	size_t n = fread(lines->buffer + lines->end, 1, CHUNK_BYTES, lines->stream);
	lines->end += n;
	lines->at_end = n == 0;
	if (n == 0 && ferror(lines->stream))
		return tb_fail_in(lines->error, TB_EIO, lines->file, "cannot be read: %s",
			strerror(errno ? errno : EIO));
	return TB_OK;
}

// take_text_line makes the next `n` bytes of the buffer the line.
static int take_text_line(struct tb_text_lines *lines, size_t n, bool is_ended)
{
	if (n > lines->most)
		return too_long(lines);
	lines->text = lines->buffer + lines->begin;
	lines->begin += n + is_ended;
	lines->number++;
	lines->is_ended = is_ended;
	lines->length = n - (is_ended && n > 0 && lines->text[n - 1] == '\r');
	lines->text[lines->length] = '\0';
	if (!memchr(lines->text, '\0', lines->length))
		return 1;
	return tb_fail_at(lines->error, TB_EFORMAT, lines->file, TB_PLACE_LINE,
		lines->number, "the line has a byte 0: expected text");
}

static int find_line(struct tb_text_lines *lines)
{
	size_t n_searched = 0;
	int status = TB_OK;
	while (status == TB_OK) {
		size_t n = lines->end - lines->begin;
		const char *from = n ? lines->buffer + lines->begin : NULL;
		const char *newline =
			n ? memchr(from + n_searched, '\n', n - n_searched) : NULL;
		if (newline)
			return take_text_line(lines, (size_t)(newline - from), true);
		if (lines->at_end)
			return n > 0 ? take_text_line(lines, n, false) : 0;
		n_searched = n;
		status = n > lines->most ? too_long(lines) : fill_text_buffer(lines);
	}
	return status;
}

int tb_text_lines_next(struct tb_text_lines *lines)
{
	if (lines->status != TB_OK)
		return lines->status;
	int found = find_line(lines);
	if (found > 0 && lines->number == 1 && lines->length >= 3 &&
		memcmp(lines->text, "\xef\xbb\xbf", 3) == 0) {
		lines->text += 3;
		lines->length -= 3;
	}
	lines->status = found < 0 ? found : TB_OK;
	return found;
}

// without_comment returns how long a line is before its comment, as inih has these.
static size_t without_comment(const struct tb_text_lines *lines)
{
	const char *text = lines->text;
	size_t at = strspn(text, " \t");
	if (text[at] == ';' || text[at] == '#')
		return at;
	while (at < lines->length &&
		(text[at] != ';' || at == 0 || !strchr(" \t", text[at - 1])))
		at++;
	return at;
}

char *tb_text_lines_give(char *to, int size, void *context)
{
	struct tb_text_lines *lines = context;
	if (tb_text_lines_next(lines) != 1)
		return NULL;
	size_t n = lines->length;
	if (n + 2 > (size_t)size)
		n = without_comment(lines);
	if (n + 2 > (size_t)size) {
		lines->status = tb_fail_at(lines->error, TB_EFORMAT, lines->file,
			TB_PLACE_LINE, lines->number,
			"the line is longer than %d bytes: go on in an indented line",
			size - 2);
		return NULL;
	}
	memcpy(to, lines->text, n);
	memcpy(to + n, "\n", 2);
	return to;
}

void tb_text_lines_fini(struct tb_text_lines *lines)
{
	free(lines->buffer);
	*lines = (struct tb_text_lines){.status = TB_OK};
}

void tb_line_skip_blanks(const char **at)
{
	*at += strspn(*at, " \t");
}

bool tb_line_eat(const char **at, const char *word)
{
	size_t n = strlen(word);
	tb_line_skip_blanks(at);
	if (strncmp(*at, word, n) != 0)
		return false;
	*at += n;
	return true;
}

bool tb_line_eat_number(const char **at, int base, uint64_t most, uint64_t *number)
{
	tb_line_skip_blanks(at);
	char *end = NULL;
	errno = 0;
	if (!isxdigit((unsigned char)**at))
		return false;
	unsigned long long value = strtoull(*at, &end, base);
	bool is_other_base = *end == 'x' && end == *at + 1 && **at == '0';
	if (end == *at || errno || value > most || is_other_base)
		return false;
	*at = end;
	*number = value;
	return true;
}

char *tb_text_written(FILE *stream, char **text)
{
	bool whole = !ferror(stream);
	if (fclose(stream) == 0 && whole)
		return *text;
	free(*text);
	return NULL;
}
