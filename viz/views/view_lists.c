// Lists. The first one is that of all links, with their figures in the window and their
// sparkline over the whole run. The others are those of the report (table.h), whole run:
// titles, meanings, figures and order of columns are the rows of its tables, so that a
// column that is added there is shown here. A row has all of its figures in the panel.
#include "detail.h"
#include "list_view.h"
#include "parts.h"
#include "report_parts.h"
#include "scale.h"
#include "text_lines.h"
#include "views.h"
#include "wrap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAD	 16
#define CHIP_H	 24 // of the names of lists
#define HEADER_H 52 // below them
#define ROW_H	 22
#define NAME_W	 150 // at least
#define SPARK_W	 84
#define LEAST_W	 67 // of a column of figures

#define LISTED	   1000 // rows of a list, at most
#define MOST	   64	// columns
#define SAMPLED	   100	// rows whose texts decide how wide a column is
#define NAME_LEAST 120	// of a column of names where not all have room
#define GAP	   14

struct lists_question {
	struct tb_question question;
	struct tb_report *report;
};

// A table of the report, as it is shown.
struct listed_table {
	const struct tb_table *table; // NULL: the links are shown
	uint32_t *rows;		      // as they are sorted
	struct tb_view_column columns[MOST];
	size_t n_columns; // that have room
	double room;	  // that they were laid out for
	int order;	  // -1: as in the report
	bool rising;
	double scroll;
};

struct lists {
	struct lists_question asked;
	struct listed_table shown;
};

static struct lists *lists_of(const struct tb_pane *pane)
{
	return pane->state;
}

static int read_lists(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct lists_question *asked = (struct lists_question *)question;
	return tb_report_new(&asked->report, run, LISTED, error);
}

static void close_lists(void *state)
{
	struct lists *lists = state;
	tb_question_drop(&lists->asked.question);
	tb_report_free(lists->asked.report);
	free(lists->shown.rows);
}

// is_listed: what people are shown and no other view has.
static bool is_listed(const struct tb_table *table)
{
	return table->n_shown > 0 && strcmp(table->type->name, "hot-links") != 0;
}

// listed_tables returns the tables of the report, none until it is made.
static const struct tb_table *listed_tables(const struct tb_pane *pane, size_t *n)
{
	const struct lists *lists = lists_of(pane);
	*n = 0;
	if (!lists || lists->asked.question.state != TB_ANSWERED)
		return NULL;
	return tb_report_tables(lists->asked.report, n);
}

static size_t table_rows(const struct tb_table *table)
{
	return table->n_shown < UINT16_MAX ? table->n_shown : UINT16_MAX;
}

// A row of a list as a pick: its table above, its row below.
static struct tb_pick row_pick(const struct tb_pane *pane, size_t row)
{
	size_t n;
	size_t at = (size_t)(lists_of(pane)->shown.table - listed_tables(pane, &n));
	return (struct tb_pick){TB_PICK_ROW, (uint32_t)(at << 16 | row)};
}

// What rows are sorted by.
struct listed_key {
	double figure;
	char *text; // of names
	bool unknown;
	uint32_t row;
};

static int by_listed_key(const void *one, const void *other)
{
	const struct listed_key *a = one, *b = other;
	if (a->unknown != b->unknown)
		return a->unknown - b->unknown;
	int order = a->text ? strcmp(a->text, b->text)
			    : (a->figure < b->figure) - (a->figure > b->figure);
	return order ? order : (a->row > b->row) - (a->row < b->row);
}

// sort_table fills in the rows, the largest figures first, or names from A on. Without
// memory they stay as they are.
static void sort_table(struct listed_table *shown)
{
	uint32_t n = (uint32_t)table_rows(shown->table);
	struct listed_key *keys = calloc(n + 1u, sizeof *keys);
	for (uint32_t i = 0; i < n; i++)
		shown->rows[i] = i;
	if (!keys || shown->order < 0) {
		free(keys);
		return;
	}
	const struct tb_column column =
		tb_table_column(shown->table, (size_t)shown->order);
	bool all = true;
	for (uint32_t i = 0; i < n; i++) {
		struct tb_datum datum;
		tb_table_put(shown->table, &column, i, &datum);
		json_decref(datum.object);
		keys[i] = (struct listed_key){.figure = tb_datum_figure(&datum),
			.unknown = datum.unknown,
			.row = i};
		if (!tb_column_is_number(&column)) {
			keys[i].text = strdup(datum.text);
			all = all && keys[i].text;
		}
	}
	if (all)
		qsort(keys, n, sizeof *keys, by_listed_key);
	for (uint32_t i = 0; i < n; i++) {
		shown->rows[shown->rising ? n - 1 - i : i] = keys[i].row;
		free(keys[i].text);
	}
	free(keys);
}

