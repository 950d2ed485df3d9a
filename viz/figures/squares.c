#include "squares.h"
#include "array.h"
#include "map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define QUANTITY_TIME	 TB_QUANTITY_TIME
#define QUANTITY_MEAN	 TB_QUANTITY_TIME
#define QUANTITY_COUNT	 TB_QUANTITY_COUNT
#define QUANTITY_SIZE	 TB_QUANTITY_BYTES
#define QUANTITY_RATIO	 TB_QUANTITY_RATIO
#define QUANTITY_PACKETS TB_QUANTITY_PACKETS
#define QUANTITY_PERCENT TB_QUANTITY_PERCENT
#define ROW(ID, formula, kind, key, jobs, view, compared, name, brief, title, meaning)   \
	[TB_FLOW_##ID] = {name, brief, title, meaning, QUANTITY_##kind},
const struct tb_flow_look tb_flow_looks[TB_N_FLOW_FIGURES] = {TB_FLOW_COLUMNS(ROW)};
#undef ROW

#define QUANTITY_SHARE TB_QUANTITY_PERCENT
#define LOOK_NO(...)
#define LOOK_KEY(ID, kind, key, title)                                                   \
	[TB_LISTED_##ID] = {key TB_PS_##kind, title, QUANTITY_##kind},
#define LOOK_ALL(...) LOOK_KEY(__VA_ARGS__)
#define ROW(ID, formula, kind, key, roots, held, pairs, groups, blame, compared, title,  \
	meaning)                                                                         \
	LOOK_##blame(ID, kind, key, title)
const struct tb_wait_look tb_blame_looks[TB_N_LISTED_FIGURES] = {TB_WAIT_COLUMNS(ROW)};
#undef ROW
#define ROW(ID, formula, kind, key, roots, held, pairs, groups, blame, compared, title,  \
	meaning)                                                                         \
	LOOK_##roots(ID, kind, key, title)
const struct tb_wait_look tb_root_looks[TB_N_LISTED_FIGURES] = {TB_WAIT_COLUMNS(ROW)};
#undef ROW

void tb_wait_figures_put_keys(const struct tb_wait_look *looks, FILE *stream)
{
	for (int i = 0; i < TB_N_LISTED_FIGURES; i++)
		if (looks[i].key)
			fprintf(stream, ",%s", looks[i].key);
}

void tb_wait_figures_put(
	const struct tb_wait_look *looks, const struct tb_listed_wait *wait, FILE *stream)
{
	for (int i = 0; i < TB_N_LISTED_FIGURES; i++) {
		double value = tb_listed_figure_of(wait, (enum tb_listed_figure)i);
		if (!looks[i].key)
			continue;
		fputc(',', stream);
		if (!isnan(value))
			fprintf(stream,
				looks[i].quantity == TB_QUANTITY_PERCENT ? "%.3f"
									 : "%.0f",
				value);
	}
}

char *tb_wait_figure_format(const struct tb_listed_wait *wait,
	enum tb_listed_figure figure, char *buffer, size_t size)
{
	const struct tb_wait_look *look = tb_blame_looks[figure].key
						  ? &tb_blame_looks[figure]
						  : &tb_root_looks[figure];
	double value = tb_listed_figure_of(wait, figure);
	if (isnan(value))
		snprintf(buffer, size, "-");
	else
		tb_quantity_format(look->quantity, value, buffer, size);
	return buffer;
}

enum tb_flow_figure tb_flow_figure_next(enum tb_flow_figure figure)
{
	do
		figure = (enum tb_flow_figure)((figure + 1) % TB_N_FLOW_FIGURES);
	while (!tb_flow_looks[figure].name);
	return figure;
}

char *tb_flow_figure_format(const struct tb_flow_sample *flow, enum tb_flow_figure figure,
	char *buffer, size_t size)
{
	double value = tb_flow_figure_of(flow, figure);
	if (isnan(value))
		snprintf(buffer, size, "-");
	else
		tb_quantity_format(tb_flow_looks[figure].quantity, value, buffer, size);
	return buffer;
}

static int flow_grid_make_room(struct tb_flow_grid *grid)
{
	size_t n = (size_t)grid->n_rows * grid->n_columns;
	if (TB_ARRAY_RESERVE(&grid->cells, &grid->room, n) != TB_OK)
		return TB_ENOMEM;
	if (n)
		memset(grid->cells, 0, n * sizeof *grid->cells);
	return TB_OK;
}

