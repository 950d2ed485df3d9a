#include "infer_impl.h"

#include "array.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

#define SHORT_BYTES 256	 // requests and answers are shorter
#define LONG_BYTES  4096 // data are longer: a library asks only before long messages
// A protocol is accepted if the numbers of its requests, answers and data differ by at
// most an eighth, and at most a sixteenth of them do not fit together.
#define ALIKE_PART  8
#define UNFIT_PART  16
#define RECURS_FROM 16 // messages of a size, of all nodes together, that show a protocol
#define ROUND_MOST  4096   // messages that are searched for those of a round
#define TOGETHER_NS 300000 // answers of a call may leave so long before its requests

// A size of messages, and those that have it.
struct size_seen {
	uint64_t bytes;
	uint64_t n;
	const uint32_t *places; // in rendezvous_finding.by_pair, ascending
};

struct size_counts {
	struct size_seen *rows;
	size_t n;
	uint32_t *places; // of all sizes
};

// The sizes of what may be a rendezvous.
struct rendezvous_protocol {
	uint64_t request, answer, data;
};

struct rendezvous_finding {
	struct tb_rendezvous *made;
	struct tb_causes *causes;
	const struct tb_message_list *list;
	uint32_t *by_pair; // messages, ordered by pair of nodes, then as in the list
	struct rendezvous_protocol protocol;
	int64_t *gaps; // room for one of each message
	int64_t begin_ns;
};

struct message_of_pair {
	uint32_t low, high, message;
};

TB_ORDER_BY(by_pair, struct message_of_pair, TB_UP(low) TB_UP(high) TB_UP(message))

static int sort_by_pair(struct rendezvous_finding *finding)
{
	const struct tb_message_list *list = finding->list;
	struct message_of_pair *keys = malloc((list->n + 1) * sizeof *keys);
	finding->by_pair = malloc((list->n + 1) * sizeof *finding->by_pair);
	finding->gaps = malloc((list->n + 1) * sizeof *finding->gaps);
	if (!keys || !finding->by_pair || !finding->gaps) {
		free(keys);
		return TB_ENOMEM;
	}
	for (uint32_t i = 0; i < list->n; i++) {
		const struct tb_inferred_message *row = tb_message_list_at(list, i);
		uint32_t from = row->source, to = row->destination;
		keys[i] = (struct message_of_pair){
			from < to ? from : to, from < to ? to : from, i};
	}
	qsort(keys, list->n, sizeof *keys, by_pair);
	for (size_t i = 0; i < list->n; i++)
		finding->by_pair[i] = keys[i].message;
	free(keys);
	return TB_OK;
}

struct sized_place {
	uint64_t bytes;
	uint32_t place;
};

TB_ORDER_BY(order_sized_places, struct sized_place, TB_UP(bytes) TB_UP(place))

// list_sizes lists the sizes in ascending order.
static int list_sizes(struct size_counts *sizes, const struct rendezvous_finding *finding)
{
	size_t n = finding->list->n;
	struct sized_place *sorted = malloc((n + 1) * sizeof *sorted);
	sizes->rows = malloc((n + 1) * sizeof *sizes->rows);
	sizes->places = malloc((n + 1) * sizeof *sizes->places);
	if (!sorted || !sizes->rows || !sizes->places) {
		free(sorted);
		return TB_ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		tb_message_list_cool(finding->list, i);
		sorted[i] = (struct sized_place){
			finding->list->rows[finding->by_pair[i]].bytes, i};
	}
	qsort(sorted, n, sizeof *sorted, order_sized_places);
	for (size_t i = 0; i < n; i++) {
		sizes->places[i] = sorted[i].place;
		if (i == 0 || sorted[i - 1].bytes != sorted[i].bytes)
			sizes->rows[sizes->n++] =
				(struct size_seen){sorted[i].bytes, 0, &sizes->places[i]};
		sizes->rows[sizes->n - 1].n++;
	}
	free(sorted);
	return TB_OK;
}

// What is open between two nodes, by direction of the data: 1 if the lower one sends.
struct open {
	uint32_t request[2], answer[2];
};

// advance_rendezvous follows one message. Returns whether it fits.
static bool advance_rendezvous(
	const struct rendezvous_finding *finding, struct open *open, uint32_t message)
{
	const struct rendezvous_protocol *protocol = &finding->protocol;
	const struct tb_inferred_message *row = &finding->list->rows[message];
	struct tb_asked *of = finding->made->of;
	bool up = row->source < row->destination;
	bool fits = true;
	uint32_t *request = &open->request[up], *answer = &open->answer[up];
	if (row->bytes == protocol->request) {
		fits = *request == NONE;
		*request = message;
		of[message] = (struct tb_asked){TB_ROLE_REQUEST, NONE, NONE};
	} else if (row->bytes == protocol->answer) {
		request = &open->request[!up];
		fits = *request != NONE && open->answer[!up] == NONE;
		if (*request != NONE)
			of[message] = (struct tb_asked){TB_ROLE_ANSWER, *request, NONE};
		open->answer[!up] = *request != NONE ? message : NONE;
		*request = NONE;
	} else if (row->bytes == protocol->data) {
		fits = *answer != NONE;
		if (*answer != NONE)
			of[message] = (struct tb_asked){TB_ROLE_DATA, *answer, NONE};
		*answer = NONE;
	}
	return fits;
}