// show_list shows a table of the report, NULL: the links.
static void show_list(struct tb_pane *pane, const struct tb_table *table)
{
	struct listed_table *shown = &lists_of(pane)->shown;
	uint32_t *rows = table ? malloc((table_rows(table) + 1) * sizeof *rows) : NULL;
	if (table && !rows)
		return;
	free(shown->rows);
	*shown = (struct listed_table){.table = table, .rows = rows, .order = -1};
	if (table)
		sort_table(shown);
}

// table_column_width returns how wide a column is: its title, and what stands below it.
static double table_column_width(
	const struct tb_table *table, const struct tb_column *column)
{
	enum tb_font font = tb_column_is_number(column) ? TB_FONT_TEXT : TB_FONT_MONO;
	double w = tb_text_width(TB_FONT_BOLD, 12, column->title);
	for (size_t row = 0; row < table_rows(table) && row < SAMPLED; row++) {
		struct tb_datum datum;
		tb_table_put(table, column, row, &datum);
		json_decref(datum.object);
		w = fmax(w, tb_text_width(font, 12, datum.text));
	}
	return ceil(w) + 2;
}

// lay_out_table places the columns that have room; long names give way first.
static void lay_out_table(struct listed_table *shown, double room)
{
	bool named[MOST] = {false};
	double x = 44, all = x + PAD;
	size_t n = 0;
	if (shown->room == room)
		return;
	for (size_t i = 0; i < shown->table->type->n_columns && n < MOST; i++) {
		const struct tb_column column = tb_table_column(shown->table, i);
		if (!column.title)
			continue;
		named[n] = !tb_column_is_number(&column);
		shown->columns[n] = (struct tb_view_column){.what = (int)i,
			.title = column.title,
			.w = table_column_width(shown->table, &column),
			.align = named[n] ? TB_ALIGN_LEFT : TB_ALIGN_RIGHT,
			.sorts = true};
		all += shown->columns[n++].w + GAP;
	}
	for (size_t i = 0; i < n && all > room; i++) {
		double *w = &shown->columns[i].w;
		double less = named[i] ? fmin(fmax(*w - NAME_LEAST, 0), all - room) : 0;
		*w -= less;
		all -= less;
	}
	shown->n_columns = 0;
	for (size_t i = 0; i < n && (i == 0 || x + shown->columns[i].w <= room - PAD);
		i++) {
		shown->columns[i].x = x;
		x += shown->columns[i].w + GAP;
		shown->n_columns++;
	}
	shown->room = room;
}

// metric_at returns the metric of the i-th column of figures: first those about waits,
// which stay where there is little room, then the others.
static enum tb_metric metric_at(size_t i)
{
	static const enum tb_metric first[] = {TB_WAIT, TB_LONGEST, TB_BLOCKED};
	enum { N_FIRST = sizeof first / sizeof *first };
	if (i < N_FIRST)
		return first[i];
	i -= N_FIRST;
	for (int at = 0; at < TB_N_METRICS; at++)
		if (at != TB_WAIT && at != TB_LONGEST && at != TB_BLOCKED && i-- == 0)
			return (enum tb_metric)at;
	return TB_WAIT;
}

static int open_lists(struct tb_pane *pane, struct tb_error *error)
{
	(void)error;
	tb_rows_read(pane->rows);
	struct tb_question *question = &lists_of(pane)->asked.question;
	if (!question->read)
		*question = (struct tb_question){
			.what = "reading the lists", .read = read_lists};
	return TB_OK;
}

// The names of the lists: parts of the view behind those that all views have.
#define CHIPS TB_PART_SUBTREE

