// Reads text line by line, for all formats that have lines.
//
// A line is text up to a newline, or to the end of the file. What cannot be read is
// another answer than the end: a stream that fails, a line beyond the limit, no memory
// for one, and a byte 0, which no text has. A byte order mark of UTF-8, which editors and
// shells of Windows put first, is no part of the first line. Memory: twice the longest
// line, and 64 KiB. One thread at a time per object.
#ifndef TB_TEXT_LINES_H
#define TB_TEXT_LINES_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// The longest line by default. Headers of Paraver traces name every thread of a program
// in one: a few bytes for each.
#define TB_TEXT_LINE_MOST (size_t)(64 << 20)

struct tb_text_lines {
	char *text;	 // the line, without its end ("\n" or "\r\n")
	size_t length;	 // of the text
	bool is_ended;	 // by a newline, not by the end of the file
	uint64_t number; // of the line, from 1; 0: none was read yet
	size_t most;	 // bytes in a line; set it before the first
	int status;	 // TB_OK, or why reading ended: then for good
	// Private.
	FILE *stream;
	const char *file;
	struct tb_error *error;
	char *buffer;
	size_t room, begin, end;
	bool at_end;
};

// tb_text_lines_init begins to read the stream, of which it may read more than it gives
// out. `file` is for errors, which go to `error` (may be NULL); all are borrowed.
void tb_text_lines_init(struct tb_text_lines *lines, FILE *stream, const char *file,
	struct tb_error *error);

// tb_text_lines_next reads a line: 1, 0 at the end, TB_EFORMAT for one that is too long
// or has a byte 0 (the error has the line's number), TB_EIO, TB_ENOMEM. The caller may
// change the text, which lives until the next call.
int tb_text_lines_next(struct tb_text_lines *lines) TB_MUST_USE;

// tb_text_lines_give hands a line with its newline to inih, which reads as by fgets into
// `size` bytes (`lines` is a struct tb_text_lines): NULL at the end, and when reading
// failed or the line does not fit, also without its comment, for which look at
// lines->status.
char *tb_text_lines_give(char *to, int size, void *lines);

// Scanning within a line: `*at` moves behind what was found, and stays where nothing was.

// tb_line_skip_blanks skips blanks and tabs, as the others do first.
void tb_line_skip_blanks(const char **at);

// tb_line_eat returns whether `word` stands there.
bool tb_line_eat(const char **at, const char *word);

// tb_line_eat_number stores a number of up to `most`; of base 16 "0x" may stand before
// it. No sign may; false also for what is larger.
bool tb_line_eat_number(const char **at, int base, uint64_t most, uint64_t *number);

// tb_text_written closes a stream of open_memstream and returns its text, which the
// caller frees; NULL, with nothing to free, where memory ended. That fclose returns 0
// does not show that it did not: the GNU C library may then leave no text, or a part.
char *tb_text_written(FILE *stream, char **text) TB_MUST_USE;

// tb_text_lines_fini frees the last line; a zeroed struct is fine. The stream stays open.
void tb_text_lines_fini(struct tb_text_lines *lines);

#endif