static void flow_grid_put(struct tb_flow_grid *grid, const struct tb_flow_table *table,
	uint32_t i, enum tb_flow_figure figure)
{
	const struct tb_flow_sample *flow = &table->rows[i];
	uint32_t row = flow->source.id / grid->step - grid->first_row;
	uint32_t column = flow->destination.id / grid->step - grid->first_column;
	struct tb_flow_cell *cell = &grid->cells[(size_t)row * grid->n_columns + column];
	double own = fmax(tb_flow_figure_of(flow, figure), 0); // 0: unknown
	if (cell->n_flows == 0 || own > cell->figure) {
		cell->heaviest = i;
		cell->figure = own;
	}
	cell->n_flows++;
	tb_flow_add(&cell->sum, flow);
}

int tb_flow_grid_fill(struct tb_flow_grid *grid, const struct tb_flow_table *table,
	struct tb_flow_range range, uint32_t step, enum tb_flow_figure figure,
	struct tb_flow_span span)
{
	grid->step = step;
	grid->first_row = range.source_from / step;
	grid->first_column = range.destination_from / step;
	grid->n_rows = (range.source_to + step - 1) / step - grid->first_row;
	grid->n_columns = (range.destination_to + step - 1) / step - grid->first_column;
	if (flow_grid_make_room(grid) != TB_OK)
		return TB_ENOMEM;
	uint32_t end_row = grid->first_row + grid->n_rows;
	uint32_t i = tb_flow_table_from(table, grid->first_row * step);
	for (; i < table->n && table->rows[i].source.id / step < end_row; i++) {
		uint32_t column = table->rows[i].destination.id / step;
		if (column >= grid->first_column &&
			column < grid->first_column + grid->n_columns &&
			tb_flow_within(&table->rows[i], span))
			flow_grid_put(grid, table, i, figure);
	}
	grid->largest = 0;
	for (size_t j = 0; j < (size_t)grid->n_rows * grid->n_columns; j++) {
		double sum = tb_flow_figure_of(&grid->cells[j].sum, figure);
		if (sum > grid->largest)
			grid->largest = sum;
	}
	return TB_OK;
}

void tb_flow_grid_fini(struct tb_flow_grid *grid)
{
	free(grid->cells);
	*grid = (struct tb_flow_grid){0};
}

const struct tb_flow_cell *tb_flow_grid_at(
	const struct tb_flow_grid *grid, uint32_t row, uint32_t column)
{
	if (row < grid->first_row || row >= grid->first_row + grid->n_rows ||
		column < grid->first_column ||
		column >= grid->first_column + grid->n_columns)
		return NULL;
	return &grid->cells[(size_t)(row - grid->first_row) * grid->n_columns + column -
			    grid->first_column];
}

bool tb_blame_passes(
	const struct tb_blame_sample *row, const struct tb_blame_filter *filter)
{
	uint32_t node = filter->node;
	bool link = filter->link == TB_ID_NONE || row->link.id == filter->link;
	bool victim =
		filter->victim_job == TB_ID_NONE || row->victim_job == filter->victim_job;
	bool culprit = filter->culprit_job == TB_ID_NONE ||
		       row->culprit_job == filter->culprit_job;
	bool ends = node == TB_ID_NONE || row->victim_source.id == node ||
		    row->victim_destination.id == node ||
		    row->culprit_source.id == node || row->culprit_destination.id == node;
	return link && victim && culprit && ends;
}

static struct tb_square_party culprit_of(
	const struct tb_blame_sample *row, enum tb_blame_parties parties)
{
	const struct tb_node none = {TB_ID_NONE};
	bool jobs = parties == TB_BLAME_OF_JOBS;
	return (struct tb_square_party){row->culprit_job,
		jobs ? none : row->culprit_source, jobs ? none : row->culprit_destination,
		row->wait_ps};
}

static uint64_t blame_square_key(const struct tb_square_party *party)
{
	return ((uint64_t)party->job & 0xffff) << 48 |
	       ((uint64_t)party->source.id & 0xffffff) << 24 |
	       (party->destination.id & 0xffffff);
}

