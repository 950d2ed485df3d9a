#include "opening_form.h"

#include "library.h"
#include "network.h"
#include "preset.h"
#include "underload.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LEAST_NODES 16
#define MOST_NODES  65536
#define LEAST_SCALE 1e-6
#define MOST_SCALE  1e3

// Which traces have a row.
enum form_answer { ANY, CAPTURES, CALLS };

static const struct form_row {
	const char *label, *hint;
	enum form_answer of;
	const char *option; // of replay; NULL: the network, or a change of it
	bool of_info;	    // an option of info, too
	// What Left and Right go through, and the names under which they are shown; an
	// option without value is given for the second.
	const char *const *choices, *const *names;
	const char *typed; // the characters that may be typed; NULL: none
} rows[TB_FORM_N_ROWS] = {
	[TB_FORM_NETWORK] = {.label = "Network", .hint = ""},
	[TB_FORM_NODES] = {.label = "Nodes", .hint = ""},
	[TB_FORM_SCALE] = {.label = "Time scale",
		.hint = "0.1 is ten times as fast; type one",
		.of = CAPTURES,
		.option = "time-scale",
		.typed = "0123456789."},
	[TB_FORM_LOOP] = {.label = "Messages",
		.hint = "in closed loop they wait for each other",
		.of = CAPTURES,
		.option = "closed-loop",
		.choices = (const char *const[]){"", "yes", NULL},
		.names = (const char *const[]){"as captured", "closed loop"}},
	[TB_FORM_FROM] = {.label = "From",
		.hint = "type 1.5s, a date, or Unix seconds",
		.of = CAPTURES,
		.option = "from",
		.of_info = true,
		.typed = "0123456789.:-+TZnums"},
	[TB_FORM_TO] = {.label = "To",
		.hint = "likewise",
		.of = CAPTURES,
		.option = "to",
		.of_info = true,
		.typed = "0123456789.:-+TZnums"},
	[TB_FORM_LIBRARY] = {.label = "Library",
		.hint = "whose collective algorithms are used",
		.of = CALLS,
		.option = "library",
		.of_info = true,
		.choices = (const char *const[]){"", NULL}, // then all libraries
		.names = (const char *const[]){"as traced"}},
	[TB_FORM_COLLECTIVE] = {.label = "Collective",
		.hint = "type one, such as allreduce=ring",
		.of = CALLS,
		.option = "collective",
		.of_info = true,
		.typed = "abcdefghijklmnopqrstuvwxyz0123456789=_-"},
	[TB_FORM_CLONES] = {.label = "Clone ranks",
		.hint = "type how many ranks the job had",
		.of = CALLS,
		.option = "clone-ranks",
		.of_info = true,
		.typed = "0123456789"},
	[TB_FORM_LENIENT] = {.label = "Unmatched",
		.hint = "sends, receives and collective calls",
		.of = CALLS,
		.option = "lenient",
		.of_info = true,
		.choices = (const char *const[]){"", "yes", NULL},
		.names = (const char *const[]){"refused", "left out"}},
};

const char *tb_opening_form_label(enum tb_form_row row)
{
	return rows[row].label;
}

bool tb_opening_form_has(const struct tb_opening_form *form, enum tb_form_row row)
{
	bool captured = form->reader->kind == TB_TRACE_PACKETS;
	return rows[row].of == ANY || (rows[row].of == CAPTURES && captured) ||
	       (rows[row].of == CALLS && form->reader->calls);
}

// form_name returns the name of a preset, NULL beyond the user's own.
static const char *form_name(const struct tb_opening_form *form, size_t preset)
{
	size_t n = 0;
	while (n <= preset && tb_network_preset_name(n))
		n++;
	if (preset < n)
		return tb_network_preset_name(preset);
	return preset - n < form->n_own ? form->own[preset - n] : NULL;
}

// is_given is true where the network that was given is chosen.
static bool is_given(const struct tb_opening_form *form)
{
	return form->given && !form_name(form, form->preset);
}

// has_its_nodes is true where no levels can be chosen.
static bool has_its_nodes(const struct tb_opening_form *form)
{
	return is_given(form) || form->arity < 2;
}