// put_chips draws the names of the lists, where there is a picture, and returns their
// height.
static double put_chips(const struct tb_pane *pane, struct tb_picture *picture)
{
	size_t n;
	const struct tb_table *tables = listed_tables(pane, &n);
	const struct tb_table *shown = lists_of(pane)->shown.table;
	double x = PAD, y = 4, room = pane->place.w - PAD;
	for (size_t i = 0; i <= n; i++) {
		const struct tb_table_type *type = i ? tables[i - 1].type : NULL;
		if (i > 0 && !is_listed(&tables[i - 1]))
			continue;
		const char *title = !type	  ? "Links"
				    : type->brief ? type->brief
						  : type->title;
		double w = ceil(tb_text_width(TB_FONT_TEXT, 12, title)) + 14;
		if (x > PAD && x + w > room) {
			x = PAD;
			y += CHIP_H;
		}
		if (picture)
			tb_pane_chip(pane, picture,
				&(struct tb_chip){
					.box = {pane->place.x + x, pane->place.y + y, w,
						CHIP_H - 2},
					.pick = {TB_PICK_PART, (uint32_t)(CHIPS + i)},
					.title = title,
					.chosen =
						i == 0 ? !shown : shown == &tables[i - 1],
					.align = TB_ALIGN_LEFT});
		x += w + 1;
	}
	return y + CHIP_H;
}

// name_width is as wide as the names of two switches and their ports, but at most a
// third of the place.
static double name_width(const struct tb_pane *pane)
{
	const struct tb_run_switch *switches = tb_run_switches(pane->data->run);
	size_t longest = 0;
	for (uint32_t i = 0; i < pane->data->info->n_switches; i++)
		longest = longest < strlen(switches[i].label) ? strlen(switches[i].label)
							      : longest;
	double w = ((double)(2 * longest + strlen(":64 > :64")) + 1) *
		   tb_text_width(TB_FONT_MONO, 12, "0");
	return fmax(fmin(w, pane->place.w / 3), NAME_W);
}

static struct tb_pick pick_link(const struct tb_list_view *list, uint32_t row)
{
	const struct tb_pane *pane = list->context;
	return (struct tb_pick){TB_PICK_LINK, pane->rows->list[row].link.id};
}

// The columns besides those by which the list can be sorted (enum tb_list_column).
enum { LINK_RANK = -3, LINK_SHADE, LINK_SPARK };

static void draw_link_cell(const struct tb_list_cell *cell)
{
	const struct tb_pane *pane = cell->pane;
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	const struct tb_link at = pane->rows->list[cell->row].link;
	const struct tb_run_link *link = &tb_run_links(pane->data->run)[at.id];
	struct tb_box box = cell->box;
	if (cell->what == LINK_RANK) {
		tb_list_cell_rank(cell);
	} else if (cell->what == LINK_SHADE) { // as the other views show it
		const struct tb_scale scale = tb_rows_scale(pane->rows, pane->style);
		uint64_t amount = tb_metric_of(
			&pane->data->samples[at.id], tb_rows_metric(pane->rows));
		double percent = tb_scale_percent(&scale, (double)amount);
		tb_picture_rect(cell->picture,
			(struct tb_box){box.x, box.y + 6, box.w, box.h - 12},
			tb_style_shade(pane->style, percent));
	} else if (cell->what == LINK_SPARK) {
		const struct tb_spark *spark = tb_spark_of(pane->rows->sparks, at);
		if (spark)
			tb_spark_draw(cell->picture,
				(struct tb_box){box.x, box.y + 3, box.w, box.h - 6},
				spark, spark->largest, palette->muted);
	} else if (cell->what == TB_COLUMN_NAME) {
		struct tb_type type = tb_style_type(pane->style, TB_FONT_MONO, 12, false);
		if (tb_viewer_data_is_dead(pane->data, link->dead_at_ps))
			type.colour = palette->dead;
		tb_picture_name(cell->picture, box, type, link->label);
	} else {
		char value[48];
		enum tb_metric metric = (enum tb_metric)(cell->what - TB_COLUMN_METRIC);
		uint64_t amount = tb_metric_of(&cell->pane->data->samples[at.id], metric);
		if (tb_link_figures[metric].kind == TB_KIND_COUNT)
			tb_format_count(amount, value, sizeof value);
		else
			tb_metric_format(metric, amount, value, sizeof value);
		tb_list_cell_number(
			cell, tb_rows_metric(cell->pane->rows) != metric, value);
	}
}

