// Labels: names of a fabric's switches, hosts and links, as short as they stay distinct.
//
// A fabric's switches are often called after one scheme, such as
// "MF0;A09-IBLEAF-01-01:MQM9701/U1". What all of them begin and end with fills narrow
// columns and tells nobody anything, so labels leave it out: "A09-IBLEAF-01-01". Whole
// words alone are left out, so "leaf1" and "leaf2" stay what they are; and so do names
// that would hardly become shorter, such as "0.1" where all switches are leaves.
//
// Of the rest a label has the last words, as many as no other name ends with, the first
// of which tells what it is: "IBLEAF-01-01". Dots divide names from the other side, so
// they divide none here.
#include "run_impl.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_BYTES 4 // that are left out; "MF0;" is what many fabrics begin with

struct shared {
	size_t before, after; // bytes that all names begin and end with
};

static bool is_word_byte(char byte)
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
	while (shared.before > 0 && is_word_byte(names[0][shared.before - 1]))
		shared.before--;
	shared.after = n > 1 ? strlen(names[0]) - shared.before : 0;
	for (uint32_t i = 1; i < n; i++)
		shared.after = same_end(
			names[0] + shared.before, names[i] + shared.before, shared.after);
	size_t length = n > 0 ? strlen(names[0]) : 0;
	while (shared.after > 0 && is_word_byte(names[0][length - shared.after]))
		shared.after--;
	bool worth = shared.before + shared.after >= WORTH_BYTES &&
		     (has_letter(names[0], shared.before) ||
			     has_letter(names[0] + length - shared.after, shared.after));
	for (uint32_t i = 0; i < n; i++)
		worth &= strlen(names[i]) > shared.before + shared.after;
	return worth ? shared : (struct shared){0, 0};
}

// A word of so many letters tells what a thing is: "IBLEAF", "dgx".
#define TELLING_LETTERS 3

// is_telling returns whether the first word of a text does.
static bool is_telling(const char *text)
{
	size_t n = 0;
	for (; is_word_byte(*text); text++)
		n += isalpha((unsigned char)*text) != 0;
	return n >= TELLING_LETTERS;
}

// shortest_ending returns the shortest end of whole words that is longer than `shared`
// bytes, which another name may end with, and begins with a telling word.
static const char *shortest_ending(const char *name, size_t shared)
{
	size_t length = strlen(name);
	for (size_t i = length; i > WORTH_BYTES; i--) {
		const char *end = name + i - 1;
		if (length - (i - 1) > shared && is_word_byte(*end) &&
			strchr("-_:;/", end[-1]) && is_telling(end))
			return end;
	}
	return name;
}

// label_by_end orders texts by their last characters.
static int label_by_end(const void *one, const void *other)
{
	const char *a = *(char *const *)one, *b = *(char *const *)other;
	size_t n_a = strlen(a), n_b = strlen(b);
	for (; n_a && n_b; n_a--, n_b--)
		if (a[n_a - 1] != b[n_b - 1])
			return (unsigned char)a[n_a - 1] < (unsigned char)b[n_b - 1] ? -1
										     : 1;
	return (n_a > n_b) - (n_a < n_b);
}

static void free_labels(char **labels, uint32_t n)
{
	for (uint32_t i = 0; labels && i < n; i++)
		free(labels[i]);
	free(labels);
}

// label_all makes the labels of names; NULL when they are the names.
static int label_all(char ***labels, char *const *names, uint32_t n)
{
	const struct shared shared = find_shared(names, n);
	char **made = calloc(n + 1u, sizeof *made);
	int status = made ? TB_OK : TB_ENOMEM;
	bool shorter = false;
	for (uint32_t i = 0; status == TB_OK && i < n; i++) {
		size_t length = strlen(names[i]) - shared.before - shared.after;
		made[i] = strndup(names[i] + shared.before, length);
		status = made[i] ? TB_OK : TB_ENOMEM;
	}
	if (status == TB_OK) {
		// Leave out of each of `labels` the first words that it does not need.
		// Ordered by their ends, a label has most in common with its neighbours.
		const char **ends = malloc((n + 1u) * sizeof *ends);
		char **sorted = malloc((n + 1u) * sizeof *sorted);
		bool fine = ends && sorted;
		for (uint32_t i = 0; fine && i < n; i++)
			sorted[i] = made[i];
		if (fine)
			qsort(sorted, n, sizeof *sorted, label_by_end);
		for (uint32_t i = 0; fine && i < n; i++) {
			size_t before =
				i > 0 ? same_end(sorted[i], sorted[i - 1], SIZE_MAX) : 0;
			size_t after =
				i + 1 < n ? same_end(sorted[i], sorted[i + 1], SIZE_MAX)
					  : 0;
			ends[i] = shortest_ending(
				sorted[i], before > after ? before : after);
		}
		for (uint32_t i = 0; fine && i < n; i++)
			memmove(sorted[i], ends[i], strlen(ends[i]) + 1);
		free(ends);
		free(sorted);
		status = fine ? TB_OK : TB_ENOMEM;
	}
	for (uint32_t i = 0; status == TB_OK && i < n && !shorter; i++)
		shorter = strlen(made[i]) < strlen(names[i]);
	if (shorter) {
		*labels = made;
		return TB_OK;
	}
	free_labels(made, n);
	return status;
}

