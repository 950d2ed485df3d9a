// The links of the window as rows, filtered and in the order of a column: what the list
// of hot links and the table of links show, and what is exported.
#ifndef TB_ROWS_H
#define TB_ROWS_H

#include "spark.h"
#include "style.h"
#include "viewer_data.h"

struct tb_list_row {
	struct tb_link link;
	uint64_t key; // the larger come first
};

// What links can be listed by.
enum tb_list_column {
	TB_COLUMN_SHOWN, // the metric that is shown
	TB_COLUMN_NAME,
	TB_COLUMN_METRIC, // and the metrics, TB_WAIT first
	TB_N_COLUMNS = TB_COLUMN_METRIC + TB_LONGEST + 1
};

struct tb_rows {
	const struct tb_viewer_data *data; // borrowed
	struct tb_list_row *list;
	uint32_t n, n_ranked; // sorted: the first n_ranked
	enum tb_list_column column;
	bool rising;
	char filter[64]; // words, each of which a link's name or kind must have
	double scroll;	 // pixels, of the view that lists them
	struct tb_sparks *sparks;
};

// tb_rows_init makes room for all links of the run that `data` holds, which stays the
// caller's and must outlive the rows. TB_ENOMEM; tb_rows_fini frees what there is in
// either case.
int tb_rows_init(struct tb_rows *rows, const struct tb_viewer_data *data) TB_MUST_USE;
void tb_rows_fini(struct tb_rows *rows);

// tb_rows_read lists the links that pass the filter and whose metric is not 0, by the
// chosen column. Linear in links.
void tb_rows_read(struct tb_rows *rows);
// tb_rows_rank sorts as far as the first n: of a hundred thousand links a page is read.
void tb_rows_rank(struct tb_rows *rows, double n);

// tb_rows_metric is the metric that the rows go by, tb_rows_scale its scale over all
// links.
enum tb_metric tb_rows_metric(const struct tb_rows *rows);
struct tb_scale tb_rows_scale(const struct tb_rows *rows, const struct tb_style *style);

// tb_rows_order chooses the column, or reverses the order when it is chosen already.
void tb_rows_order(struct tb_rows *rows, enum tb_list_column column);

// tb_rows_of is the row of a link, n when it has none or the pick is no link.
uint32_t tb_rows_of(const struct tb_rows *rows, struct tb_pick pick);

// tb_rows_step finds the link in the row before that of `pick` (by -1) or after it (by
// 1), or the first row's when the pick has none; the ends of the list stop it. False when
// there are no rows.
bool tb_rows_step(
	struct tb_rows *rows, struct tb_pick pick, int by, struct tb_link *link);

// tb_rows_scroll_to scrolls a view whose rows are row_h pixels high and of which sight_h
// pixels are seen, within its ends; tb_rows_reveal as far as it takes to see a link.
void tb_rows_scroll_to(struct tb_rows *rows, double scroll, double row_h, double sight_h);
void tb_rows_reveal(
	struct tb_rows *rows, struct tb_pick pick, double row_h, double sight_h);

// tb_rows_kind names a kind of link: "up".
const char *tb_rows_kind(enum tb_link_kind kind);

#endif