#define COLUMNS_MOST (MOST + 1)

static void draw_table_cell(const struct tb_list_cell *cell)
{
	const struct tb_pane *pane = cell->pane;
	const struct listed_table *shown = &lists_of(pane)->shown;
	struct tb_datum datum;
	if (cell->what < 0) {
		tb_list_cell_rank(cell);
		return;
	}
	const struct tb_column column = tb_table_column(shown->table, (size_t)cell->what);
	tb_table_put(shown->table, &column, shown->rows[cell->row], &datum);
	json_decref(datum.object);
	if (tb_column_is_number(&column))
		tb_list_cell_number(cell, false, datum.text);
	else
		tb_list_cell_name(cell, datum.text);
}

static struct tb_pick pick_table_row(const struct tb_list_view *list, uint32_t row)
{
	const struct tb_pane *pane = list->context;
	return row_pick(pane, lists_of(pane)->shown.rows[row]);
}

// list_table returns the list of a table; its columns are those of `shown` behind the
// numbers of its rows.
static struct tb_list_view list_table(
	const struct tb_pane *pane, struct tb_view_column columns[MOST + 1])
{
	struct listed_table *shown = &lists_of(pane)->shown;
	struct tb_box place = pane->place;
	double top = put_chips(pane, NULL) + HEADER_H;
	lay_out_table(shown, place.w);
	columns[0] = (struct tb_view_column){-1, .x = PAD - 10, .w = 34};
	memcpy(columns + 1, shown->columns, shown->n_columns * sizeof *columns);
	return (struct tb_list_view){.context = pane,
		.columns = columns,
		.n_columns = shown->n_columns + 1,
		.draw = draw_table_cell,
		.order = shown->order,
		.rising = shown->rising,
		.pick = pick_table_row,
		.chosen = pane->selection->selected,
		.body = {place.x, place.y + top, place.w, fmax(place.h - top, 1)},
		.n = (uint32_t)table_rows(shown->table),
		.row_h = ROW_H,
		.scroll = &shown->scroll,
		.notch = 3,
		.bar_w = 5};
}

// list_links stores the columns, as many figures as fit between name and sparkline, and
// returns the list.
static struct tb_list_view list_links(
	const struct tb_pane *pane, struct tb_view_column columns[COLUMNS_MOST])
{
	struct tb_box place = pane->place;
	double top = put_chips(pane, NULL) + HEADER_H;
	double name_w = name_width(pane), x = PAD + 40;
	double room = place.w - 2 * PAD - 40 - name_w - SPARK_W - 12;
	double n = fmin(fmax(floor(room / LEAST_W), 1), TB_N_METRICS);
	double w = fmin(room / n, 110);
	size_t n_columns = 0;
	columns[n_columns++] = (struct tb_view_column){LINK_RANK, .x = PAD - 10, .w = 34};
	columns[n_columns++] = (struct tb_view_column){LINK_SHADE, .x = PAD + 29, .w = 6};
	columns[n_columns++] = (struct tb_view_column){
		TB_COLUMN_NAME, "Link", NULL, x, name_w - 6, TB_ALIGN_LEFT, true, -2};
	x += name_w;
	for (size_t i = 0; i < (size_t)n; i++, x += w) {
		enum tb_metric metric = metric_at(i);
		columns[n_columns++] = (struct tb_view_column){
			(int)(TB_COLUMN_METRIC + metric), tb_link_figures[metric].brief,
			NULL, x, w - 6, TB_ALIGN_RIGHT, true, 2};
	}
	columns[n_columns++] = (struct tb_view_column){
		LINK_SPARK, "over time", NULL, x + 12, SPARK_W, TB_ALIGN_LEFT, false, 0};
	return (struct tb_list_view){.context = pane,
		.columns = columns,
		.n_columns = n_columns,
		.draw = draw_link_cell,
		.order = (int)(pane->rows->column == TB_COLUMN_SHOWN
				       ? TB_COLUMN_METRIC + pane->data->metric
				       : pane->rows->column),
		.rising = pane->rows->rising,
		.pick = pick_link,
		.chosen = pane->selection->selected,
		.marks = pane->selection->marks.links,
		.body = {place.x, place.y + top, place.w, fmax(place.h - top, 1)},
		.n = pane->rows->n,
		.row_h = ROW_H,
		.scroll = &pane->rows->scroll,
		.notch = 3,
		.bar_w = 5};
}

