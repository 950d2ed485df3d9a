// What the oracle sees happen, as a list of facts, and the sums of docs/model.md, "What
// is counted", made of it at the end.
#ifndef ORACLE_FACTS_H
#define ORACLE_FACTS_H

#include "network.h"
#include "observer.h"

struct oracle_flow {
	uint32_t job, source, destination;
};

enum oracle_fact_kind {
	ORACLE_ENTERED, // link, from: a header began to cross the link
	ORACLE_CROSSED, // link, from, to, bytes: a block crossed the link
	ORACLE_HELD,	// link, from, to: a VC or more of the link were held
	ORACLE_BLOCKED, // link, from: a header got no VC; the link leads (see below)
	ORACLE_STALLED, // link, from, to: something stood still for it (with credits)
	ORACLE_WAITED,	// link, wanted, root, from, to, flow, culprit, bytes, serial:
		       // that header's wait, which came by a link and wanted one; of a
		       // packet of so many bytes, in a queue of that number
	ORACLE_POSTED,	  // flow
	ORACLE_DELIVERED, // flow, from, to, bytes, n_packets, serial, entered, queued,
			  // crossed, ideal_ps
	ORACLE_GIVEN_UP,  // flow, link, from, bytes: the dead link, or TB_ID_NONE
};

struct oracle_fact {
	enum oracle_fact_kind kind;
	uint32_t link, root, wanted;
	tb_time_ps from, to;
	uint64_t bytes;
	uint32_t n_packets;
	uint64_t serial;
	tb_time_ps entered, queued, crossed;
	tb_time_ps ideal_ps; // of crossed
	struct oracle_flow flow, culprit;
};

struct oracle_facts {
	struct oracle_fact *list; // with room for the next power of two
	size_t n;
	// What is counted beside the waits is counted at the links that packets want, not
	// at those by which they came; and which ones they want is known as they wait.
	bool leads_wanted;
};

void oracle_note(struct oracle_facts *facts, struct oracle_fact fact);

// oracle_report sums the facts, of which the last instant was `end`, for an observer.
// bin_ps 0: automatic.
int oracle_report(const struct oracle_facts *facts, const struct tb_observer *observer,
	const struct tb_network *network, tb_time_ps bin_ps, tb_time_ps end) TB_MUST_USE;

// oracle_report_blame is the part about who waited for whom (oracle_blame.c). Its lists
// of the heaviest leave nothing out, and the slices of its sums are no wider than those.
int oracle_report_blame(const struct oracle_facts *facts,
	const struct tb_observer *observer, const struct tb_network *network,
	tb_time_ps bin_ps) TB_MUST_USE;

int oracle_compare(uint64_t a, uint64_t b);
int oracle_compare_flows(const struct oracle_flow *a, const struct oracle_flow *b);
tb_time_ps oracle_earlier(tb_time_ps a, tb_time_ps b);
tb_time_ps oracle_later(tb_time_ps a, tb_time_ps b);

// oracle_one_more gives an array of n items room for one more: that is a power of two.
void *oracle_one_more(void *items, size_t n, size_t size);

#endif
