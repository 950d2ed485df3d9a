#include "cabling_names.h"

#include "network.h"
#include "visible.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A name with a GUID behind it has room for a port behind that, too.
enum { GUID_DIGITS = 16, NAME_MOST = TB_IDENTITY_NAME_MOST - 7 - GUID_DIGITS };

static bool are_hex(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

bool tb_cabling_is_guid(const char *name)
{
	return strncmp(name, "0x", 2) == 0 && strlen(name) == 2 + GUID_DIGITS &&
	       are_hex(name + 2, GUID_DIGITS);
}

size_t tb_cabling_host_bytes(const char *name)
{
	const char *last = strrchr(name, ' ');
	if (last && strlen(last + 1) == GUID_DIGITS && are_hex(last + 1, GUID_DIGITS))
		return strlen(name);
	return strcspn(name, " ");
}

// is_product: "MT4129 ConnectX7   Mellanox Technologies", which is what a card says whose
// driver set no name.
static bool is_product(const char *name)
{
	return *name == '\0' || strstr(name, "Technologies") ||
	       (strncmp(name, "MT", 2) == 0 && isdigit((unsigned char)name[2]) &&
		       strchr(name, ' '));
}

// digits_of returns how many digits a number has without leading zeros, and skips those.
static size_t digits_of(const char **text, const char *end)
{
	const char *at = *text;
	while (at < end && *at == '0')
		at++;
	*text = at;
	while (at < end && isdigit((unsigned char)*at))
		at++;
	return (size_t)(at - *text);
}

static int compare_numbers(
	const char **one, const char *one_end, const char **other, const char *other_end)
{
	size_t n = digits_of(one, one_end), n_other = digits_of(other, other_end);
	int order = n == n_other ? memcmp(*one, *other, n) : n < n_other ? -1 : 1;
	*one += n;
	*other += n_other;
	return order;
}

int tb_cabling_compare(const char *one, size_t n_one, const char *other, size_t n_other)
{
	const char *a = one, *a_end = one + n_one, *b = other, *b_end = other + n_other;
	while (a < a_end && b < b_end) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			int order = compare_numbers(&a, a_end, &b, b_end);
			if (order != 0)
				return order;
		} else if (*a != *b) {
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		} else {
			a++;
			b++;
		}
	}
	if (a < a_end || b < b_end)
		return a < a_end ? 1 : -1;
	// "n1" and "n01"
	if (n_one != n_other)
		return n_one < n_other ? -1 : 1;
	return memcmp(one, other, n_one);
}

struct named {
	const char *name;
	uint32_t device;
};

static int cabling_by_name(const void *one, const void *other)
{
	const struct named *a = one, *b = other;
	int order = strcmp(a->name, b->name);
	if (order != 0)
		return order;
	return a->device < b->device ? -1 : a->device > b->device;
}

static int rename_device(struct tb_cabling *cabling, uint32_t device, char *name)
{
	if (!name)
		return tb_cabling_no_memory(cabling);
	free(cabling->devices[device].name);
	cabling->devices[device].name = name;
	return TB_OK;
}

// add_guid gives a device its GUID as name, or behind its name; where its file has none,
// the LID that stands for it.
static int add_guid(struct tb_cabling *cabling, uint32_t device, bool behind)
{
	const struct tb_cabling_device *at = &cabling->devices[device];
	char *name = NULL, number[24];
	if (!cabling->has_guids && at->guid <= UINT16_MAX)
		snprintf(number, sizeof number, "lid %" PRIu64, at->guid);
	else
		snprintf(number, sizeof number, "%s%016" PRIx64, behind ? "" : "0x",
			at->guid);
	int n = behind ? asprintf(&name, "%.*s %s",
				 (int)tb_visible_cut(at->name, NAME_MOST), at->name,
				 number)
		       : asprintf(&name, "%s", number);
	return rename_device(cabling, device, n < 0 ? NULL : name);
}

// name_nameless gives GUIDs to what has no name of its own.
static int name_nameless(struct tb_cabling *cabling)
{
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		struct tb_cabling_device *at = &cabling->devices[i];
		bool is_adapter = at->kind == TB_DEVICE_ADAPTER && cabling->has_guids;
		// Others go by the names themselves, whatever these are.
		if (at->is_left_out ||
			!(is_adapter ? is_product(at->name) : at->name[0] == '\0'))
			continue;
		int status = add_guid(cabling, i, false);
		if (status != TB_OK)
			return status;
		if (is_adapter)
			tb_cabling_note(cabling, TB_REMARK_NAMELESS, "%s", at->name);
	}
	return TB_OK;
}

static int tell_apart(struct tb_cabling *cabling, const struct named *named, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t end = i + 1;
		while (end < n && strcmp(named[end].name, named[i].name) == 0)
			end++;
		if (end > i + 1)
			tb_cabling_note(
				cabling, TB_REMARK_SAME_NAME, "'%s'", named[i].name);
		for (bool alone = end == i + 1; i < end; i++) {
			int status =
				alone ? TB_OK : add_guid(cabling, named[i].device, true);
			if (status != TB_OK)
				return status;
		}
	}
	return TB_OK;
}

int tb_cabling_name_all(struct tb_cabling *cabling)
{
	int status = name_nameless(cabling);
	size_t n = 0;
	struct named *named = malloc((cabling->n_devices + 1u) * sizeof *named);
	if (!named)
		return tb_cabling_no_memory(cabling);
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		if (!cabling->devices[i].is_left_out)
			named[n++] = (struct named){cabling->devices[i].name, i};
	qsort(named, n, sizeof *named, cabling_by_name);
	if (status == TB_OK)
		status = tell_apart(cabling, named, n);
	free(named);
	return status;
}
