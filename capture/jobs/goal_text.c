// Reads GOAL's text form in one pass, line by line, without an allocation per operation.
//
// The grammar is that of LogGOPSim's txt2bin, where a statement ends with its line. This
// reader also accepts a comment or `}` after a statement, attributes in any order, and
// ranks in any order or without a block. A line of its own, `// planned` or
// `// not planned`, sets for the messages below it whether a library planned them of a
// collective call (`planned` of struct tb_op); a block begins without.
#include "goal.h"
#include "goal_names.h"
#include "labels.h"
#include "text_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MOST (size_t)(128 << 10)

struct scanner {
	struct tb_text_lines lines;
	const char *name;
	struct tb_error *error;
	const char *at;			// next character to read, in the current line
	uint64_t line;			// number of this line
	bool in_comment;		// a /* of an earlier line is still open
	struct tb_job_builder *builder; // NULL before num_ranks
	uint32_t n_ranks;
	uint8_t *seen; // by rank: its block was read
	bool in_rank;
	bool planned; // the messages that come next are
	uint32_t rank;
	uint64_t rank_line;
	struct tb_labels labels;
	struct tb_goal_names names;
};

#define FAIL(s, code, ...)                                                               \
	tb_fail_at((s)->error, (code), (s)->name, TB_PLACE_LINE, (s)->line, __VA_ARGS__)

// expected fails with what was found instead of `what`.
static int expected(const struct scanner *s, const char *what)
{
	char found[24];
	size_t n = 0;
	while (n < sizeof found - 1 && s->at[n] > ' ' && s->at[n] < 127)
		n++;
	memcpy(found, s->at, n);
	found[n] = '\0';
	// Before num_ranks it may be a file of another format.
	enum tb_status code = s->builder ? TB_EFORMAT : TB_EFOREIGN;
	if (n > 0)
		return FAIL(s, code, "expected %s, found '%s'", what, found);
	if (*s->at == '\n')
		return FAIL(s, code, "expected %s, found the end of the line", what);
	return FAIL(s, code, "expected %s, found the byte 0x%02x", what,
		(unsigned)(unsigned char)*s->at);
}

// located adds file and line to an error of the builder, which knows neither.
static int located(const struct scanner *s, int status)
{
	if (status == TB_OK || !s->error)
		return status;
	struct tb_error found = *s->error;
	return FAIL(s, found.code, "%s", found.text);
}

// goal_next_line moves to the next line: 1, 0 at the end, or negative. It ends each line
// with
// '\n', so that the scanner needs no other test for the end.
static int goal_next_line(struct scanner *s)
{
	int found = tb_text_lines_next(&s->lines);
	s->at = "\n";
	if (found == TB_EFORMAT && !s->builder) // no text: perhaps another format
		return tb_fail_in(s->error, TB_EFOREIGN, s->name, "is no GOAL text");
	if (found <= 0)
		return found;
	s->lines.text[s->lines.length] = '\n';
	s->at = s->lines.text;
	s->line = s->lines.number;
	return 1;
}

static void skip_comments(struct scanner *s)
{
	for (;;) {
		if (s->in_comment) {
			// Move past the comment, or to the end of the line if it goes on.
			while (*s->at != '\n' && !(s->at[0] == '*' && s->at[1] == '/'))
				s->at++;
			s->in_comment = *s->at == '\n';
			s->at += s->in_comment ? 0 : 2;
			if (s->in_comment)
				return;
		}
		while (*s->at == ' ' || *s->at == '\t' || *s->at == '\r')
			s->at++;
		if (s->at[0] != '/')
			return;
		if (s->at[1] == '/') {
			while (*s->at != '\n')
				s->at++;
			return;
		}
		if (s->at[1] != '*')
			return;
		s->at += 2;
		s->in_comment = true;
	}
}

static inline void skip_blank(struct scanner *s)
{
	const char *at = s->at;
	while (*at == ' ' && !s->in_comment)
		at++;
	s->at = at;
	if (s->in_comment || *at == '/' || *at == '\t' || *at == '\r')
		skip_comments(s);
}

