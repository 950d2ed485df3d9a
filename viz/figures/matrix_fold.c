#include "matrix_fold.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPEN_CELLS 4096 // of switches that are shown without their subtree

// A row of switches while it is divided: [from, to) of them are in the focus.
struct fold_row {
	const struct tb_subtrees *subtrees;
	uint32_t level, from, to;
	uint32_t below; // the subtrees of lower levels may divide it; n_levels: of the
			// whole
	uint32_t most;
};

// subtree_at returns the subtree of a level in which a switch of that level or a lower
// one is.
static uint32_t subtree_at(
	const struct tb_subtrees *subtrees, uint32_t sw, uint32_t level)
{
	uint32_t at = subtrees->of_switch[sw];
	while (subtrees->list[at].level < level &&
		subtrees->list[at].parent != TB_ID_NONE)
		at = subtrees->list[at].parent;
	return at;
}

// switch_is_idle is true for a switch that carried nothing in the whole run, and lives.
static bool switch_is_idle(const struct tb_matrix_box *box, const struct tb_run *run)
{
	bool idle = tb_run_switches(run)[box->sw.id].dead_at_ps == TB_TIME_NEVER;
	for (uint32_t i = 0; i < box->n_cells && idle; i++) {
		struct tb_link link = box->below[i].link;
		idle = link.id == TB_ID_NONE ||
		       (!tb_run_carries(run, link) &&
			       tb_run_links(run)[link.id].dead_at_ps == TB_TIME_NEVER);
	}
	return idle;
}

// leave_out_idle narrows a row to what was used, if that is at most half of it, and
// returns how many switches that leaves out.
static uint32_t leave_out_idle(struct tb_matrix_fold *fold, struct fold_row *row)
{
	const uint32_t *switches = fold->subtrees->rows[row->level];
	const struct tb_matrix *whole = fold->whole;
	uint32_t from = row->to, to = row->to, n = to - row->from;
	for (uint32_t i = row->from; i < row->to; i++) {
		const struct tb_matrix_box *box =
			&whole->boxes[fold->source[switches[i]]];
		if (switch_is_idle(box, whole->run) &&
			(!fold->beside || switch_is_idle(box, fold->beside)))
			continue;
		from = from == row->to ? i : from;
		to = i + 1;
	}
	// Of a level that carried nothing at all the first switch stays.
	if (from == row->to && tb_run_info(whole->run)->n_packets > 0) {
		from = row->from;
		to = from + 1;
		fold->idle_rows |= UINT64_C(1) << fold->matrix.n_rows % 64;
	}
	if (from == row->to || to - from > n / 2)
		return 0;
	row->from = from;
	row->to = to;
	return n - (to - from);
}

static struct fold_row row_in_focus(const struct tb_subtrees *subtrees, uint32_t level,
	struct tb_matrix_focus focus, uint32_t most)
{
	struct fold_row row = {
		subtrees, level, 0, subtrees->n_row[level], subtrees->n_levels, most};
	if (focus.n) {
		row.from = focus.first;
		row.to = level == focus.level ? focus.first + focus.n : focus.first;
		row.below = level;
		return row;
	}
	if (focus.subtree == TB_ID_NONE)
		return row;
	uint32_t top = subtrees->list[focus.subtree].level;
	const uint32_t *switches = subtrees->rows[level];
	row.below = top;
	if (level > top)
		row.to = 0;
	while (row.from < row.to &&
		subtree_at(subtrees, switches[row.from], top) != focus.subtree)
		row.from++;
	for (uint32_t i = row.from; i < row.to; i++)
		if (subtree_at(subtrees, switches[i], top) != focus.subtree)
			row.to = i;
	return row;
}

// ends_run is true where the switch at i is the last of its subtree of a level.
static bool ends_run(const struct fold_row *row, uint32_t i, uint32_t level)
{
	const uint32_t *switches = row->subtrees->rows[row->level];
	return i + 1 == row->to ||
	       subtree_at(row->subtrees, switches[i], level) !=
		       subtree_at(row->subtrees, switches[i + 1], level);
}