static struct tb_list_view list_shown(
	const struct tb_pane *pane, struct tb_view_column columns[COLUMNS_MOST])
{
	return lists_of(pane)->shown.table ? list_table(pane, columns)
					   : list_links(pane, columns);
}

static void lists_reveal(struct tb_pane *pane, bool zoom)
{
	struct tb_view_column columns[COLUMNS_MOST];
	struct tb_pick selected = pane->selection->selected;
	(void)zoom;
	if (!lists_of(pane))
		return;
	const struct tb_list_view list = list_shown(pane, columns);
	for (uint32_t row = 0; lists_of(pane)->shown.table && row < list.n; row++)
		if (tb_pick_equal(list.pick(&list, row), selected))
			tb_list_view_show(&list, row);
	uint32_t row = tb_rows_of(pane->rows, selected);
	if (!lists_of(pane)->shown.table && row < list.n)
		tb_list_view_show(&list, row);
}

// draw_above_links counts the links and has a button that filters them.
static void draw_above_links(
	struct tb_pane *pane, struct tb_picture *picture, struct tb_box line)
{
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, true);
	char count[32], all[32];
	tb_format_count(pane->rows->n, count, sizeof count);
	tb_format_count(pane->data->info->n_links, all, sizeof all);
	if (pane->rows->filter[0])
		tb_picture_printf(picture, line, type, "%s of %s links match '%s'", count,
			all, pane->rows->filter);
	else
		tb_picture_printf(picture, line, type,
			"%s of %s links have something to show", count, all);
	tb_pane_button(pane, picture,
		(struct tb_box){
			pane->place.x + pane->place.w - PAD - 80, line.y - 3, 80, 22},
		TB_REQUEST_FILTER, "Filter");
}

// draw_above_table says what the table lists, and which columns have no room.
static void draw_above_table(
	struct tb_pane *pane, struct tb_picture *picture, struct tb_box line)
{
	const struct listed_table *shown = &lists_of(pane)->shown;
	const struct tb_table *table = shown->table;
	size_t n = 0;
	char text[600];
	for (size_t i = 0; i < table->type->n_columns; i++)
		n += tb_table_column(table, i).title != NULL;
	snprintf(text, sizeof text, "%s, whole run.%s%s%s", tb_table_title(table),
		n > shown->n_columns ? " A row has all columns in the panel." : "",
		table->remark[0] ? " " : "", table->remark);
	line.w += 80;
	tb_picture_text(
		picture, line, tb_style_type(pane->style, TB_FONT_TEXT, 12, true), text);
}

static void lists_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_view_column columns[COLUMNS_MOST];
	struct tb_error error;
	if (!lists_of(pane))
		return;
	if (lists_of(pane)->asked.question.state != TB_REFUSED &&
		tb_viewer_put(pane->viewer, &lists_of(pane)->asked.question, &error) < 0)
		tb_viewer_report(pane->viewer, &error);
	const struct tb_list_view list = list_shown(pane, columns);
	bool of_links = !lists_of(pane)->shown.table;
	struct tb_box place = pane->place, rows = list.body;
	struct tb_box line = {
		place.x + PAD, rows.y - HEADER_H + 8, place.w - 2 * PAD - 90, 18};
	char why[120];
	put_chips(pane, picture);
	tb_list_view_scroll_to(&list, *list.scroll);
	if (of_links) {
		tb_rows_rank(pane->rows, (pane->rows->scroll + rows.h) / ROW_H + 1);
		tb_sparks_begin(pane->rows->sparks, tb_rows_metric(pane->rows));
		draw_above_links(pane, picture, line);
	} else
		draw_above_table(pane, picture, line);
	tb_list_view_draw_titles(&list, pane, picture, rows.y - 24, 22);
	tb_picture_line(picture,
		(struct tb_box){rows.x + PAD, rows.y - 0.5, rows.w - 2 * PAD, 0}, 1,
		tb_palette_of(pane->style->theme)->line);
	tb_list_view_draw(&list, pane, picture);
	if (list.n > 0 || !of_links)
		return;
	tb_run_nothing_text(pane->data->run, tb_rows_metric(pane->rows), why, sizeof why);
	tb_pane_nothing(pane, picture,
		pane->rows->filter[0] ? "Nothing to show: no link matches the filter."
				      : why);
}

