// Labels: names of a fabric's switches and links, as short as they stay distinct.
//
// A fabric's switches are often called after one scheme, such as
// "MF0;A09-IBLEAF-01-01:MQM9701/U1". What all of them begin and end with fills narrow
// columns and tells nobody anything, so labels leave it out: "A09-IBLEAF-01-01". Whole
// words alone are left out, so "leaf1" and "leaf2" stay what they are; and so do names
// that would hardly become shorter, such as "0.1" where all switches are leaves.
#include "run_impl.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_BYTES 4 // that are left out; "MF0;" is what many fabrics begin with

struct shared {
	size_t before, after; // bytes that all names begin and end with
};

static bool is_word(char byte)
{
	return isalnum((unsigned char)byte) || (byte & 0x80);
}

static size_t same_start(const char *one, const char *other, size_t most)
{
	size_t n = 0;
	while (n < most && one[n] && one[n] == other[n])
		n++;
	return n;
}

static size_t same_end(const char *one, const char *other, size_t most)
{
	size_t n_one = strlen(one), n_other = strlen(other), n = 0;
	while (n < most && n < n_one && n < n_other &&
		one[n_one - n - 1] == other[n_other - n - 1])
		n++;
	return n;
}

static bool has_letter(const char *text, size_t n)
{
	bool has = false;
	for (size_t i = 0; i < n; i++)
		has |= isalpha((unsigned char)text[i]) != 0;
	return has;
}

// find_shared keeps whole words: the start ends behind a sign that is none of a word, the
// end begins at one. What would leave a name empty is not shared.
static struct shared find_shared(char *const *names, uint32_t n)
{
	struct shared shared = {n > 1 ? strlen(names[0]) : 0, 0};
	for (uint32_t i = 1; i < n; i++)
		shared.before = same_start(names[0], names[i], shared.before);
	while (shared.before > 0 && is_word(names[0][shared.before - 1]))
		shared.before--;
	shared.after = n > 1 ? strlen(names[0]) - shared.before : 0;
	for (uint32_t i = 1; i < n; i++)
		shared.after = same_end(
			names[0] + shared.before, names[i] + shared.before, shared.after);
	size_t length = n > 0 ? strlen(names[0]) : 0;
	while (shared.after > 0 && is_word(names[0][length - shared.after]))
		shared.after--;
	bool worth = shared.before + shared.after >= WORTH_BYTES &&
		     (has_letter(names[0], shared.before) ||
			     has_letter(names[0] + length - shared.after, shared.after));
	for (uint32_t i = 0; i < n; i++)
		worth &= strlen(names[i]) > shared.before + shared.after;
	return worth ? shared : (struct shared){0, 0};
}

static char *label_switch(const char *name, struct shared shared)
{
	return strndup(name + shared.before, strlen(name) - shared.before - shared.after);
}

// label_end writes one end of a link, of the length n in its name.
static int label_end(char *label, size_t size, const struct tb_run_switch *sw,
	const char *name, size_t n)
{
	size_t own = sw ? strlen(sw->name) : 0;
	if (!sw || own > n || strncmp(name, sw->name, own) != 0)
		return snprintf(label, size, "%.*s", (int)n, name);
	return snprintf(label, size, "%s%.*s", sw->label, (int)(n - own), name + own);
}

// label_link shortens both ends of a name "from:port > to:port".
static char *label_link(const struct tb_run *run, const struct tb_run_link *link)
{
	bool from_node = link->at.kind == TB_LINK_INJECTION;
	bool to_node = link->at.kind == TB_LINK_EJECTION;
	const struct tb_run_switch *from =
		from_node ? NULL : &run->switches[link->at.from];
	const struct tb_run_switch *to = to_node ? NULL : &run->switches[link->at.to];
	// What a switch is called may hold " > " too: its own name is passed first.
	size_t size = strlen(link->name) + 1, own = from ? strlen(from->name) : 0;
	const char *arrow = own < size ? strstr(link->name + own, " > ") : NULL;
	char *label = arrow ? malloc(size) : strdup(link->name);
	if (!label || !arrow)
		return label;
	int n = label_end(label, size, from, link->name, (size_t)(arrow - link->name));
	n += snprintf(label + n, size - (size_t)n, " > ");
	label_end(label + n, size - (size_t)n, to, arrow + 3, strlen(arrow + 3));
	return label;
}

int tb_run_name_labels(struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	const struct shared shared = find_shared(run->switch_names, info->n_switches);
	bool shorter = shared.before + shared.after > 0;
	size_t n = (size_t)info->n_switches + info->n_links;
	if (shorter && !(run->labels = calloc(n, sizeof *run->labels)))
		return tb_fail_in(error, TB_ENOMEM, run->path, "no memory for the run");
	for (uint32_t i = 0; i < info->n_switches; i++) {
		struct tb_run_switch *sw = &run->switches[i];
		sw->label = sw->name;
		if (shorter)
			sw->label = run->labels[i] = label_switch(sw->name, shared);
		if (!sw->label)
			return tb_fail_in(
				error, TB_ENOMEM, run->path, "no memory for the run");
	}
	for (uint32_t i = 0; i < info->n_links; i++) {
		struct tb_run_link *link = &run->links[i];
		link->label = link->name;
		if (shorter)
			link->label = run->labels[info->n_switches + i] =
				label_link(run, link);
		if (!link->label)
			return tb_fail_in(
				error, TB_ENOMEM, run->path, "no memory for the run");
	}
	return TB_OK;
}