// runs_of counts the subtrees of a level along the row; `*size` is how many switches each
// has, 0 when that differs.
static uint32_t runs_of(const struct fold_row *row, uint32_t level, uint32_t *size)
{
	uint32_t n = 0, begin = row->from;
	*size = 0;
	for (uint32_t i = row->from; i < row->to; i++) {
		if (!ends_run(row, i, level))
			continue;
		uint32_t length = i + 1 - begin;
		*size = n == 0 || *size == length ? length : 0;
		begin = i + 1;
		n++;
	}
	return n;
}

// divide_row sets last[i - from] where a group ends with the switch at i: at the borders
// of the smallest subtrees that make no more than `most` groups, and between, where they
// are alike, at the ends of equal parts: of as many of the next smaller subtrees, so that
// a pod is never cut where one fits.
static void divide_row(const struct fold_row *row, uint8_t *last)
{
	uint32_t n = row->to - row->from, level = TB_ID_NONE, size = n, runs = 1;
	uint32_t unit = 1; // switches of the next smaller subtrees
	if (n > row->most)
		for (uint32_t at = row->level; at < row->below && level == TB_ID_NONE;
			at++) {
			uint32_t of_each;
			uint32_t found = runs_of(row, at, &of_each);
			if (found > row->most) {
				unit = of_each ? of_each : 1;
				continue;
			}
			level = at;
			runs = found;
			size = of_each;
		}
	uint32_t part = n <= row->most ? 1 : 0; // switches in a part of a subtree
	if (part == 0 && size) {
		uint32_t parts = row->most / runs;
		part = (size + parts - 1) / parts;
		part += (unit - part % unit) % unit;
		for (uint32_t even = part; even <= 2 * part && even <= size; even += unit)
			if (size % even == 0) {
				part = even;
				break;
			}
	}
	for (uint32_t i = row->from, since = 0; i < row->to; i++) {
		since++;
		bool end = i + 1 == row->to || (part && since == part) ||
			   (level != TB_ID_NONE && ends_run(row, i, level));
		last[i - row->from] = end;
		if (end)
			since = 0;
	}
}

static void add_link(struct tb_group_figure *figure, double *sum,
	const struct tb_matrix *whole, const struct tb_matrix_cell *cells, uint32_t n)
{
	const struct tb_run_link *links = tb_run_links(whole->run);
	for (uint32_t i = 0; i < n; i++) {
		if (cells[i].link.id == TB_ID_NONE)
			continue;
		if (tb_run_unmeasured(links[cells[i].link.id].known, whole->metric)) {
			figure->n_unmeasured++;
			continue;
		}
		if (figure->at == TB_ID_NONE || cells[i].value > figure->worst) {
			figure->worst = cells[i].value;
			figure->at = cells[i].link.id;
		}
		*sum += (double)cells[i].value;
		figure->n++;
	}
}

// fill_group adds up its switches and sets the box that the layout measures: two cells a
// row, the worst and the mean.
static void fill_group(struct tb_matrix_fold *fold, struct tb_matrix_group *group,
	struct tb_matrix_box *box)
{
	const struct tb_matrix *whole = fold->whole;
	const uint32_t *switches = fold->subtrees->rows[group->level] + group->first;
	struct tb_group_figure *figures = group->figures;
	double sums[TB_N_GROUP_PARTS] = {0};
	for (int part = 0; part < TB_N_GROUP_PARTS; part++)
		figures[part] = (struct tb_group_figure){.at = TB_ID_NONE};
	*box = (struct tb_matrix_box){.sw = {switches[0]}, .n_below = 2};
	for (uint32_t i = 0; i < group->n; i++) {
		const struct tb_matrix_box *of = &whole->boxes[fold->source[switches[i]]];
		struct tb_group_figure *sum = &figures[TB_GROUP_SWITCH];
		add_link(&figures[TB_GROUP_ABOVE], &sums[TB_GROUP_ABOVE], whole,
			of->above, of->n_above);
		add_link(&figures[TB_GROUP_BELOW], &sums[TB_GROUP_BELOW], whole,
			of->below, of->n_below);
		add_link(&figures[TB_GROUP_NODES], &sums[TB_GROUP_NODES], whole,
			of->nodes, of->n_nodes);
		if (of->n_above)
			box->n_above = 2;
		if (of->n_nodes)
			box->n_nodes = 2;
		if (tb_run_unmeasured(tb_run_switches(whole->run)[of->sw.id].known,
			    whole->metric)) {
			sum->n_unmeasured++;
			continue;
		}
		if (sum->at == TB_ID_NONE || of->sum > sum->worst) {
			sum->worst = of->sum;
			sum->at = of->sw.id;
		}
		sums[TB_GROUP_SWITCH] += (double)of->sum;
		sum->n++;
	}
	for (int part = 0; part < TB_N_GROUP_PARTS; part++)
		if (figures[part].n)
			figures[part].mean =
				(uint64_t)(sums[part] / figures[part].n + 0.5);
}

