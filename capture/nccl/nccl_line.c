// The lines of a log: what is before NCCL's own text, and the words in it.
#include "nccl_impl.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MARK "NCCL INFO "

// digits reads a whole number of at most 19 digits that ends at `end`.
static bool digits(const char *text, const char *end, uint64_t *number)
{
	uint64_t value = 0;
	if (text == end || end - text > 19)
		return false;
	for (; text < end; text++) {
		if (!isdigit((unsigned char)*text))
			return false;
		value = value * 10 + (uint64_t)(*text - '0');
	}
	*number = value;
	return true;
}

static const char *back_over(const char *begin, const char *at, bool blanks)
{
	while (at > begin && (at[-1] == ' ' || at[-1] == '\t') == blanks)
		at--;
	return at;
}

// line_read_device reads "[0] " backwards from `at`, also with RCCL's microseconds behind
// it, and returns where it begins; NULL: there is none.
static const char *line_read_device(
	struct nl_line *line, const char *begin, const char *at)
{
	uint64_t number;
	const char *end = back_over(begin, at, true),
		   *word = back_over(begin, end, false);
	if (digits(word, end, &number) && number < UINT64_MAX / 1000) {
		line->has_time = true;
		line->at_ns = number * 1000;
		end = back_over(begin, word, true);
		word = back_over(begin, end, false);
	}
	if (end - word < 3 || *word != '[' || end[-1] != ']')
		return NULL;
	line->device = NL_NONE;
	if (digits(word + 1, end - 1, &number) && number < NL_NONE)
		line->device = (uint32_t)number;
	return word;
}

static const char *last_in_set(const char *begin, const char *end, const char *set)
{
	while (end > begin && !strchr(set, end[-1]))
		end--;
	return end;
}

// read_process reads "HOST:PID:TID" backwards from `at`, where a launcher may have put
// something before the host ("[1,0]<stdout>:").
static const char *read_process(struct nl_line *line, const char *begin, const char *at)
{
	const char *end = back_over(begin, at, true),
		   *word = back_over(begin, end, false);
	const char *thread = last_in_set(word, end, ":");
	const char *pid = thread > word ? last_in_set(word, thread - 1, ":") : word;
	if (pid == word || !digits(thread, end, &line->thread) ||
		!digits(pid, thread - 1, &line->pid))
		return NULL;
	line->host = last_in_set(word, pid - 1, ":>");
	if (line->host == pid - 1) // a name in brackets, as in published logs
		line->host = last_in_set(word, pid - 1, ":");
	line->host_n = (size_t)(pid - 1 - line->host);
	return line->host_n > 0 && line->host_n < 256 ? word : NULL;
}

// line_read_time reads "[2026-11-26 10:00:00.123]" that ends before `at`.
static void line_read_time(struct nl_line *line, const char *begin, const char *at)
{
	struct tm when = {0};
	const char *end = back_over(begin, at, true);
	if (end == begin || end[-1] != ']')
		return;
	const char *from = last_in_set(begin, end, "[");
	const char *rest = from < end ? strptime(from, "%Y-%m-%d %H:%M:%S", &when) : NULL;
	time_t seconds = rest ? timegm(&when) : -1;
	if (seconds < 0 || seconds > UINT32_MAX)
		return;
	line->has_time = true;
	line->at_ns = (uint64_t)seconds * 1000000000;
	if (*rest != '.' && *rest != ',')
		return;
	uint64_t part = 100000000;
	for (rest++; isdigit((unsigned char)*rest); rest++, part /= 10)
		line->at_ns += (uint64_t)(*rest - '0') * part;
}

bool tb_nl_line(struct nl_line *line, const char *text)
{
	const char *mark = strstr(text, MARK);
	struct nl_line made = {0};
	if (!mark)
		return false;
	const char *at = line_read_device(&made, text, mark);
	at = at ? read_process(&made, text, at) : NULL;
	if (!at)
		return false;
	if (!made.has_time)
		line_read_time(&made, text, at);
	made.text = mark + strlen(MARK);
	*line = made;
	return true;
}

// text_behind returns what stands behind a word that begins a word of the text.
static const char *text_behind(const char *text, const char *word)
{
	for (const char *at = text; (at = strstr(at, word)); at++)
		if (at == text || at[-1] == ' ' || at[-1] == '[')
			return at + strlen(word);
	return NULL;
}

static bool line_read_number(const char *text, int base, uint64_t *number)
{
	char *end;
	if (!text || !(base == 16 ? isxdigit((unsigned char)*text)
				  : isdigit((unsigned char)*text)))
		return false;
	*number = strtoull(text, &end, base);
	return *end == '\0' || isspace((unsigned char)*end) || *end == ']';
}

bool tb_nl_number(const char *text, const char *word, uint64_t *number)
{
	return line_read_number(text_behind(text, word), 10, number);
}

bool tb_nl_hex(const char *text, const char *word, uint64_t *number)
{
	const char *at = text_behind(text, word);
	if (at && strncmp(at, "(nil)", 5) == 0) {
		*number = 0;
		return true;
	}
	return line_read_number(at, 16, number);
}

void tb_nl_count(struct nl_counts *counts, const char *text, size_t n)
{
	if (n >= sizeof counts->rows[0].text)
		n = sizeof counts->rows[0].text - 1;
	for (size_t i = 0; i < counts->n; i++) {
		struct nl_count *row = &counts->rows[i];
		if (strlen(row->text) != n || memcmp(row->text, text, n) != 0)
			continue;
		row->n++;
		return;
	}
	if (counts->n == NL_COUNTS_MAX) {
		counts->n_more++;
		return;
	}
	struct nl_count *row = &counts->rows[counts->n++];
	memcpy(row->text, text, n);
	row->text[n] = '\0';
	row->n = 1;
}

// "NCCL version 2.28.3+cuda13.0", "RCCL version 2.18.3+hip6.0", "RCCL version : 2.20.5".
void tb_nl_version(struct nl_log *log, const char *text)
{
	const char *at = strstr(text, "CCL version ");
	if (!at || at == text || (at[-1] != 'N' && at[-1] != 'R'))
		return;
	const char *number = at + strlen("CCL version ");
	number += strspn(number, ": ");
	size_t n = strcspn(number, " \t,;");
	char name[64];
	if (!isdigit((unsigned char)*number) || n > 40)
		return;
	int length = snprintf(name, sizeof name, "%cCCL %.*s", at[-1], (int)n, number);
	tb_nl_count(&log->versions, name, (size_t)length);
}