// follow_rendezvous gives messages of three sizes their roles in a protocol. Returns how
// many do not fit, or more than `most` once it is more.
static uint64_t follow_rendezvous(struct rendezvous_finding *finding,
	const struct size_seen *const sizes[3], uint64_t most)
{
	const struct open none = {{NONE, NONE}, {NONE, NONE}};
	struct open open = none;
	uint64_t n_unfit = 0, last = UINT64_MAX;
	size_t at[3] = {0};
	finding->protocol = (struct rendezvous_protocol){
		sizes[0]->bytes, sizes[1]->bytes, sizes[2]->bytes};
	while (n_unfit <= most) {
		uint32_t first = NONE;
		int of = 0;
		for (int i = 0; i < 3; i++)
			if (at[i] < sizes[i]->n && sizes[i]->places[at[i]] < first) {
				first = sizes[i]->places[at[i]];
				of = i;
			}
		if (first == NONE)
			break;
		tb_message_list_cool(finding->list, at[0] + at[1] + at[2]);
		at[of]++;
		uint32_t message = finding->by_pair[first];
		const struct tb_inferred_message *row = &finding->list->rows[message];
		uint32_t low = row->source, high = row->destination;
		if (low > high) {
			low = row->destination;
			high = row->source;
		}
		uint64_t pair = (uint64_t)low << 32 | high;
		if (pair != last)
			open = none;
		last = pair;
		n_unfit += !advance_rendezvous(finding, &open, message);
	}
	return n_unfit;
}

static bool alike(uint64_t n, uint64_t m)
{
	return n >= RECURS_FROM && m >= RECURS_FROM && n <= m + m / ALIKE_PART + 1 &&
	       m <= n + n / ALIKE_PART + 1;
}

// find_protocol finds the three sizes that fit best, of equals the first; the roles are
// theirs then.
static bool find_protocol(
	struct rendezvous_finding *finding, const struct size_counts *sizes)
{
	const struct size_seen *rows = sizes->rows, *end = rows + sizes->n;
	const struct size_seen *best[3] = {NULL};
	uint64_t least = UINT64_MAX;
	for (const struct size_seen *d = rows; d < end; d++) {
		if (d->bytes < LONG_BYTES || d->n < RECURS_FROM)
			continue;
		for (const struct size_seen *r = rows; r->bytes < SHORT_BYTES; r++)
			for (const struct size_seen *a = rows; a->bytes < SHORT_BYTES;
				a++) {
				const struct size_seen *const of[] = {r, a, d};
				uint64_t most = (r->n + a->n + d->n) / UNFIT_PART;
				if (r == a || !alike(r->n, a->n) || !alike(r->n, d->n) ||
					least == 0)
					continue;
				most = most < least - 1 ? most : least - 1;
				uint64_t n_unfit = follow_rendezvous(finding, of, most);
				if (n_unfit > most)
					continue;
				least = n_unfit;
				memcpy(best, of, sizeof best);
			}
	}
	memset(finding->made->of, 0, finding->list->n * sizeof *finding->made->of);
	if (least != UINT64_MAX)
		follow_rendezvous(finding, best, UINT64_MAX - 1);
	return least != UINT64_MAX;
}

// in_round returns whether a round has a request to a node already.
static bool in_round(const struct rendezvous_finding *finding,
	const struct tb_round *round, uint32_t message)
{
	const struct tb_inferred_message *rows = finding->list->rows;
	for (uint32_t i = round->first_request; i < message; i++)
		if (finding->made->of[i].role == TB_ROLE_REQUEST &&
			rows[i].source == round->node &&
			rows[i].destination == rows[message].destination)
			return true;
	return false;
}

static int join_round(
	struct rendezvous_finding *finding, uint32_t *current, uint32_t message)
{
	struct tb_rendezvous *made = finding->made;
	const struct tb_inferred_message *row = &finding->list->rows[message];
	if (*current == NONE || in_round(finding, &made->rounds[*current], message)) {
		int status = TB_ARRAY_MORE(made, rounds);
		if (status != TB_OK)
			return status;
		*current = (uint32_t)made->n_rounds;
		made->rounds[made->n_rounds++] = (struct tb_round){.node = row->source,
			.first_request = message,
			.earliest = message,
			.began_ns = row->left_ns};
	}
	made->of[message].round = *current;
	return TB_OK;
}

