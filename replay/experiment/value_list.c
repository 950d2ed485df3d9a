#include "value_list.h"

#include "array.h"
#include "units.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX 10000

void tb_value_list_fini(struct tb_value_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->texts[i]);
	free(list->texts);
	*list = (struct tb_value_list){0};
}

static int append(struct tb_value_list *list, const char *text, size_t length,
	struct tb_error *error)
{
	if (list->n == VALUES_MAX)
		return tb_fail(error, TB_ECAPACITY, "more than %d values", VALUES_MAX);
	char *copy = strndup(text, length);
	if (!copy || TB_ARRAY_RESERVE(&list->texts, &list->room, list->n + 1) != TB_OK) {
		free(copy);
		return tb_fail_memory(error, "the values");
	}
	list->texts[list->n++] = copy;
	return TB_OK;
}

static bool value_list_number(enum tb_value_form form, const char *text, double *value)
{
	uint64_t whole = 0;
	if (form == TB_VALUE_REAL || form == TB_VALUE_WORD)
		return tb_parse_real(text, -1e18, 1e18, value) == TB_OK;
	int status = form == TB_VALUE_SIZE
			     ? tb_parse_size(text, &whole)
			     : tb_parse_count(text, 0, UINT64_C(1) << 53, &whole);
	*value = (double)whole;
	return status == TB_OK;
}

#define RANGE_HINT "; expected as 1..5, 0.1..1 step 0.1 or 1K..1M x2"

struct range {
	double first, last, step;
	bool factor;
};

// parse_step reads what follows the last value of a range: nothing, "step S" or "xF".
// Sizes double without it.
static bool parse_step(struct range *range, enum tb_value_form form, char *rest)
{
	range->factor = form == TB_VALUE_SIZE && *rest == '\0';
	range->step = range->factor ? 2 : 1;
	if (*rest == '\0')
		return range->first > 0 || !range->factor;
	if (*rest == 'x') {
		range->factor = true;
		return tb_parse_real(rest + 1, 1.0001, 1e9, &range->step) == TB_OK &&
		       range->first > 0;
	}
	if (strncmp(rest, "step", 4) != 0)
		return false;
	rest += 4 + strspn(rest + 4, " \t");
	return value_list_number(form, rest, &range->step) && range->step > 0;
}

// parse_range reads `item`, in which `dots` stand, and may write into it. TB_EUSAGE says
// which part of it is wrong.
static int parse_range(struct range *range, enum tb_value_form form, char *item,
	char *dots, struct tb_error *error)
{
	char shown[64];
	snprintf(shown, sizeof shown, "%s", item);
	char *last = dots + 2 + strspn(dots + 2, " \t");
	char *rest = last + strcspn(last, " \t");
	char *step = rest + strspn(rest, " \t");
	*rest = '\0';
	while (dots > item && isblank((unsigned char)dots[-1]))
		dots--;
	*dots = '\0';
	const char *wrong = !value_list_number(form, item, &range->first)  ? item
			    : !value_list_number(form, last, &range->last) ? last
									   : NULL;
	if (wrong)
		return tb_fail(error, TB_EUSAGE,
			"'%s' is no range: its %s, '%s', is no %s" RANGE_HINT, shown,
			wrong == item ? "first value" : "last value", wrong,
			form == TB_VALUE_SIZE	 ? "size"
			: form == TB_VALUE_COUNT ? "whole number"
						 : "number");
	if (range->last < range->first)
		return tb_fail(error, TB_EUSAGE,
			"'%s' is no range: its last value, %s, is below the "
			"first" RANGE_HINT,
			shown, last);
	if (*step == '\0' &&
		(range->first != rint(range->first) || range->last != rint(range->last)))
		return tb_fail(error, TB_EUSAGE, "'%s' has no step" RANGE_HINT, shown);
	if (!parse_step(range, form, step))
		return tb_fail(error, TB_EUSAGE,
			"'%s' is no range: its step, '%s', is none" RANGE_HINT, shown,
			step);
	return TB_OK;
}

static int parse_item(struct tb_value_list *list, enum tb_value_form form, char *item,
	struct tb_error *error)
{
	item += strspn(item, " \t");
	size_t length = strlen(item);
	while (length > 0 && isblank((unsigned char)item[length - 1]))
		item[--length] = '\0';
	if (length == 0)
		return tb_fail(error, TB_EUSAGE, "a value is missing");
	char *dots = strstr(item, "..");
	if (!dots || strchr(item, '/')) // ../my.ini is a file
		return append(list, item, length, error);
	struct range range = {0};
	int status = parse_range(&range, form, item, dots, error);
	if (status != TB_OK)
		return status;
	// Multiply the step by a counter, so that the tenth step of 0.1 is 1.
	double slack = 1e-9 * fabs(range.last);
	for (int i = 0; status == TB_OK; i++) {
		double value = range.factor ? range.first * pow(range.step, i)
					    : range.first + i * range.step;
		if (value > range.last + slack)
			break;
		char text[40];
		bool whole = form == TB_VALUE_COUNT || form == TB_VALUE_SIZE;
		snprintf(text, sizeof text, whole ? "%.0f" : "%.10g", value);
		status = append(list, text, strlen(text), error);
	}
	return status;
}

// next_item cuts a list at its next comma outside parentheses, as strsep does.
static char *next_item(char **rest)
{
	char *item = *rest, *at = item;
	for (int depth = 0; at && *at && (*at != ',' || depth > 0); at++)
		depth += (*at == '(') - (*at == ')');
	*rest = at && *at ? at + 1 : NULL;
	if (*rest)
		*at = '\0';
	return item;
}

int tb_value_list_parse(struct tb_value_list *list, enum tb_value_form form,
	const char *text, struct tb_error *error)
{
	char *copy = strdup(text);
	if (!copy)
		return tb_fail_memory(error, "the values");
	int status = TB_OK;
	for (char *rest = copy, *item;
		status == TB_OK && (item = next_item(&rest)) != NULL;)
		// A comma at the end of a line continues the list on the next line.
		if (rest || item == copy || item[strspn(item, " \t")])
			status = parse_item(list, form, item, error);
	free(copy);
	return status;
}

// value_list_join moves the last value to the end of the one before it.
static int value_list_join(struct tb_value_list *list, struct tb_error *error)
{
	char **before = &list->texts[list->n - 2], *joined = NULL;
	if (asprintf(&joined, "%s,%s", *before, list->texts[list->n - 1]) < 0)
		return tb_fail_memory(error, "the values");
	free(*before);
	free(list->texts[--list->n]);
	*before = joined;
	return TB_OK;
}

int tb_value_list_networks(
	struct tb_value_list *list, const char *text, struct tb_error *error)
{
	struct tb_value_list parsed = {0};
	int status = tb_value_list_parse(&parsed, TB_VALUE_WORD, text, error);
	for (size_t i = 0; i < parsed.n && status == TB_OK; i++) {
		const char *item = parsed.texts[i];
		status = append(list, item, strlen(item), error);
		if (status == TB_OK && strchr(item, '=') && list->n > 1)
			status = value_list_join(list, error);
	}
	tb_value_list_fini(&parsed);
	return status;
}