const char *tb_opening_form_chosen(const struct tb_opening_form *form)
{
	return is_given(form) ? form->given : form_name(form, form->preset);
}

const char *tb_opening_form_hint(const struct tb_opening_form *form, enum tb_form_row row)
{
	const char *chosen = tb_opening_form_chosen(form);
	bool says = row == TB_FORM_NETWORK && (is_given(form) || strchr(chosen, '/'));
	return says ? chosen : rows[row].hint;
}

bool tb_opening_form_steps(enum tb_form_row row)
{
	return row == TB_FORM_SCALE || !rows[row].typed;
}

static uint64_t nodes_of(const struct tb_opening_form *form, uint32_t levels)
{
	uint64_t n = 1;
	while (levels-- > 0 && n <= MOST_NODES)
		n *= form->arity;
	return n;
}

// form_hold keeps the levels where there are enough nodes and not too many.
static void form_hold(struct tb_opening_form *form)
{
	while (nodes_of(form, form->levels) < LEAST_NODES)
		form->levels++;
	while (form->levels > 1 && nodes_of(form, form->levels) > MOST_NODES)
		form->levels--;
}

// form_fit chooses the smallest network that has the nodes of the trace.
static void form_fit(struct tb_opening_form *form)
{
	if (form->chose_levels || form->trace.n_nodes == 0 || form->arity < 2)
		return;
	form->levels = 1;
	form_hold(form);
	while (nodes_of(form, form->levels) < form->trace.n_nodes &&
		nodes_of(form, form->levels + 1) <= MOST_NODES)
		form->levels++;
}

static void form_choose_preset(struct tb_opening_form *form, size_t preset)
{
	struct tb_network_params params;
	const char *name = form_name(form, preset);
	if (!name && form->given && !is_given(form))
		form->preset = preset;
	if (!name)
		return;
	form->preset = preset;
	form->arity = 0; // of a file that has gone, too: the replay reports it
	if (tb_network_preset(&params, name, NULL) != TB_OK || params.shape[0] ||
		params.arity < 2)
		return;
	form->arity = params.arity;
	form->natural = params.levels;
	if (!form->chose_levels)
		form->levels = params.levels;
	form_hold(form);
	form_fit(form);
}

// give_network chooses a preset by name, or else what was given beside the presets.
static void give_network(struct tb_opening_form *form, const char *network)
{
	size_t i = 0;
	const char *name;
	while ((name = form_name(form, i)) && strcmp(name, network) != 0)
		i++;
	form->given = name ? NULL : network;
	form_choose_preset(form, i);
}

void tb_opening_form_offer(
	struct tb_opening_form *form, const char *const *own, size_t n_own)
{
	const char *chosen = tb_opening_form_chosen(form);
	form->own = own;
	form->n_own = n_own;
	give_network(form, chosen);
}

// take_form_word fills in the row of an option; false when it has none, or its row is
// taken.
static bool take_form_word(struct tb_opening_form *form, const char *word)
{
	const char *name = word + strspn(word, "-");
	size_t length = strcspn(name, "=");
	const char *value = name[length] ? name + length + 1 : "yes";
	if (length == strlen("network") && strncmp(name, "network", length) == 0) {
		form->chose_network = true;
		give_network(form, value);
		return true;
	}
	for (int i = 0; i < TB_FORM_N_ROWS; i++) {
		const char *option = rows[i].option;
		if (option && strlen(option) == length &&
			strncmp(option, name, length) == 0 &&
			tb_opening_form_has(form, (enum tb_form_row)i) &&
			(!form->text[i][0] || i == TB_FORM_SCALE) &&
			strlen(value) < sizeof form->text[i]) {
			snprintf(form->text[i], sizeof form->text[i], "%s", value);
			return true;
		}
	}
	return false;
}

void tb_opening_form_init(struct tb_opening_form *form,
	const struct tb_trace_reader *reader, const char *const *words, size_t n_words)
{
	*form = (struct tb_opening_form){.reader = reader, .arity = 2};
	snprintf(form->text[TB_FORM_SCALE], sizeof form->text[0], "1");
	give_network(form, TB_NETWORK_DEFAULT);
	for (size_t i = 0; i < n_words; i++)
		if (!take_form_word(form, words[i]) &&
			form->n_others < TB_FORM_WORDS_MOST)
			form->others[form->n_others++] = words[i];
}

