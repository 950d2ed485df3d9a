// Link tokens: the flow-control traffic of one direction of a cable, which takes time of
// the other. Private to this room; inline, as every burst asks.
//
// Rules 33 to 35 of docs/model.md; a block there is a burst here:
//
// 33. *What makes tokens due.* A *train* is a sequence of blocks of one packet that
//     cross a link without a gap: each begins in the instant in which the one before
//     it has crossed. A train makes tokens due on the reverse link when its last block
//     has crossed. They take the sum, over its blocks, of floor(k · T(bytes of the
//     block) / 2^16), with T of the train's link and k = floor(2^16 · `link_tokens` +
//     1/2).
// 34. *When they are sent.* A link sends tokens in the order in which they became due,
//     while no train crosses it: from when they are due, from the end of the train
//     that crosses then, or from when earlier tokens have been sent. It takes the
//     first flit of a train only when all tokens that became due before this instant
//     have been sent; until then it is not free (rule 15). Tokens that become due in
//     this very instant wait for the train's end.
// 35. *Broadcasts.* Of a broadcast's branches only the one that is followed (rule 28)
//     makes tokens due and waits for tokens.
//
// So idle links pay at no cost, and a busy cable shares its time.
//
// A link is looked at only when it begins a train: what came due meanwhile is made up
// for then. Thread rule: one at a time.
//
// Two things are not known yet when a train's last burst ends: whether the packet goes on
// in that very instant, and whether the reverse link begins a train in it. Both are known
// at any later instant. So debts are handed over, and counted as sent, only then.
#ifndef TB_LINK_TOKENS_H
#define TB_LINK_TOKENS_H

#include "units.h"

#include <stddef.h>
#include <stdint.h>

struct train { // on a link, crossing it or the last that did
	_Alignas(64) tb_time_ps end;
	tb_time_ps makes_owe; // the reverse link, and not handed over yet
	// Tokens of this link:
	tb_time_ps sent_at; // those not below are sent
	tb_time_ps held;    // came due while this train crossed: they wait for its end
	tb_time_ps owed;    // came due at owed_at, after these
	tb_time_ps owed_at;
	ptrdiff_t to_reverse; // from here to the train of the reverse link
	uint32_t share_q16;
};

struct trains {
	uint32_t share_q16;
	struct train *of; // those of a cable side by side
	uint32_t *places; // by slot: of its train
	uint32_t n_places;
};

// tb_link_tokens_new prepares `n_slots` links for trains of which a byte makes the
// reverse link owe `share` (0 to 1) bytes, kept with 16 binary places. NULL: no memory.
struct trains *tb_link_tokens_new(uint32_t n_slots, double share);
void tb_link_tokens_free(struct trains *trains);

// tb_link_tokens_pair makes `reverse` the link that owes for what crosses `slot`.
void tb_link_tokens_pair(struct trains *trains, uint32_t slot, uint32_t reverse);

// tb_link_tokens_of is the train of a paired link; the calls below take it.
static inline struct train *tb_link_tokens_of(const struct trains *trains, uint32_t slot)
{
	return &trains->of[trains->places[slot]];
}

// tb_link_tokens_cable is the first of the two trains of its cable, side by side.
static inline const struct train *tb_link_tokens_cable(
	const struct trains *trains, uint32_t slot)
{
	return &trains->of[trains->places[slot] & ~1u];
}

static inline struct train *reverse_of(struct train *train)
{
	return train + train->to_reverse;
}

// token_sent_by is when a link whose train is over has sent what came due before `now`.
static inline tb_time_ps token_sent_by(const struct train *link, tb_time_ps now)
{
	tb_time_ps sent = link->sent_at;
	if ((link->held | link->owed) == 0) // the rule: spare the rest
		return sent;
	if (link->held)
		sent = tb_time_later(sent, link->end) + link->held;
	if (link->owed && link->owed_at < now)
		sent = tb_time_later(sent, tb_time_later(link->end, link->owed_at)) +
		       link->owed;
	return sent;
}

// settle_sent counts that as sent.
static inline void settle_sent(struct train *link, tb_time_ps now)
{
	if ((link->held | link->owed) == 0)
		return;
	link->sent_at = token_sent_by(link, now);
	link->held = 0;
	if (link->owed_at < now)
		link->owed = 0;
}

// token_hand_over makes the reverse of a link, whose train is over, owe for it.
static inline void token_hand_over(struct train *from, struct train *to)
{
	if (to->end < from->end) {
		settle_sent(to, from->end);
	} else {
		to->held += to->owed;
		to->owed = 0;
	}
	to->owed += from->makes_owe;
	to->owed_at = from->end;
	from->makes_owe = 0;
}

// tb_link_tokens_begin begins a train, now or at the instant foreseen.
static inline void tb_link_tokens_begin(struct train *train, tb_time_ps start)
{
	if (train->makes_owe)
		token_hand_over(train, reverse_of(train));
	settle_sent(train, start);
}

// tb_link_tokens_cross lets the next burst of a train cross until `end`; it takes
// `burst_ps` by itself.
static inline void tb_link_tokens_cross(
	struct train *train, tb_time_ps end, tb_time_ps burst_ps)
{
	train->end = end;
	train->makes_owe += burst_ps * train->share_q16 >> 16;
}

// tb_link_tokens_sent returns when the link, which no train crosses, has sent what it
// owed before `now`; 0 or any instant up to `now` when nothing is left to send.
static inline tb_time_ps tb_link_tokens_sent(struct train *train, tb_time_ps now)
{
	struct train *reverse = reverse_of(train);
	if (reverse->makes_owe && reverse->end < now)
		token_hand_over(reverse, train);
	settle_sent(train, now);
	return train->sent_at;
}

// tb_link_tokens_foreseen returns from when on the link can take a train after the one
// that crosses it: its end and the tokens due by then. TB_TIME_NEVER when that is not
// certain yet, as the reverse link may end a train before.
static inline tb_time_ps tb_link_tokens_foreseen(struct train *train)
{
	tb_time_ps from = tb_time_later(train->end, token_sent_by(train, train->end));
	from = tb_time_later(
		from, token_sent_by(train, from)); // with what comes due meanwhile
	return reverse_of(train)->end < from ? TB_TIME_NEVER : from;
}

#endif
