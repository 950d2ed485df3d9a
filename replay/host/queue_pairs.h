// Queue pairs of nodes (docs/credits.md, C15): the messages of a node in a queue for each
// node that they go to. Private to replay/.
//
// A node's queue (struct tb_nic) holds the first message of each of its queue pairs; the
// others hang behind that, by `pair_next`. Who stands first for a destination is looked
// up in a hash table, in which no node is that has a single queue pair with something to
// send. Where queue pairs are not by connection nothing here is called, and every message
// stands in its node's queue.
//
// Cost: of joining and leaving constant, of dropping linear in what the node has to send.
// Memory: 8 bytes at most for each queue pair that has something to send.
#ifndef TB_QUEUE_PAIRS_H
#define TB_QUEUE_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

struct tb_replay;
struct tb_nic;

struct tb_pair_table {
	bool by_connection;
	uint32_t *buckets; // first message, or TB_NOTHING
	uint32_t n_buckets, n_listed;
};

// tb_queue_pairs_fini frees the table; a zeroed struct is fine.
void tb_queue_pairs_fini(struct tb_pair_table *pairs);

// tb_queue_pairs_join puts a message into the queue pair of its destination.
void tb_queue_pairs_join(struct tb_replay *replay, struct tb_nic *nic, uint32_t message);

// tb_queue_pairs_leave: the first message of the node's queue is cut to its end. Its
// queue pair goes to the end of the queue if it has another one.
void tb_queue_pairs_leave(struct tb_replay *replay, struct tb_nic *nic);

// tb_queue_pairs_drop takes a message out, wherever it stands; its queue pair keeps its
// place.
void tb_queue_pairs_drop(struct tb_replay *replay, struct tb_nic *nic, uint32_t message);

#endif