// take_mark takes a comment that marks the messages below it, or names something.
static int take_mark(struct scanner *s)
{
	if (*s->at != '/')
		return TB_OK;
	size_t n = strcspn(s->at, "\r\n");
	for (int planned = 0; planned <= 1 && !s->in_comment; planned++) {
		const char *mark = planned ? TB_GOAL_PLANNED : TB_GOAL_NOT_PLANNED;
		if (n == strlen(mark) && memcmp(s->at, mark, n) == 0)
			s->planned = planned;
	}
	if (!s->in_rank || s->in_comment ||
		tb_goal_names_comment(&s->names, s->rank, s->at) == TB_OK)
		return TB_OK;
	return tb_fail_memory_in(s->error, s->name, "its names");
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

// word_length returns the length of the word (a letter, then letters, digits and _) here.
static size_t word_length(const struct scanner *s)
{
	const char *at = s->at;
	if (is_letter(*at))
		while (is_digit(*at) || is_letter(*at) || *at == '_')
			at++;
	return (size_t)(at - s->at);
}

// goal_take_word moves past `word` if that is the next one.
static inline bool goal_take_word(struct scanner *s, const char *word)
{
	const char *at = s->at;
	for (; *word; word++, at++)
		if (*at != *word)
			return false;
	if (is_letter(*at) || is_digit(*at) || *at == '_')
		return false;
	s->at = at;
	skip_blank(s);
	return true;
}

// goal_number reads a whole number up to `max`; `what` names it in messages.
static int goal_number(struct scanner *s, const char *what, uint64_t max, uint64_t *value)
{
	uint64_t sum = 0;
	const char *at = s->at;
	if (!is_digit(*at))
		return expected(s, what);
	for (; is_digit(*at); at++) {
		uint64_t digit = (uint64_t)(*at - '0');
		if (sum > (max - digit) / 10)
			return FAIL(
				s, TB_EFORMAT, "%s must be at most %" PRIu64, what, max);
		sum = sum * 10 + digit;
	}
	s->at = at;
	skip_blank(s);
	*value = sum;
	return TB_OK;
}

// number_or_any also accepts -1, for TB_ANY, if `any` is set.
static int number_or_any(struct scanner *s, const char *what, bool any, uint32_t *value)
{
	uint64_t n = TB_ANY;
	if (any && s->at[0] == '-' && s->at[1] == '1' && !is_digit(s->at[2])) {
		s->at += 2;
		skip_blank(s);
	} else {
		int status = goal_number(s, what, TB_ANY - 1, &n);
		if (status != TB_OK)
			return status;
	}
	*value = (uint32_t)n;
	return TB_OK;
}

// attributes reads the tag (of sends and receives), cpu and nic after an operation.
static int attributes(struct scanner *s, struct tb_op *op)
{
	bool tag = op->kind == TB_OP_CALC, cpu = false, nic = false;
	for (;;) {
		uint64_t value = 0;
		int status = TB_OK;
		if (*s->at == '\n' || *s->at == '}')
			return TB_OK;
		if (!tag && goal_take_word(s, "tag")) {
			tag = true;
			status = number_or_any(
				s, "a tag", op->kind == TB_OP_RECV, &op->tag);
		} else if (!cpu && goal_take_word(s, "cpu")) {
			cpu = true;
			status = goal_number(s, "a cpu", UINT8_MAX, &value);
			op->cpu = (uint8_t)value;
		} else if (!nic && goal_take_word(s, "nic")) {
			nic = true;
			status = goal_number(s, "a nic", UINT8_MAX, &value);
			op->nic = (uint8_t)value;
		} else {
			return expected(
				s, op->kind == TB_OP_CALC
					   ? "'cpu', 'nic' or the end of the line"
					   : "'tag', 'cpu', 'nic' or the end of the "
					     "line");
		}
		if (status != TB_OK)
			return status;
	}
}

// parse_message reads "8b to 1" or "8b from 1".
static int parse_message(struct scanner *s, struct tb_op *op)
{
	bool send = op->kind == TB_OP_SEND;
	int status = goal_number(s, "a size in bytes", INT64_MAX, &op->amount);
	if (status != TB_OK)
		return status;
	if (!goal_take_word(s, "b"))
		return expected(s, "'b' behind the size");
	if (!goal_take_word(s, send ? "to" : "from"))
		return expected(s, send ? "'to'" : "'from'");
	status = number_or_any(s, "a rank", !send, &op->peer);
	if (status == TB_OK && op->peer >= s->n_ranks && op->peer != TB_ANY)
		return FAIL(s, TB_EFORMAT,
			"rank %" PRIu32
			" is out of range: the job has ranks 0 to %" PRIu32,
			op->peer, s->n_ranks - 1);
	return status;
}

// operation reads an operation, after its label if it has one (`label_length` above 0).
static int operation(
	struct scanner *s, const char *label, size_t label_length, const char *what)
{
	struct tb_op op = {0};
	int status;
	if (goal_take_word(s, "send")) {
		op.kind = TB_OP_SEND;
		status = parse_message(s, &op);
	} else if (goal_take_word(s, "recv")) {
		op.kind = TB_OP_RECV;
		status = parse_message(s, &op);
	} else if (goal_take_word(s, "calc")) {
		op.kind = TB_OP_CALC;
		status = goal_number(s, "a time in ns", INT64_MAX, &op.amount);
	} else {
		return expected(s, what);
	}
	TB_THEN(status, attributes(s, &op));
	if (status != TB_OK)
		return status;
	op.planned = s->planned && op.kind != TB_OP_CALC;
	// Deadlocks and unmatched messages are found only at the end, and name this line.
	tb_job_builder_set_line(s->builder, s->line);
	uint32_t index = tb_job_add(s->builder, s->rank, &op);
	status = tb_job_builder_check(s->builder, s->error);
	if (status != TB_OK || label_length == 0)
		return located(s, status);
	int put = tb_labels_put(&s->labels, label, label_length, index);
	if (put < 0)
		return located(s, tb_fail_memory(s->error, "more labels"));
	if (put == 0)
		return FAIL(s, TB_EFORMAT, "rank %" PRIu32 " has a second label '%.*s'",
			s->rank, (int)label_length, label);
	return TB_OK;
}

static int find_label(
	struct scanner *s, const char *label, size_t length, uint32_t *index)
{
	if (tb_labels_find(&s->labels, label, length, index))
		return TB_OK;
	return FAIL(s, TB_EFORMAT,
		"no operation of rank %" PRIu32 " above has label '%.*s'", s->rank,
		(int)length, label);
}

static int dependency(struct scanner *s, const char *label, size_t length, bool on_start)
{
	uint32_t index, on;
	size_t on_length = word_length(s);
	if (on_length == 0)
		return expected(s, "a label");
	int status = find_label(s, label, length, &index);
	TB_THEN(status, find_label(s, s->at, on_length, &on));
	if (status != TB_OK)
		return status;
	s->at += on_length;
	skip_blank(s);
	if (*s->at != '\n' && *s->at != '}')
		return expected(s, "the end of the line");
	tb_job_depend(s->builder, s->rank, index, on, on_start);
	return located(s, tb_job_builder_check(s->builder, s->error));
}

static int read_n_ranks(struct scanner *s)
{
	uint64_t n = 0;
	int status = goal_number(s, "a number of ranks", TB_RANKS_MAX, &n);
	if (status != TB_OK)
		return status;
	if (n == 0)
		return FAIL(s, TB_EFORMAT, "a job has at least one rank");
	s->n_ranks = (uint32_t)n;
	s->seen = calloc(n, 1);
	if (!s->seen)
		return located(s, tb_fail_memory(s->error, "%" PRIu64 " ranks", n));
	return located(s, tb_job_builder_new(&s->builder, s->n_ranks, s->error));
}

// open_rank reads "3 {"; the brace may be on a later line.
static int open_rank(struct scanner *s)
{
	uint64_t rank = 0;
	int status = goal_number(s, "a rank", UINT32_MAX, &rank);
	if (status != TB_OK)
		return status;
	if (rank >= s->n_ranks)
		return FAIL(s, TB_EFORMAT,
			"rank %" PRIu64
			" is out of range: the job has ranks 0 to %" PRIu32,
			rank, s->n_ranks - 1);
	if (s->seen[rank])
		return FAIL(s, TB_EFORMAT, "rank %" PRIu64 " has a second block", rank);
	s->rank_line = s->line;
	while (*s->at == '\n') {
		status = goal_next_line(s);
		if (status < 0)
			return status;
		if (status == 0)
			break;
		skip_blank(s);
	}
	if (*s->at != '{')
		return expected(s, "'{'");
	s->at++;
	s->rank = (uint32_t)rank;
	s->seen[rank] = 1;
	s->in_rank = true;
	s->planned = false;
	tb_labels_clear(&s->labels);
	return TB_OK;
}

static int parse_rank_item(struct scanner *s)
{
	if (s->in_rank && *s->at == '}') {
		s->at++;
		s->in_rank = false;
		return TB_OK;
	}
	if (s->in_rank) {
		// Read one line of a rank's block.
		static const char what[] = "an operation, a label or '}'";
		size_t length = word_length(s);
		if (length == 0)
			return expected(s, what);
		if (length == 4 &&
			(memcmp(s->at, "send", 4) == 0 || memcmp(s->at, "recv", 4) == 0 ||
				memcmp(s->at, "calc", 4) == 0))
			return operation(s, NULL, 0, what);
		const char *label = s->at;
		s->at += length;
		skip_blank(s);
		if (*s->at == ':') {
			s->at++;
			skip_blank(s);
			return operation(s, label, length, "'send', 'recv' or 'calc'");
		}
		if (goal_take_word(s, "requires"))
			return dependency(s, label, length, false);
		if (goal_take_word(s, "irequires"))
			return dependency(s, label, length, true);
		return expected(s, "':', 'requires' or 'irequires' behind the label");
	}
	if (!s->builder)
		return goal_take_word(s, "num_ranks") ? read_n_ranks(s)
						      : expected(s, "'num_ranks'");
	return goal_take_word(s, "rank") ? open_rank(s) : expected(s, "'rank'");
}

static int goal_scan(struct scanner *s)
{
	int more;
	while ((more = goal_next_line(s)) > 0) {
		if (take_mark(s) != TB_OK)
			return TB_ENOMEM;
		for (skip_blank(s); *s->at != '\n'; skip_blank(s)) {
			int status = parse_rank_item(s);
			if (status != TB_OK)
				return status;
		}
	}
	if (more < 0)
		return more;
	if (s->in_comment)
		return FAIL(s, TB_EFORMAT, "the comment is not closed with '*/'");
	if (s->in_rank)
		return FAIL(s, TB_EFORMAT,
			"the file ends within rank %" PRIu32
			", which began in line %" PRIu64 ": expected '}'",
			s->rank, s->rank_line);
	if (!s->builder)
		return tb_fail_in(
			s->error, TB_EFORMAT, s->name, "is empty: expected 'num_ranks'");
	return TB_OK;
}

int tb_goal_text_read(
	struct tb_job **job, FILE *stream, const char *name, struct tb_error *error)
{
	struct scanner s = {.name = name, .error = error};
	tb_text_lines_init(&s.lines, stream, name, error);
	s.lines.most = LINE_MOST;
	int status = goal_scan(&s);
	TB_THEN(status, tb_goal_finish(s.builder, &s.names, name, job, error));
	tb_job_builder_free(s.builder);
	tb_goal_names_fini(&s.names);
	tb_labels_fini(&s.labels);
	free(s.seen);
	tb_text_lines_fini(&s.lines);
	return status;
}