void tb_matrix_fold_fill(struct tb_matrix_fold *fold)
{
	const struct tb_matrix *whole = fold->whole;
	struct tb_matrix *matrix = &fold->matrix;
	matrix->leaves = whole->leaves;
	matrix->metric = whole->metric;
	matrix->run = whole->run;
	matrix->largest_link = whole->largest_link;
	matrix->largest_switch = whole->largest_switch;
	for (uint32_t i = 0; i < matrix->n_boxes; i++) {
		struct tb_matrix_group *group = &fold->groups[i];
		uint32_t first = fold->subtrees->rows[group->level][group->first];
		if (group->folded)
			fill_group(fold, group, &matrix->boxes[i]);
		else
			matrix->boxes[i] = whole->boxes[fold->source[first]];
	}
}

// add_fold_row adds the boxes of a level.
static void add_fold_row(struct tb_matrix_fold *fold, const struct fold_row *row,
	uint8_t *last, bool folded)
{
	struct tb_matrix *matrix = &fold->matrix;
	const uint32_t *switches = fold->subtrees->rows[row->level];
	if (row->from >= row->to)
		return;
	struct tb_matrix_row *made = &fold->rows[matrix->n_rows++];
	*made = (struct tb_matrix_row){
		.level = row->level, .boxes = matrix->boxes + matrix->n_boxes};
	if (folded)
		divide_row(row, last);
	struct tb_matrix_group *groups = fold->groups + matrix->n_boxes;
	for (uint32_t i = row->from, first = i; i < row->to; i++) {
		if (folded && !last[i - row->from])
			continue;
		// Switch by switch the whole network stands by index, as in the paper.
		uint32_t at = made->n_boxes++;
		for (; at > 0 && !folded && row->below == fold->subtrees->n_levels &&
			fold->source[switches[groups[at - 1].first]] >
				fold->source[switches[i]];
			at--)
			groups[at] = groups[at - 1];
		groups[at] = (struct tb_matrix_group){.folded = folded,
			.level = row->level,
			.first = first,
			.n = i + 1 - first};
		first = i + 1;
	}
	for (uint32_t i = 0; i < made->n_boxes; i++)
		for (uint32_t j = 0; j < groups[i].n; j++)
			fold->box_of_switch[switches[groups[i].first + j]] =
				matrix->n_boxes + i;
	matrix->n_boxes += made->n_boxes;
	fold->folded |= folded;
}

// folds_focus is true when a focus has too much for switches one by one.
static bool folds_focus(const struct tb_matrix_fold *fold, struct tb_matrix_focus focus)
{
	const struct tb_subtrees *subtrees = fold->subtrees;
	uint64_t n_cells = 0;
	if (focus.subtree != TB_ID_NONE)
		return subtrees->list[focus.subtree].n_slots >= TB_FOLDED_NODES;
	if (focus.n == 0)
		return tb_run_info(fold->whole->run)->n_nodes >= TB_FOLDED_NODES;
	for (uint32_t i = 0; i < focus.n; i++) {
		uint32_t sw = subtrees->rows[focus.level][focus.first + i];
		n_cells += fold->whole->boxes[fold->source[sw]].n_cells;
	}
	return focus.n > 1 && n_cells > MOST_OPEN_CELLS;
}