// The name of an end of a link without its port, and its label.
struct labelled_end {
	const char *name, *label;
};

static struct labelled_end labelled_end_of(
	const struct tb_run *run, bool is_node, uint32_t id)
{
	if (is_node)
		return (struct labelled_end){run->hosts[id],
			run->host_labels ? run->host_labels[id] : run->hosts[id]};
	return (struct labelled_end){run->switches[id].name, run->switches[id].label};
}

// label_end writes one end of a link, of the length n in its name.
static int label_end(
	char *label, size_t size, struct labelled_end end, const char *name, size_t n)
{
	size_t own = strlen(end.name);
	if (own == 0 || own > n || strncmp(name, end.name, own) != 0)
		return snprintf(label, size, "%.*s", (int)n, name);
	return snprintf(label, size, "%s%.*s", end.label, (int)(n - own), name + own);
}

// label_link shortens both ends of a name "from:port > to:port".
static char *label_link(const struct tb_run *run, const struct tb_run_link *link)
{
	struct labelled_end from =
		labelled_end_of(run, link->at.kind == TB_LINK_INJECTION, link->at.from);
	struct labelled_end to =
		labelled_end_of(run, link->at.kind == TB_LINK_EJECTION, link->at.to);
	// What a thing is called may hold " > " too: its own name is passed first.
	size_t size = strlen(link->name) + 1, own = strlen(from.name);
	const char *arrow = own < size ? strstr(link->name + own, " > ") : NULL;
	char *label = arrow ? malloc(size) : strdup(link->name);
	if (!label || !arrow)
		return label;
	int n = label_end(label, size, from, link->name, (size_t)(arrow - link->name));
	n += snprintf(label + n, size - (size_t)n, " > ");
	label_end(label + n, size - (size_t)n, to, arrow + 3, strlen(arrow + 3));
	return label;
}

static int label_links(struct tb_run *run)
{
	uint32_t n = run->record.info.n_links;
	bool shorter = run->switch_labels || run->host_labels;
	if (shorter && !(run->link_labels = calloc(n + 1u, sizeof *run->link_labels)))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct tb_run_link *link = &run->links[i];
		link->label = link->name;
		if (shorter)
			link->label = run->link_labels[i] = label_link(run, link);
		if (!link->label)
			return TB_ENOMEM;
	}
	return TB_OK;
}

int tb_run_name_labels(struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	int status = label_all(&run->switch_labels, run->switch_names, info->n_switches);
	if (status == TB_OK)
		status = label_all(&run->host_labels, run->hosts, info->n_nodes);
	for (uint32_t i = 0; i < info->n_switches; i++)
		run->switches[i].label = run->switch_labels ? run->switch_labels[i]
							    : run->switches[i].name;
	if (status == TB_OK)
		status = label_links(run);
	return status == TB_OK ? TB_OK : tb_fail_memory_in(error, run->path, "the run");
}

void tb_run_labels_fini(struct tb_run *run)
{
	const struct tb_run_info *info = &run->record.info;
	free_labels(run->switch_labels, info->n_switches);
	free_labels(run->host_labels, info->n_nodes);
	free_labels(run->link_labels, info->n_links);
}

const char *tb_run_node_label(const struct tb_run *run, struct tb_node node)
{
	const char *name = tb_run_node_name(run, node);
	if (!*name || !run->host_labels || strcmp(name, run->hosts[node.id]) != 0)
		return name;
	return run->host_labels[node.id];
}
