// Errors: status codes, and a sentence about what is wrong and where.
//
// A call that can fail returns TB_OK (0) or a negative enum tb_status; iterators return 1
// (an item), 0 (the end) or a negative status. An optional last argument, struct tb_error
// *, receives the file, the place in it and a sentence; it may be NULL. Libraries never
// print and never exit: the program prints the struct tb_error.
#ifndef TB_STATUS_H
#define TB_STATUS_H

#include <stdarg.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TB_MUST_USE	  __attribute__((warn_unused_result))
#define TB_PRINTF(f, arg) __attribute__((format(printf, f, arg)))
#else
#define TB_MUST_USE
#define TB_PRINTF(f, arg)
#endif

enum tb_status {
	TB_OK = 0,
	TB_EUSAGE = -1,	  // an argument or option makes no sense
	TB_ENOMEM = -2,	  // no memory
	TB_EIO = -3,	  // the system refused: open, read, write, permission, disk full
	TB_EFORMAT = -4,  // the input has the right format, but is broken
	TB_EFOREIGN = -5, // the input has another format: try the next reader
	TB_EVERSION = -6, // written by a version of the program that this one cannot read
	TB_ECAPACITY = -7, // exceeds a limit, of the network or of a format
	TB_EDEADLOCK = -8, // operations wait for each other for ever
	TB_ESTOPPED = -9,  // stopped early on request (a signal, the user)
	TB_ESTALE = -10,   // what was read has been written anew meanwhile: read it again
};

// TB_THEN(status, call) makes a call and keeps its status, unless one before it failed.
#define TB_THEN(status, call) ((status) = (status) == TB_OK ? (call) : (status))

// Where an error lies within its file.
enum tb_place { TB_PLACE_NONE, TB_PLACE_LINE, TB_PLACE_OFFSET, TB_PLACE_RECORD };

struct tb_error {
	enum tb_status code;
	enum tb_place place;
	uint64_t at;	// line or record number (from 1) or byte offset, see `place`
	char file[256]; // name as the user gave it; only its end if too long; "" if none
	char text[512]; // a sentence without full stop: what was found, what was expected
};

// tb_fail fills `error` (unless NULL) without file and place, and returns `code`.
int tb_fail(struct tb_error *error, enum tb_status code, const char *format, ...)
	TB_PRINTF(3, 4);

// tb_fail_in also names the file.
int tb_fail_in(struct tb_error *error, enum tb_status code, const char *file,
	const char *format, ...) TB_PRINTF(4, 5);

// tb_fail_at also names the file and the place in it.
int tb_fail_at(struct tb_error *error, enum tb_status code, const char *file,
	enum tb_place place, uint64_t at, const char *format, ...) TB_PRINTF(6, 7);

// tb_fail_memory fills `error` (unless NULL) with "no memory for WHAT", such as "no
// memory for 12 links", and returns TB_ENOMEM.
int tb_fail_memory(struct tb_error *error, const char *what, ...) TB_PRINTF(2, 3);

// tb_fail_memory_in also names the file.
int tb_fail_memory_in(struct tb_error *error, const char *file, const char *what, ...)
	TB_PRINTF(3, 4);

// tb_error_format writes "file:line: sentence" (or "file: offset N: sentence", "file:
// record N: sentence") into buffer, always terminated, and returns buffer. An error with
// a place but no file is in "input". The text is in its visible form (visible.h), because
// names and sentences may quote a stranger's bytes.
char *tb_error_format(const struct tb_error *error, char *buffer, int size);

#endif