void tb_opening_form_take(
	struct tb_opening_form *form, const struct tb_glance_answer *answer)
{
	form->trace = *answer;
	form->glanced = true;
	if (answer->network[0] && !form->chose_network) {
		snprintf(form->recorded, sizeof form->recorded, "%s", answer->network);
		give_network(form, form->recorded);
	}
	form_fit(form);
}

// form_scale returns the time scale; 0 for what is none.
static double form_scale(const struct tb_opening_form *form)
{
	double scale;
	return tb_parse_real(form->text[TB_FORM_SCALE], LEAST_SCALE, MOST_SCALE,
		       &scale) == TB_OK
		       ? scale
		       : 0;
}

// step_scale goes to the next of 1, 2, 5, 10 and so on.
static void step_scale(struct tb_opening_form *form, int by)
{
	static const double steps[] = {1, 2, 5};
	double now = form_scale(form), found = now;
	for (double ten = LEAST_SCALE; ten <= MOST_SCALE; ten *= 10)
		for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
			double scale = ten * steps[i];
			if (by < 0 && scale < now * 0.999)
				found = scale;
			if (by > 0 && scale > now * 1.001 && found <= now * 1.001)
				found = scale;
		}
	snprintf(form->text[TB_FORM_SCALE], sizeof form->text[0], "%.3g", found);
}

// form_choice_text returns the text of choice i of a row, NULL beyond the last.
static const char *form_choice_text(enum tb_form_row row, int i)
{
	return row == TB_FORM_LIBRARY && i > 0 ? tb_library_number((size_t)i - 1)
					       : rows[row].choices[i];
}

// form_choice returns which of a row's choices stands there; -1 for none of them.
static int form_choice(const struct tb_opening_form *form, enum tb_form_row row)
{
	for (int i = 0; form_choice_text(row, i); i++)
		if (strcmp(form_choice_text(row, i), form->text[row]) == 0)
			return i;
	return -1;
}

void tb_opening_form_choose(struct tb_opening_form *form, enum tb_form_row row)
{
	form->row = row;
	form->typing = false;
}

void tb_opening_form_step(struct tb_opening_form *form, enum tb_form_row row, int by)
{
	tb_opening_form_choose(form, row);
	if (row == TB_FORM_SCALE)
		step_scale(form, by);
	else if (row == TB_FORM_NODES) {
		if (!has_its_nodes(form)) {
			form->levels += (uint32_t)by;
			form->chose_levels = true;
			form_hold(form);
		}
	} else if (row == TB_FORM_NETWORK && (by > 0 || form->preset > 0)) {
		form->chose_network = true;
		form_choose_preset(form, by > 0 ? form->preset + 1 : form->preset - 1);
	} else if (rows[row].choices) {
		int now = form_choice(form, row) + by;
		if (now >= 0 && form_choice_text(row, now))
			snprintf(form->text[row], sizeof form->text[row], "%s",
				form_choice_text(row, now));
	}
}

// form_type edits the chosen row: its text begins anew where it was not typed before.
static bool form_type(struct tb_opening_form *form, const char *key)
{
	const char *typed = rows[form->row].typed;
	char *text = form->text[form->row];
	size_t length = strlen(text), room = sizeof form->text[0];
	if (!typed)
		return false;
	if (strcmp(key, "Backspace") == 0) {
		text[length > 0 ? length - 1 : 0] = '\0';
	} else if (strlen(key) == 1 && strchr(typed, *key)) {
		length = form->typing ? length : 0;
		if (length + 1 < room)
			snprintf(text + length, room - length, "%s", key);
	} else {
		return false;
	}
	form->typing = true;
	return true;
}

// use_suggestion is a key of its own and the button's.
static bool use_suggestion(struct tb_opening_form *form)
{
	char scale[16];
	if (!*tb_opening_form_suggestion(form, scale, sizeof scale))
		return false;
	snprintf(form->text[TB_FORM_SCALE], sizeof form->text[0], "%s", scale);
	tb_opening_form_choose(form, TB_FORM_SCALE);
	return true;
}

