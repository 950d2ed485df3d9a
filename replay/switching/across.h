// A replay in parts that several processes simulate. Private to replay/.
//
// Model: each process has a stretch of the parts, and simulates these on its threads
// (windows.h). All of them have the same source and post the same messages, so a message,
// a flow, a part and a link have the same number everywhere. After a window each process
// sends every other process what its parts handed over to that one's parts, which
// messages ended, with what their destination's part knows of them, and when its next
// event is; so all of them begin the next window at the same instant. The waits of a part
// go to rank 0, which enters them into the blame; bins and the waits of flows go there at
// the end, or when they are to be shown. Rank 0 alone has the observer.
//
// Cost: one exchange per window, and two where nothing happens for a while.
#ifndef TB_ACROSS_H
#define TB_ACROSS_H

#include "peer_streams.h"
#include "switching.h"

struct tb_across; // opaque

// tb_across_new borrows the whole, which has been cut into parts, and the streams.
// TB_ENOMEM.
int tb_across_new(struct tb_across **across, struct tb_replay *whole,
	const struct tb_switching *model, struct tb_peer_streams *streams) TB_MUST_USE;
void tb_across_free(struct tb_across *across); // NULL is fine

// tb_across_exchange exchanges the results of a window, which ended at `until`, with all
// other processes, and enters theirs into the parts that they simulate and into the
// messages. Results that no process can have sent are TB_EFORMAT. `next` is when
// something happens next here; it becomes the earliest such time of all. A failure is
// that of the whole, or of one of those parts. A signal that asks any process to stop
// (tb_stop_of_signals) asks rank 0, too.
void tb_across_exchange(struct tb_across *across, tb_time_ps until, tb_time_ps *next);

// tb_across_least and tb_across_most return the least and the greatest of what all
// processes call it with.
tb_time_ps tb_across_least(struct tb_across *across, tb_time_ps own);
tb_time_ps tb_across_most(struct tb_across *across, tb_time_ps own);

// tb_across_show passes the bins of all processes to the observer. tb_across_gather has
// all that others have recorded in rank 0's records. Both are for all processes at once.
int tb_across_show(struct tb_across *across, struct tb_error *error) TB_MUST_USE;
int tb_across_gather(struct tb_across *across, struct tb_error *error) TB_MUST_USE;

// tb_across_leads returns whether this process has the observer.
bool tb_across_leads(const struct tb_across *across);

// tb_across_count adds the number of processes, and how many bytes this one has sent.
void tb_across_count(const struct tb_across *across, struct tb_engine_exchange *exchange);

#endif