// is_varied returns whether answers leave now before and now behind their node's request
// to the same peer. If nearly all do the same, that recurs, and is kept.
static bool is_varied(const struct rendezvous_finding *finding)
{
	const struct tb_asked *of = finding->made->of;
	const struct tb_inferred_message *rows = finding->list->rows;
	size_t n = finding->list->n, n_before = 0, n_behind = 0;
	for (size_t i = 0; i < n; i++) {
		if (of[i].role != TB_ROLE_ANSWER || of[i].round == NONE)
			continue;
		size_t first = finding->made->rounds[of[i].round].first_request,
		       k = first;
		size_t end = n - first > ROUND_MOST ? first + ROUND_MOST : n;
		while (k < end &&
			(of[k].role != TB_ROLE_REQUEST || of[k].round != of[i].round ||
				rows[k].destination != rows[i].destination))
			k++;
		n_before += k < end && i < k;
		n_behind += k < end && i > k;
	}
	size_t least = n_before < n_behind ? n_before : n_behind;
	return least * ALIKE_PART > n_before + n_behind;
}

// await_data adds the data of a node's earlier rounds to what a round waits for.
static int await_data(struct rendezvous_finding *finding, const uint32_t *data, size_t n,
	uint32_t round_at)
{
	const struct tb_inferred_message *rows = finding->list->rows;
	struct tb_causes *causes = finding->causes;
	struct tb_round *round = &finding->made->rounds[round_at];
	int64_t last_ns = INT64_MIN;
	int status = TB_DISK_ARRAY_RESERVE(&causes->row_array, &causes->rows,
		&causes->rows_room, causes->n_rows + n);
	if (status != TB_OK)
		return status;
	round->first = (uint32_t)causes->n_rows;
	for (size_t i = 0; i < n; i++) {
		const struct tb_inferred_message *row = &rows[data[i]];
		if (row->delivered_ns > round->began_ns ||
			row->left_ns >= round->began_ns)
			continue;
		causes->rows[causes->n_rows++] = tb_cause_of(data[i], false);
		round->n++;
		last_ns = tb_max_i64(last_ns, row->delivered_ns);
	}
	round->gap_ns = round->n ? round->began_ns - last_ns : -1;
	return TB_OK;
}

// inherit gives a round that waits for no data the causes of its first request, but for
// those that came once its first answer had left: that waits for the round's computation.
// The first round of a node waits for nobody's.
static int inherit(
	const struct rendezvous_finding *finding, struct tb_round *round, bool first)
{
	struct tb_causes *causes = finding->causes;
	const struct tb_caused *of = &causes->of[round->first_request];
	round->first = (uint32_t)causes->n_rows;
	round->gap_ns = first ? round->began_ns - finding->begin_ns : of->gap_ns;
	if (first)
		return TB_OK;
	int status = TB_DISK_ARRAY_RESERVE(&causes->row_array, &causes->rows,
		&causes->rows_room, causes->n_rows + of->n);
	for (uint32_t i = 0; status == TB_OK && i < of->n; i++) {
		const struct tb_cause cause = causes->rows[of->first + i];
		if (cause.message >= round->earliest)
			continue;
		causes->rows[causes->n_rows++] = cause;
		round->n++;
	}
	return status;
}

// await_node finds what the rounds of a node wait for: the data that came between a round
// and the next. `data` has room for those of the node.
static int await_node(struct rendezvous_finding *finding, uint32_t node, uint32_t *data)
{
	struct tb_rendezvous *made = finding->made;
	const struct tb_message_list *list = finding->list;
	size_t n = 0, n_gaps = 0;
	bool begun = false;
	int status = TB_OK;
	for (uint32_t i = 0; status == TB_OK && i < list->n; i++) {
		const struct tb_inferred_message *row = &list->rows[i];
		const struct tb_asked *of = &made->of[i];
		if (of->role == TB_ROLE_DATA && row->destination == node)
			data[n++] = i;
		if (of->role != TB_ROLE_REQUEST || row->source != node ||
			made->rounds[of->round].first_request != i)
			continue;
		status = await_data(finding, data, n, of->round);
		n = 0;
		bool first = !begun;
		begun = true;
		if (status == TB_OK && made->rounds[of->round].n == 0)
			status = inherit(finding, &made->rounds[of->round], first);
		else if (row->called_ns == row->left_ns)
			finding->gaps[n_gaps++] = made->rounds[of->round].gap_ns;
	}
	// Waiting only adds to computation.
	int64_t *rows = finding->gaps;
	qsort(rows, n_gaps, sizeof *rows, tb_order_i64);
	int64_t usual_ns = n_gaps ? rows[n_gaps / 4] : 0;
	for (size_t r = 0; n_gaps >= 4 && r < made->n_rounds; r++)
		if (made->rounds[r].node == node &&
			made->rounds[r].gap_ns > usual_ns + usual_ns / 4)
			made->rounds[r].gap_ns = usual_ns;
	return status;
}