// next_list shows the list behind the one that is shown; the links follow the last.
static void next_list(struct tb_pane *pane)
{
	size_t n;
	const struct tb_table *tables = listed_tables(pane, &n);
	const struct tb_table *shown = lists_of(pane)->shown.table;
	size_t i = shown ? (size_t)(shown - tables) + 1 : 0;
	while (i < n && !is_listed(&tables[i]))
		i++;
	show_list(pane, i < n ? &tables[i] : NULL);
}

static bool lists_request(struct tb_pane *pane, const struct tb_request *asked)
{
	struct tb_view_column columns[COLUMNS_MOST];
	if (!lists_of(pane))
		return false;
	if (asked->name == TB_REQUEST_FIGURE) {
		next_list(pane);
		return true;
	}
	const struct tb_list_view list = list_shown(pane, columns);
	return tb_list_view_request(&list, asked);
}

// order_by sorts by a column, or the other way round when it does so already.
static void order_by(struct tb_pane *pane, uint32_t column)
{
	struct listed_table *shown = &lists_of(pane)->shown;
	if (!shown->table) {
		tb_rows_order(pane->rows, (enum tb_list_column)column);
		return;
	}
	shown->rising = shown->order == (int)column && !shown->rising;
	shown->order = (int)column;
	sort_table(shown);
}

static void lists_pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	struct tb_view_column columns[COLUMNS_MOST];
	if (!lists_of(pane))
		return;
	const struct tb_list_view list = list_shown(pane, columns);
	if (tb_list_view_pointer(&list, event) || event->kind != TB_EVENT_CLICK)
		return;
	size_t n, at = event->pick.index - CHIPS;
	const struct tb_table *tables = listed_tables(pane, &n);
	if (event->pick.kind == TB_PICK_COLUMN)
		order_by(pane, event->pick.index);
	else if (event->pick.kind == TB_PICK_PART && event->pick.index >= CHIPS &&
		 at <= n)
		show_list(pane, at ? &tables[at - 1] : NULL);
}

// tip_lines breaks a text into the lines of a tooltip.
static void tip_lines(struct tb_tip *tip, const char *text)
{
	char *lines = NULL, *rest;
	size_t size;
	FILE *stream = open_memstream(&lines, &size);
	if (!stream)
		return;
	tb_wrap(stream, 0, 0, 90, text);
	lines = tb_text_written(stream, &lines);
	for (char *line = lines ? strtok_r(lines, "\n", &rest) : NULL;
		line && tip->n_lines < TB_TIP_LINES; line = strtok_r(NULL, "\n", &rest))
		tb_tip_line(tip, tip->n_lines, "%s", line);
	free(lines);
}

static void lists_tip(const struct tb_pane *pane, struct tb_tip *tip)
{
	tip->side = TB_TIP_ABOVE;
	if (tip->pick.kind == TB_PICK_LINK)
		tip->n_lines = 0; // its row has all that and more
	const struct tb_switching_words *words = pane->data->info->words;
	size_t n, at = tip->pick.index - CHIPS;
	const struct tb_table *tables = listed_tables(pane, &n);
	char meaning[300];
	if (tip->pick.kind == TB_PICK_PART && tip->pick.index > CHIPS && at <= n) {
		tip_lines(tip, tb_table_title(&tables[at - 1]));
		tip_lines(tip,
			tables[at - 1].type->meaning ? tables[at - 1].type->meaning : "");
	}
	if (!lists_of(pane) || tip->pick.kind != TB_PICK_COLUMN)
		return;
	const struct tb_table *table = lists_of(pane)->shown.table;
	if (table) {
		const struct tb_column column = tb_table_column(table, tip->pick.index);
		tip_lines(tip, column.title);
		tip_lines(tip, column.meaning ? tb_fill_words(column.meaning, words,
							meaning, sizeof meaning)
					      : "");
	} else if (tip->pick.index >= TB_COLUMN_METRIC) {
		enum tb_metric metric =
			(enum tb_metric)(tip->pick.index - TB_COLUMN_METRIC);
		tip_lines(tip, tb_metric_title(metric));
		tip_lines(tip, tb_metric_meaning(metric, words, meaning, sizeof meaning));
	}
}

