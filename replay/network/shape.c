#include "shape.h"

#include "text_lines.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PARTS_MOST (UINT32_C(1) << 24)

// What is left of a shape's text, and where it goes wrong.
struct shape_scan {
	const char *at;
	bool bad;
};

static void expect(struct shape_scan *scan, const char *wanted)
{
	scan->bad |= !tb_line_eat(&scan->at, wanted);
}

static uint32_t shape_read_number(struct shape_scan *scan, uint32_t most)
{
	uint64_t value = 0;
	scan->bad |= !tb_line_eat_number(&scan->at, 10, most, &value) || value < 1;
	return (uint32_t)value;
}

static void shape_read_list(
	struct shape_scan *scan, uint32_t n, uint32_t values[TB_SHAPE_LEVELS_MOST])
{
	expect(scan, ";");
	for (uint32_t i = 0; i < n && !scan->bad; i++) {
		if (i > 0)
			expect(scan, ",");
		values[i] = shape_read_number(scan, TB_SHAPE_PORTS_MOST);
	}
}

static void scan_shape(struct shape_scan *scan, struct tb_shape *shape)
{
	tb_line_skip_blanks(&scan->at);
	bool parallel = strncasecmp(scan->at, "pgft", 4) == 0;
	if (!parallel && strncasecmp(scan->at, "xgft", 4) != 0) {
		scan->bad = true;
		return;
	}
	scan->at += 4;
	expect(scan, "(");
	shape->n_levels = shape_read_number(scan, TB_SHAPE_LEVELS_MOST);
	shape_read_list(scan, shape->n_levels, shape->m);
	shape_read_list(scan, shape->n_levels, shape->w);
	if (parallel)
		shape_read_list(scan, shape->n_levels, shape->p);
	for (uint32_t i = 0; i < TB_SHAPE_LEVELS_MOST && !parallel; i++)
		shape->p[i] = 1;
	expect(scan, ")");
	tb_line_skip_blanks(&scan->at);
	scan->bad |= *scan->at != '\0';
}

// fits: products of up to twelve numbers up to 4096, each checked before it grows on.
static bool fits(const struct tb_shape *shape)
{
	uint64_t nodes = 1, n_cables = 0;
	for (uint32_t i = 0; i < shape->n_levels; i++) {
		nodes *= shape->m[i];
		if (nodes > PARTS_MOST ||
			(uint64_t)shape->m[i] * shape->p[i] > TB_SHAPE_PORTS_MOST)
			return false;
	}
	uint64_t above = 1;
	for (uint32_t level = 0; level < shape->n_levels; level++) {
		nodes /= shape->m[level];
		above *= shape->w[level];
		uint64_t n_switches = above * nodes;
		n_cables += n_switches * tb_shape_n_up(shape, level);
		if (above > PARTS_MOST || n_switches > PARTS_MOST ||
			n_cables > PARTS_MOST ||
			tb_shape_n_up(shape, level) > TB_SHAPE_PORTS_MOST)
			return false;
	}
	return true;
}

int tb_shape_parse(struct tb_shape *shape, const char *text, struct tb_error *error)
{
	struct tb_shape made = {0};
	struct shape_scan scan = {.at = text};
	scan_shape(&scan, &made);
	if (scan.bad)
		return tb_fail(error, TB_EUSAGE,
			"shape '%s': expected pgft(h; m1,...,mh; w1,...,wh; p1,...,ph) "
			"or xgft(h; m1,...,mh; w1,...,wh), h up to %d, the others up to "
			"%d, "
			"such as pgft(2; 16,8; 1,8; 1,2)",
			text, TB_SHAPE_LEVELS_MOST, TB_SHAPE_PORTS_MOST);
	if (made.w[0] != 1 || made.p[0] != 1)
		return tb_fail(error, TB_EUSAGE,
			"shape '%s': expected w1 = 1%s: a node has one cable to one "
			"switch (several networks side by side are rails=N)",
			text, made.p[0] != 1 ? " and p1 = 1" : "");
	if (!fits(&made))
		return tb_fail(error, TB_ECAPACITY,
			"shape '%s': more than 2^24 nodes, switches or cables, or more "
			"than %d ports down or up",
			text, TB_SHAPE_PORTS_MOST);
	if (tb_shape_n_nodes(&made) < 2)
		return tb_fail(error, TB_EUSAGE,
			"shape '%s': it has one node, expected two or more", text);
	*shape = made;
	return TB_OK;
}

static bool is_single(const struct tb_shape *shape)
{
	for (uint32_t i = 0; i < shape->n_levels; i++)
		if (shape->p[i] != 1)
			return false;
	return true;
}