static void form_move(struct tb_opening_form *form, int by)
{
	int row = (int)form->row;
	do
		row = (row + by + TB_FORM_N_ROWS) % TB_FORM_N_ROWS;
	while (!tb_opening_form_has(form, (enum tb_form_row)row));
	tb_opening_form_choose(form, (enum tb_form_row)row);
}

bool tb_opening_form_key(struct tb_opening_form *form, const char *key)
{
	if (strcmp(key, "Up") == 0)
		form_move(form, -1);
	else if (strcmp(key, "Down") == 0 || strcmp(key, "Tab") == 0)
		form_move(form, 1);
	else if (strcmp(key, "Left") == 0)
		tb_opening_form_step(form, form->row, -1);
	else if (strcmp(key, "Right") == 0)
		tb_opening_form_step(form, form->row, 1);
	else
		return form_type(form, key) ||
		       (strcmp(key, "h") == 0 && use_suggestion(form));
	return true;
}

const char *tb_opening_form_value(const struct tb_opening_form *form,
	enum tb_form_row row, char *buffer, size_t size)
{
	const char *text = form->text[row];
	const char *chosen = tb_opening_form_chosen(form);
	const char *file = strrchr(chosen, '/');
	if (row == TB_FORM_NETWORK)
		return chosen == form->recorded ? "as recorded"
		       : is_given(form)		? "as given"
		       : file			? file + 1
						: chosen;
	if (row == TB_FORM_NODES && has_its_nodes(form))
		return "as it has";
	if (row == TB_FORM_NODES)
		return tb_format_count(tb_opening_form_n_nodes(form), buffer, size);
	if (rows[row].choices)
		return form_choice(form, row) < 0 || (row == TB_FORM_LIBRARY && text[0])
			       ? text
			       : rows[row].names[form_choice(form, row)];
	snprintf(buffer, size, "%s%s", text, form->row == row && form->typing ? "_" : "");
	return buffer;
}

char *tb_opening_form_network(
	const struct tb_opening_form *form, char *buffer, size_t size)
{
	const char *name = tb_opening_form_chosen(form);
	if (has_its_nodes(form) || form->levels == form->natural)
		snprintf(buffer, size, "%s", name);
	else
		snprintf(buffer, size, "%s,levels=%" PRIu32, name, form->levels);
	return buffer;
}

uint32_t tb_opening_form_n_nodes(const struct tb_opening_form *form)
{
	return has_its_nodes(form) ? 0 : (uint32_t)nodes_of(form, form->levels);
}

void tb_opening_form_words(
	const struct tb_opening_form *form, bool of_info, struct tb_form_words *words)
{
	words->n = 0;
	for (int i = 0; i < TB_FORM_N_ROWS; i++)
		if (rows[i].option && (rows[i].of_info || !of_info) &&
			tb_opening_form_has(form, (enum tb_form_row)i)) {
			// Add the option of a row, unless that has its default.
			enum tb_form_row row = (enum tb_form_row)i;
			char *word = words->texts[row];
			bool plain = row == TB_FORM_LOOP || row == TB_FORM_LENIENT;
			const char *text = form->text[row];
			if (text[0] && (row != TB_FORM_SCALE || strcmp(text, "1") != 0)) {
				snprintf(word, sizeof words->texts[row], "--%s%s%s",
					rows[row].option, plain ? "" : "=",
					plain ? "" : text);
				words->words[words->n++] = word;
			}
		}
	for (size_t i = 0; !of_info && i < form->n_others; i++)
		words->words[words->n++] = form->others[i];
}

double tb_opening_form_share(const struct tb_opening_form *form)
{
	double scale = form_scale(form);
	bool known = form->glanced && form->trace.is_capture && scale > 0 &&
		     !form->text[TB_FORM_LOOP][0];
	return known ? form->trace.busiest_share / scale : 0;
}

char *tb_opening_form_suggestion(
	const struct tb_opening_form *form, char *buffer, size_t size)
{
	double share = tb_opening_form_share(form);
	buffer[0] = '\0';
	if (share > 0 && share < TB_UNDERLOAD_SHARE && form->trace.half_scale > 0)
		snprintf(buffer, size, "%.3g", form->trace.half_scale);
	return buffer;
}