static void lists_put_csv(struct tb_pane *pane, FILE *stream)
{
	if (lists_of(pane) && lists_of(pane)->shown.table)
		tb_table_csv(lists_of(pane)->shown.table, stream);
	else
		tb_rows_put_csv(pane->rows, stream);
}

// pick_of_key returns what a column of numbers names, by the last word of its key.
static struct tb_pick pick_of_key(const struct tb_datum *datum)
{
	static const struct {
		const char *word;
		enum tb_pick_kind kind;
	} kinds[] = {{"link", TB_PICK_LINK}, {"root", TB_PICK_LINK},
		{"switch", TB_PICK_SWITCH}, {"job", TB_PICK_JOB},
		{"source", TB_PICK_NODE}, {"destination", TB_PICK_NODE},
		{"node", TB_PICK_NODE}};
	const char *word = datum->column->key;
	while (word && word[strcspn(word, "._")])
		word += strcspn(word, "._") + 1;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (word && datum->column->kind == TB_DATUM_ID && !datum->unknown &&
			datum->whole >= 0 && datum->whole < TB_ID_NONE &&
			strcmp(word, kinds[i].word) == 0)
			return (struct tb_pick){kinds[i].kind, (uint32_t)datum->whole};
	return (struct tb_pick){TB_PICK_NONE, 0};
}

// pick_name names what a pick stands for; NULL: the run does not have it.
static const char *pick_name(
	const struct tb_pane *pane, struct tb_pick pick, char *buffer, size_t size)
{
	const struct tb_run *run = pane->data->run;
	const struct tb_run_info *info = pane->data->info;
	snprintf(buffer, size, "node %u", pick.index);
	switch ((int)pick.kind) {
	case TB_PICK_LINK:
		return pick.index < info->n_links ? tb_run_links(run)[pick.index].label
						  : NULL;
	case TB_PICK_SWITCH:
		return pick.index < info->n_switches
			       ? tb_run_switches(run)[pick.index].label
			       : NULL;
	case TB_PICK_JOB:
		return pick.index < info->n_jobs ? tb_run_job_name(run, pick.index)
						 : NULL;
	default:
		return pick.kind == TB_PICK_NODE && pick.index < info->n_nodes ? buffer
									       : NULL;
	}
}

bool tb_lists_row_sheet(const struct tb_detail *detail, struct tb_pick pick)
{
	const struct tb_pane *pane = tb_viewer_pane(detail->pane->viewer, &tb_view_lists);
	size_t n = 0, at = pick.index >> 16, row = pick.index & UINT16_MAX;
	const struct tb_table *tables = pane ? listed_tables(pane, &n) : NULL;
	if (pick.kind != TB_PICK_ROW || at >= n || row >= table_rows(&tables[at]))
		return false;
	const struct tb_table *table = &tables[at];
	char number[32];
	snprintf(number, sizeof number, "%zu", row + 1);
	tb_sheet_heading(detail->sheet, table->type->title, number);
	for (size_t i = 0; i < table->type->n_columns; i++) {
		const struct tb_column column = tb_table_column(table, i);
		struct tb_datum datum;
		char buffer[32];
		tb_table_put(table, &column, row, &datum);
		json_decref(datum.object);
		struct tb_pick names = pick_of_key(&datum);
		const char *name = pick_name(detail->pane, names, buffer, sizeof buffer);
		if (name)
			tb_sheet_name(detail->sheet, names,
				column.title ? column.title : column.key, name);
		else if (column.title)
			tb_sheet_row(detail->sheet, column.title, datum.text);
	}
	return true;
}

const struct tb_view tb_view_lists = {.slot = TB_SLOT_MAIN,
	.about = "A click on a title sorts; on a row, it shows all that the list has of "
		 "it, and what it names. Ctrl+E exports the list.",
	.lists_links = true,
	.name = "links",
	.tab = "Lists",
	.state_size = sizeof(struct lists),
	.open = open_lists,
	.draw = lists_draw,
	.request = lists_request,
	.pointer = lists_pointer,
	.tip = lists_tip,
	.reveal = lists_reveal,
	.put_csv = lists_put_csv,
	.forget = tb_pane_drop,
	.close = close_lists};