// The parties of one side while rows are read: those chosen, and all.
struct square_side {
	struct tb_square_party *chosen;
	uint32_t n, most, n_all;
	struct tb_map known; // place among the chosen, or TB_ID_NONE, by key
};

// blame_square_place finds a party among the chosen, or adds it when it is wanted and
// there is room; else the place is TB_ID_NONE.
static int blame_square_place(struct square_side *side,
	const struct tb_square_party *party, bool wanted, uint32_t *place)
{
	uint64_t key = blame_square_key(party);
	bool known = tb_map_find(&side->known, key, place);
	side->n_all += !known;
	if (known && (*place != TB_ID_NONE || !wanted || side->n == side->most))
		return TB_OK;
	*place = TB_ID_NONE;
	if (wanted && side->n < side->most) {
		*place = side->n++;
		side->chosen[*place] = *party;
		side->chosen[*place].wait_ps = 0;
	}
	return tb_map_put(&side->known, key, *place);
}

static bool blame_square_has_room(
	const struct square_side *side, const struct tb_square_party *party)
{
	uint32_t place = TB_ID_NONE;
	return (tb_map_find(&side->known, blame_square_key(party), &place) &&
		       place != TB_ID_NONE) ||
	       side->n < side->most;
}

static void blame_square_put(struct tb_blame_square *square, uint32_t victim,
	uint32_t culprit, uint32_t index, const struct tb_blame_sample *row)
{
	if (victim == TB_ID_NONE || culprit == TB_ID_NONE)
		return;
	uint64_t *wait_ps = &square->wait_ps[victim][culprit];
	// Rows come heaviest first: the first of a cell is its heaviest.
	if (*wait_ps == 0)
		square->heaviest[victim][culprit] = index;
	*wait_ps += row->wait_ps;
	square->victims[victim].wait_ps += row->wait_ps;
	square->culprits[culprit].wait_ps += row->wait_ps;
	square->shown_ps += row->wait_ps;
	if (*wait_ps > square->largest_ps)
		square->largest_ps = *wait_ps;
}

// blame_square_fill chooses both parties of a row or neither, so that no row or column of
// the square stays empty.
static int blame_square_fill(struct tb_blame_square *square,
	const struct tb_blame_sample *rows, uint32_t n,
	const struct tb_blame_filter *filter, struct square_side *victims,
	struct square_side *culprits)
{
	int status = TB_OK;
	for (uint32_t i = 0; i < n && status == TB_OK; i++) {
		uint32_t at_victim = TB_ID_NONE, at_culprit = TB_ID_NONE;
		if (!tb_blame_passes(&rows[i], filter))
			continue;
		square->whole_ps += rows[i].wait_ps;
		const struct tb_blame_sample *row = &rows[i];
		enum tb_blame_parties parties = square->parties;
		const struct tb_node none = {TB_ID_NONE};
		bool jobs = parties == TB_BLAME_OF_JOBS;
		struct tb_square_party victim = (struct tb_square_party){row->victim_job,
			jobs ? none : row->victim_source,
			jobs ? none : row->victim_destination, row->wait_ps};
		struct tb_square_party culprit = culprit_of(&rows[i], square->parties);
		bool both = blame_square_has_room(victims, &victim) &&
			    blame_square_has_room(culprits, &culprit);
		status = blame_square_place(victims, &victim, both, &at_victim);
		if (status == TB_OK)
			status =
				blame_square_place(culprits, &culprit, both, &at_culprit);
		blame_square_put(square, at_victim, at_culprit, i, &rows[i]);
	}
	square->n_victims = victims->n;
	square->n_culprits = culprits->n;
	square->all_victims = victims->n_all;
	square->all_culprits = culprits->n_all;
	return status;
}

int tb_blame_square_fill(struct tb_blame_square *square,
	const struct tb_blame_sample *rows, uint32_t n, enum tb_blame_parties parties,
	const struct tb_blame_filter *filter, uint32_t most)
{
	if (most > TB_BLAME_SIDE)
		most = TB_BLAME_SIDE;
	*square = (struct tb_blame_square){.parties = parties};
	struct square_side victims = {.chosen = square->victims, .most = most};
	struct square_side culprits = {.chosen = square->culprits, .most = most};
	int status = blame_square_fill(square, rows, n, filter, &victims, &culprits);
	tb_map_fini(&victims.known);
	tb_map_fini(&culprits.known);
	return status;
}