// allow makes data wait for their answers alone.
static int allow(struct rendezvous_finding *finding)
{
	struct tb_causes *causes = finding->causes;
	for (uint32_t i = 0; i < finding->list->n; i++) {
		const struct tb_asked *of = &finding->made->of[i];
		if (of->role != TB_ROLE_DATA)
			continue;
		int status = TB_DISK_ARRAY_RESERVE(&causes->row_array, &causes->rows,
			&causes->rows_room, causes->n_rows + 1);
		if (status != TB_OK)
			return status;
		causes->of[i].first = (uint32_t)causes->n_rows;
		causes->of[i].n = 1;
		causes->of[i].kind = TB_CAUSE_RECURRING;
		causes->of[i].gap_ns = 0;
		causes->rows[causes->n_rows++] = tb_cause_of(of->replied, false);
	}
	return TB_OK;
}

static int arrange_by_node(struct rendezvous_finding *finding, uint32_t n_nodes)
{
	uint32_t *scratch = malloc((finding->list->n + n_nodes + 1) * sizeof *scratch);
	if (!scratch)
		return TB_ENOMEM;
	memset(scratch, 0xff, n_nodes * sizeof *scratch);
	// Put the requests of a node into rounds.
	int status = TB_OK;
	for (uint32_t i = 0; status == TB_OK && i < finding->list->n; i++)
		if (finding->made->of[i].role == TB_ROLE_REQUEST)
			status = join_round(
				finding, &scratch[finding->list->rows[i].source], i);
	if (status == TB_OK) {
		// Put each answer into the last round that began before it, or at most
		// TOGETHER_NS after it.
		const struct tb_message_list *list = finding->list;
		struct tb_asked *of = finding->made->of;
		struct tb_round *rounds = finding->made->rounds;
		memset(scratch, 0xff, n_nodes * sizeof *scratch);
		for (uint32_t i = 0; i < list->n; i++)
			if (of[i].role == TB_ROLE_REQUEST)
				scratch[list->rows[i].source] = of[i].round;
			else if (of[i].role == TB_ROLE_ANSWER)
				of[i].round = scratch[list->rows[i].source];
		memset(scratch, 0xff, n_nodes * sizeof *scratch);
		for (uint32_t i = (uint32_t)list->n; i-- > 0;) {
			const struct tb_inferred_message *row = &list->rows[i];
			uint32_t *next = &scratch[row->source];
			if (of[i].role == TB_ROLE_REQUEST) {
				*next = of[i].round;
			} else if (of[i].role == TB_ROLE_ANSWER && *next != NONE &&
				   row->left_ns < rounds[*next].began_ns &&
				   list->rows[rounds[*next].first_request].left_ns -
						   row->left_ns <=
					   TOGETHER_NS) {
				of[i].round = *next;
				rounds[*next].began_ns = row->left_ns;
				rounds[*next].earliest = i;
			}
		}
	}
	if (status == TB_OK && !is_varied(finding)) {
		memset(finding->made->of, 0,
			finding->list->n * sizeof *finding->made->of);
		finding->made->n_rounds = 0;
		free(scratch);
		return TB_OK;
	}
	for (uint32_t v = 0; status == TB_OK && v < n_nodes; v++)
		status = await_node(finding, v, scratch);
	free(scratch);
	return status == TB_OK ? allow(finding) : status;
}

int tb_rendezvous_find(struct tb_rendezvous *rendezvous, struct tb_causes *causes,
	const struct tb_message_list *list, uint32_t n_nodes, int64_t begin_ns)
{
	struct tb_rendezvous made = {0};
	struct rendezvous_finding finding = {
		.made = &made, .causes = causes, .list = list, .begin_ns = begin_ns};
	struct size_counts sizes = {0};
	made.of = calloc(list->n + 1, sizeof *made.of);
	int status = made.of ? sort_by_pair(&finding) : TB_ENOMEM;
	TB_THEN(status, list_sizes(&sizes, &finding));
	if (status == TB_OK && find_protocol(&finding, &sizes))
		status = arrange_by_node(&finding, n_nodes);
	free(sizes.rows);
	free(sizes.places);
	free(finding.by_pair);
	free(finding.gaps);
	if (status == TB_OK)
		*rendezvous = made;
	else
		tb_rendezvous_fini(&made);
	return status;
}

void tb_rendezvous_fini(struct tb_rendezvous *rendezvous)
{
	free(rendezvous->of);
	free(rendezvous->rounds);
	*rendezvous = (struct tb_rendezvous){0};
}
