// What held the spans of ranks up: from a span, or a call, to the links where its
// messages waited, and from a link to the spans that it held up.
//
// A store has where flows waited, over the whole run (the heaviest, heavy_waits.h), and
// when headers waited at links, but not both at once. So a flow's wait at a link is
// shared out to the spans of its sender, and in the same way to those of its receiver, in
// proportion to the link's wait during each. A span that sends waits with the flow to its
// peer, one that receives or waits with that from it; one that computes waits for no
// link. Both ways give the same figure. It is an estimate, but a link that did not wait
// during a span surely did not hold it up. As all waits of headers it may be longer than
// the span: several can wait at once.
#ifndef TB_HELD_UP_H
#define TB_HELD_UP_H

#include "heavy_waits.h"
#include "rank_seats.h"
#include "rank_spans.h"

struct tb_span_held {
	struct tb_link link;
	struct tb_rank_span span;
	tb_time_ps wait_ps; // about
};

struct tb_held_list {		   // zeroed: none
	struct tb_span_held *rows; // longest wait first; ties by link, job, rank and time
	size_t n, room;
};
void tb_held_list_fini(struct tb_held_list *list);

// A span with its flow, at one of the flow's ends.
struct tb_held_part {
	uint32_t job;
	struct tb_node source, destination;
	bool receives;
	size_t span;
};

// What both ways need of a run, whole.
struct tb_held_up { // zeroed: none
	struct tb_rank_spans times;
	struct tb_rank_seats seats;
	struct tb_heavy_waits waits;
	struct tb_held_part *parts; // by flow, end and time
	size_t n_parts;
};

// tb_held_up_init reads it. Cost: linear in what the store keeps of ranks and waits.
// TB_EFORMAT when the file is damaged, TB_ENOMEM.
int tb_held_up_init(
	struct tb_held_up *held, struct tb_run *run, struct tb_error *error) TB_MUST_USE;
void tb_held_up_fini(struct tb_held_up *held);

// tb_held_links lists the links that held a rank up during [from_ps, to_ps) of `asked`,
// a row each, whose span is `asked`: with one peer, by its messages alone; TB_ID_NONE:
// by those of all spans of the rank in that time. Of more than TB_HELD_LINKS_MOST links
// those where its flows waited longest are looked at. Cost: a look-up per bin and link.
#define TB_HELD_LINKS_MOST 64
int tb_held_links(const struct tb_held_up *held, struct tb_run *run,
	const struct tb_rank_span *asked, struct tb_held_list *list,
	struct tb_error *error) TB_MUST_USE;

// tb_held_spans lists the spans that a link held up. Cost: a look-up per bin.
int tb_held_spans(const struct tb_held_up *held, struct tb_run *run, struct tb_link link,
	struct tb_held_list *list, struct tb_error *error) TB_MUST_USE;

#endif