// 12 levels of 4 digits and a comma thrice are 180 bytes, but such a tree has far more
// than 2^24 nodes; what is longer than the room is cut.
char *tb_shape_text(const struct tb_shape *shape, char buffer[TB_SHAPE_TEXT])
{
	bool single = is_single(shape);
	const uint32_t *lists[] = {shape->m, shape->w, single ? NULL : shape->p};
	size_t n = (size_t)snprintf(buffer, TB_SHAPE_TEXT, "%s(%" PRIu32,
		single ? "xgft" : "pgft", shape->n_levels);
	for (size_t i = 0; i < 3 && lists[i]; i++)
		for (uint32_t level = 0; level < shape->n_levels && n < TB_SHAPE_TEXT;
			level++)
			n += (size_t)snprintf(buffer + n, TB_SHAPE_TEXT - n, "%s%" PRIu32,
				level ? "," : "; ", lists[i][level]);
	if (n < TB_SHAPE_TEXT)
		snprintf(buffer + n, TB_SHAPE_TEXT - n, ")");
	return buffer;
}

struct tb_shape tb_shape_kary(uint32_t arity, uint32_t levels)
{
	struct tb_shape shape = {.n_levels = levels};
	for (uint32_t i = 0; i < levels && i < TB_SHAPE_LEVELS_MOST; i++) {
		shape.m[i] = arity;
		shape.w[i] = i ? arity : 1;
		shape.p[i] = 1;
	}
	return shape;
}

bool tb_shape_is_kary(const struct tb_shape *shape)
{
	uint32_t k = shape->m[0];
	for (uint32_t i = 0; i < shape->n_levels; i++)
		if (shape->m[i] != k || shape->w[i] != (i ? k : 1) || shape->p[i] != 1)
			return false;
	return k > 1;
}

uint32_t tb_shape_n_nodes(const struct tb_shape *shape)
{
	uint32_t n = 1;
	for (uint32_t i = 0; i < shape->n_levels; i++)
		n *= shape->m[i];
	return n;
}

uint32_t tb_shape_n_switches(const struct tb_shape *shape, uint32_t level)
{
	uint32_t n = 1;
	for (uint32_t i = 0; i < shape->n_levels; i++)
		n *= i <= level ? shape->w[i] : shape->m[i];
	return n;
}

uint32_t tb_shape_n_down(const struct tb_shape *shape, uint32_t level)
{
	return shape->m[level] * shape->p[level];
}

uint32_t tb_shape_n_up(const struct tb_shape *shape, uint32_t level)
{
	if (level + 1 >= shape->n_levels)
		return 0;
	return shape->w[level + 1] * shape->p[level + 1];
}

// each_value calls `read` for each word of a list by level, then repeats the last.
static int each_value(const char *text, void *values,
	int (*read)(void *values, uint32_t i, const char *))
{
	char word[64];
	uint32_t n = 0;
	for (const char *at = text + strspn(text, " \t"); *at;) {
		size_t length = strcspn(at, " \t");
		if (n == TB_SHAPE_LEVELS_MOST || length >= sizeof word)
			return TB_EUSAGE;
		memcpy(word, at, length);
		word[length] = '\0';
		int status = read(values, n++, word);
		if (status != TB_OK)
			return status;
		at += length;
		at += strspn(at, " \t");
	}
	for (uint32_t i = n; n > 0 && i < TB_SHAPE_LEVELS_MOST; i++)
		if (read(values, i, word) != TB_OK)
			return TB_EUSAGE;
	return n > 0 ? TB_OK : TB_EUSAGE;
}

static int shape_read_rate(void *values, uint32_t i, const char *word)
{
	uint64_t rate = 0;
	if (tb_parse_rate(word, &rate) != TB_OK || rate < 1000000 ||
		rate > UINT64_C(1000000000000))
		return TB_EUSAGE;
	((uint64_t *)values)[i] = rate;
	return TB_OK;
}

static int read_time(void *values, uint32_t i, const char *word)
{
	tb_time_ps time = 0;
	if (tb_parse_time(word, &time) != TB_OK || time < 1 || time > TB_PS_PER_S)
		return TB_EUSAGE;
	((tb_time_ps *)values)[i] = time;
	return TB_OK;
}

uint32_t tb_shape_n_values(const char *text)
{
	uint32_t n = 0;
	for (text += strspn(text, " \t"); *text; n++) {
		text += strcspn(text, " \t");
		text += strspn(text, " \t");
	}
	return n;
}

int tb_shape_rates(uint64_t bytes_per_s[TB_SHAPE_LEVELS_MOST], const char *text)
{
	return each_value(text, bytes_per_s, shape_read_rate);
}

int tb_shape_times(tb_time_ps ps[TB_SHAPE_LEVELS_MOST], const char *text)
{
	return each_value(text, ps, read_time);
}