int tb_matrix_fold_init(struct tb_matrix_fold *fold, const struct tb_matrix *whole,
	const struct tb_run *beside, const struct tb_subtrees *subtrees,
	struct tb_matrix_focus focus, uint32_t most)
{
	uint32_t n = tb_run_info(whole->run)->n_switches;
	struct tb_matrix_fold made = {
		.whole = whole, .beside = beside, .subtrees = subtrees};
	uint8_t *last = malloc(n + (size_t)1);
	made.matrix.boxes = calloc(n + (size_t)1, sizeof *made.matrix.boxes);
	made.groups = calloc(n + (size_t)1, sizeof *made.groups);
	made.box_of_switch = malloc((n + (size_t)1) * sizeof *made.box_of_switch);
	made.source = malloc((n + (size_t)1) * sizeof *made.source);
	made.rows = calloc(subtrees->n_levels + (size_t)1, sizeof *made.rows);
	made.matrix.rows = made.rows;
	made.n_left_out = calloc(subtrees->n_levels + (size_t)1, sizeof *made.n_left_out);
	int status = last && made.matrix.boxes && made.groups && made.box_of_switch &&
				     made.source && made.rows && made.n_left_out
			     ? TB_OK
			     : TB_ENOMEM;
	if (status == TB_OK) {
		memset(made.box_of_switch, 0xff, n * sizeof *made.box_of_switch);
		for (uint32_t i = 0; i < whole->n_boxes; i++)
			made.source[whole->boxes[i].sw.id] = i;
		bool folded = folds_focus(&made, focus);
		for (uint32_t level = subtrees->n_levels; level-- > 0;) {
			struct fold_row row = row_in_focus(subtrees, level, focus, most);
			if (row.from < row.to)
				made.n_left_out[made.matrix.n_rows] =
					leave_out_idle(&made, &row);
			add_fold_row(&made, &row, last, folded);
		}
		tb_matrix_fold_fill(&made);
	}
	free(last);
	if (status == TB_OK)
		*fold = made;
	else
		tb_matrix_fold_fini(&made);
	return status;
}

void tb_matrix_fold_fini(struct tb_matrix_fold *fold)
{
	free(fold->matrix.boxes);
	free(fold->groups);
	free(fold->box_of_switch);
	free(fold->source);
	free(fold->rows);
	free(fold->n_left_out);
	*fold = (struct tb_matrix_fold){.groups = NULL};
}

bool tb_matrix_fold_open(const struct tb_matrix_fold *fold, struct tb_matrix_focus now,
	uint32_t box, struct tb_matrix_focus *focus)
{
	const struct tb_subtrees *subtrees = fold->subtrees;
	if (box >= fold->matrix.n_boxes || !fold->groups[box].folded)
		return false;
	const struct tb_matrix_group *group = &fold->groups[box];
	const uint32_t *switches = subtrees->rows[group->level];
	uint32_t last = group->first + group->n - 1;
	uint32_t at = subtrees->of_switch[switches[group->first]];
	while (at != TB_ID_NONE &&
		subtree_at(subtrees, switches[last], subtrees->list[at].level) != at)
		at = subtrees->list[at].parent;
	bool inside =
		at != TB_ID_NONE && at != now.subtree && !now.n &&
		subtrees->list[at].parent != TB_ID_NONE &&
		(subtrees->list[at].n_children || subtrees->list[at].n_switches > 1);
	*focus = TB_MATRIX_WHOLE;
	if (inside)
		focus->subtree = at;
	else
		*focus = (struct tb_matrix_focus){
			TB_ID_NONE, group->level, group->first, group->n};
	return true;
}

int tb_matrix_fold_step(struct tb_matrix_fold *fold, struct tb_matrix_focus *focus,
	struct tb_switch sw, uint32_t most)
{
	struct tb_matrix_fold opened;
	struct tb_matrix_focus next;
	uint32_t box = fold->box_of_switch[sw.id];
	if (box == TB_ID_NONE || !tb_matrix_fold_open(fold, *focus, box, &next))
		return TB_EUSAGE;
	int status = tb_matrix_fold_init(
		&opened, fold->whole, fold->beside, fold->subtrees, next, most);
	if (status != TB_OK)
		return status;
	tb_matrix_fold_fini(fold);
	*fold = opened;
	*focus = next;
	return TB_OK;
}

