#include "facts.h"

#include "array.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MOST 4096

struct kept_fact {
	const char *name;
	char *text;
};

struct tb_facts {
	struct kept_fact *rows;
	size_t n, room;
	bool failed;
};

int tb_facts_new(struct tb_facts **facts, struct tb_error *error)
{
	struct tb_facts *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "what a trace tells");
	*facts = made;
	return TB_OK;
}

void tb_facts_free(struct tb_facts *facts)
{
	for (size_t i = 0; facts && i < facts->n; i++)
		free(facts->rows[i].text);
	if (facts)
		free(facts->rows);
	free(facts);
}

void tb_facts_add(struct tb_facts *facts, const char *name, const char *format, ...)
{
	char text[TEXT_MOST];
	va_list values;
	va_start(values, format);
	vsnprintf(text, sizeof text, format, values);
	va_end(values);
	char *copy = strdup(text);
	if (!copy || TB_ARRAY_NEXT(facts, rows) != TB_OK) {
		free(copy);
		facts->failed = true;
		return;
	}
	facts->rows[facts->n++] = (struct kept_fact){name, copy};
}

int tb_facts_check(const struct tb_facts *facts, struct tb_error *error)
{
	return facts->failed ? tb_fail_memory(error, "what a trace tells") : TB_OK;
}

bool tb_facts_at(
	const struct tb_facts *facts, size_t i, const char **name, const char **text)
{
	if (i >= facts->n)
		return false;
	*name = facts->rows[i].name;
	*text = facts->rows[i].text;
	return true;
}
