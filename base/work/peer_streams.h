// Records of any length between peers, on the short messages that carry them (peers.h).
//
// Model: what one peer puts for another, that one takes, in order, and waits for it.
// There is no time after which a peer is taken for lost: it may work for long before it
// speaks. mpirun ends all processes when one of them is lost.
//
// Cost: two copies. Memory: records that have come before they are taken. One thread,
// that which opened the peers.
#ifndef TB_PEER_STREAMS_H
#define TB_PEER_STREAMS_H

#include "peers.h"

struct tb_peer_streams; // opaque

// tb_peer_streams_new borrows the peers. TB_ENOMEM.
int tb_peer_streams_new(
	struct tb_peer_streams **streams, const struct tb_peers *peers) TB_MUST_USE;
void tb_peer_streams_free(struct tb_peer_streams *streams); // NULL is fine

// tb_peer_streams_rank is this process's number, of those below tb_peer_streams_n.
uint32_t tb_peer_streams_rank(const struct tb_peer_streams *streams);
uint32_t tb_peer_streams_n(const struct tb_peer_streams *streams);

// tb_peer_streams_put sends a record of `n` bytes, copied, to another peer. TB_ENOMEM.
int tb_peer_streams_put(struct tb_peer_streams *streams, uint32_t to, const void *bytes,
	size_t n) TB_MUST_USE;

// tb_peer_streams_take waits for the next record from a peer. Its bytes live until the
// next call. TB_ENOMEM, TB_EIO.
int tb_peer_streams_take(struct tb_peer_streams *streams, uint32_t from,
	const unsigned char **bytes, size_t *n) TB_MUST_USE;

// tb_peer_streams_bytes is how many bytes of records this process has put.
uint64_t tb_peer_streams_bytes(const struct tb_peer_streams *streams);

#endif