uint32_t tb_matrix_group_of(const struct tb_matrix_fold *fold, struct tb_pick pick)
{
	uint32_t box = TB_ID_NONE;
	if (pick.kind == TB_PICK_CELL && pick.index < fold->matrix.n_boxes)
		box = pick.index;
	if (pick.kind == TB_PICK_SWITCH)
		box = fold->box_of_switch[pick.index];
	for (uint32_t i = 0; pick.kind == TB_PICK_LINK && i < fold->whole->n_boxes; i++) {
		const struct tb_matrix_box *of = &fold->whole->boxes[i];
		const struct tb_matrix_cell *end =
			of->below + of->n_below + of->n_above + of->n_nodes;
		for (const struct tb_matrix_cell *cell = of->below; cell < end; cell++)
			if (cell->link.id == pick.index)
				return tb_matrix_group_of(fold,
					(struct tb_pick){TB_PICK_SWITCH, of->sw.id});
	}
	return box != TB_ID_NONE && fold->groups[box].folded ? box : TB_ID_NONE;
}

// row_groups returns the groups of a row, tb_matrix_row.n_boxes of them.
static const struct tb_matrix_group *row_groups(
	const struct tb_matrix_fold *fold, uint32_t row)
{
	return fold->groups + (fold->matrix.rows[row].boxes - fold->matrix.boxes);
}

uint32_t tb_matrix_fold_size(const struct tb_matrix_fold *fold, uint32_t row)
{
	uint32_t most = 1;
	if (!fold->groups)
		return most;
	for (uint32_t i = 0; i < fold->matrix.rows[row].n_boxes; i++)
		if (row_groups(fold, row)[i].n > most)
			most = row_groups(fold, row)[i].n;
	return most;
}

char *tb_matrix_fold_left_out(
	const struct tb_matrix_fold *fold, uint32_t row, char *buffer, size_t size)
{
	uint32_t shown = 0, left = 0;
	buffer[0] = '\0';
	for (uint32_t i = 0; i < fold->matrix.n_rows; i++) {
		const struct tb_matrix_row *of = &fold->matrix.rows[i];
		if (row != i && row != TB_ID_NONE)
			continue;
		left += fold->n_left_out[i];
		for (uint32_t j = 0; j < of->n_boxes; j++)
			shown += fold->groups[of->boxes + j - fold->matrix.boxes].n;
	}
	if (left)
		snprintf(buffer, size, "%s of %s", TB_COUNT_TEXT(shown),
			TB_COUNT_TEXT(shown + left));
	return buffer;
}

// group_switch returns the i-th switch of a group.
static const struct tb_run_switch *group_switch(const struct tb_matrix_fold *fold,
	const struct tb_matrix_group *group, uint32_t i)
{
	return &tb_run_switches(
		fold->whole->run)[fold->subtrees->rows[group->level][group->first + i]];
}

// The first and the last switch of a group by their places in the level.
struct group_ends {
	const struct tb_run_switch *first, *last;
	// by how much the numbers grow from each to the next; 0: the switches have other
	// names, or do not lie evenly
	uint32_t step;
};

static struct group_ends ends_of(
	const struct tb_matrix_fold *fold, const struct tb_matrix_group *group)
{
	const struct tb_run_switch *sw = group_switch(fold, group, 0);
	struct group_ends ends = {.first = sw, .last = sw};
	for (uint32_t i = 1; i < group->n; i++) {
		sw = group_switch(fold, group, i);
		ends.first = sw->place < ends.first->place ? sw : ends.first;
		ends.last = sw->place > ends.last->place ? sw : ends.last;
	}
	if (group->n == 1)
		return ends;
	uint32_t reach = ends.last->place - ends.first->place;
	uint32_t step = reach / (group->n - 1);
	bool even = reach > 0 && step * (group->n - 1) == reach;
	for (uint32_t i = 0; i < group->n && even; i++) {
		char number[32];
		sw = group_switch(fold, group, i);
		snprintf(number, sizeof number, "%" PRIu32 ".%" PRIu32, group->level,
			sw->place);
		even = strcmp(number, sw->label) == 0 &&
		       (sw->place - ends.first->place) % step == 0;
	}
	ends.step = even ? step : 0;
	return ends;
}

char *tb_matrix_fold_text(const struct tb_matrix_fold *fold,
	const struct tb_matrix_group *group, char *buffer, size_t size)
{
	const struct group_ends ends = ends_of(fold, group);
	if (group->n == 1) {
		snprintf(buffer, size, "switch %s", ends.first->label);
		return buffer;
	}
	size_t used = (size_t)snprintf(
		buffer, size, "%" PRIu32 " switches: %s", group->n, ends.first->label);
	if (group->n > 2 && ends.step == 1 && used < size) {
		snprintf(buffer + used, size - used, " to %s", ends.last->label);
		return buffer;
	}
	for (uint32_t i = 1; i < group->n && used < size; i++) {
		char label[96];
		if (ends.step)
			snprintf(label, sizeof label, "%" PRIu32 ".%" PRIu32,
				group->level, ends.first->place + i * ends.step);
		else
			snprintf(label, sizeof label, "%s",
				group_switch(fold, group, i)->label);
		bool rest = i == 3 && ends.step && group->n > 8;
		bool full = used + strlen(label) + sizeof ", ..." > size;
		if (rest || full) {
			snprintf(buffer + used, size - used,
				rest ? " and so on to %s" : ", ...", ends.last->label);
			break;
		}
		used += (size_t)snprintf(buffer + used, size - used, ", %s", label);
	}
	return buffer;
}

char *tb_matrix_group_name(const struct tb_matrix_fold *fold,
	const struct tb_matrix_group *group, enum tb_group_name name, char *buffer,
	size_t size)
{
	const struct group_ends ends = ends_of(fold, group);
	const char *first = ends.first->label, *last = ends.last->label;
	if (group->n == 1 || name == TB_GROUP_FIRST)
		snprintf(buffer, size, "%s", first);
	else if (name == TB_GROUP_ALL && group->n == 2)
		snprintf(buffer, size, "%s, %s", first, last);
	else if (name == TB_GROUP_ALL && ends.step == 1)
		snprintf(buffer, size, "%s to %s", first, last);
	else
		snprintf(buffer, size, "%s +%" PRIu32, first, group->n - 1);
	return buffer;
}

enum tb_group_name tb_matrix_row_name(const struct tb_matrix_fold *fold, uint32_t row,
	double room, struct tb_type *type)
{
	const struct tb_matrix_group *groups = row_groups(fold, row);
	char text[96];
	for (int name = TB_GROUP_ALL; name < TB_GROUP_FIRST; name++) {
		double w = 0;
		for (uint32_t i = 0; i < fold->matrix.rows[row].n_boxes; i++)
			w = fmax(w, tb_text_width(type->font, type->size,
					    tb_matrix_group_name(fold, &groups[i],
						    (enum tb_group_name)name, text,
						    sizeof text)));
		bool cells = type->font == TB_FONT_CELL;
		if ((cells ? w : 0.9 * w) > room)
			continue;
		if (w > room)
			type->size *= room / w;
		return (enum tb_group_name)name;
	}
	return TB_GROUP_FIRST;
}

void tb_matrix_fold_note(
	const struct tb_matrix_fold *fold, uint32_t row, char note[32], char step[32])
{
	uint32_t n = tb_matrix_fold_size(fold, row), by = 0;
	note[0] = step[0] = '\0';
	if (n <= 1)
		return;
	snprintf(note, 32, "%" PRIu32 " a box", n);
	const struct tb_matrix_group *groups = row_groups(fold, row);
	for (uint32_t i = 0; i < fold->matrix.rows[row].n_boxes; i++) {
		uint32_t of = groups[i].n > 1 ? ends_of(fold, &groups[i]).step : by;
		if (of <= 1 || (by && of != by))
			return;
		by = of;
	}
	const char *const endings[] = {"th", "st", "nd", "rd"};
	bool teen = by / 10 % 10 == 1 || by % 10 > 3;
	snprintf(step, 32, "every %" PRIu32 "%s", by, endings[teen ? 0 : by % 10]);
}

char *tb_matrix_focus_text(const struct tb_subtrees *subtrees,
	struct tb_matrix_focus focus, char *buffer, size_t size)
{
	if (focus.n)
		snprintf(buffer, size, "%" PRIu32 " switch%s of level %" PRIu32, focus.n,
			focus.n == 1 ? "" : "es", focus.level);
	else if (focus.subtree == TB_ID_NONE)
		snprintf(buffer, size, "the whole network");
	else
		snprintf(buffer, size,
			"a subtree of level %" PRIu32 " with %" PRIu32 " nodes",
			subtrees->list[focus.subtree].level,
			subtrees->list[focus.subtree].n_slots);
	return buffer;
}
