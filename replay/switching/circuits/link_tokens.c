// What each link owes, made up for when somebody asks.
//
// Two things are not known yet when a train's last burst ends: whether the packet goes on
// in that very instant, and whether the reverse link begins a train in it. Both are known
// at any later instant. So debts are handed over, and counted as sent, only then.
#include "circuits.h"

#include "memory.h"

#include <stdlib.h>

#define NO_PLACE UINT32_MAX

struct train { // on a link, crossing it or the last that did
	_Alignas(64) tb_time_ps end;
	tb_time_ps makes_owe; // the reverse link, and not handed over yet
	// Tokens of this link:
	tb_time_ps sent_at; // those not below are sent
	tb_time_ps held;    // came due while this train crossed: they wait for its end
	tb_time_ps owed;    // came due at owed_at, after these
	tb_time_ps owed_at;
};

struct trains {
	uint32_t share_q16;
	struct train *of; // those of a cable side by side, at 2i and 2i + 1
	uint32_t *places; // by slot: of its train
	uint32_t n_places;
};

struct trains *tb_link_tokens_new(uint32_t n_slots, double share)
{
	struct trains *made = calloc(1, sizeof *made);
	if (!made)
		return NULL;
	made->share_q16 = (uint32_t)(share * 65536 + 0.5);
	made->of = tb_lines_new(n_slots, sizeof *made->of);
	made->places = malloc(n_slots * sizeof *made->places);
	if (made->of && made->places) {
		for (uint32_t slot = 0; slot < n_slots; slot++)
			made->places[slot] = NO_PLACE;
		return made;
	}
	tb_link_tokens_free(made);
	return NULL;
}

void tb_link_tokens_free(struct trains *trains)
{
	if (!trains)
		return;
	free(trains->of);
	free(trains->places);
	free(trains);
}

void tb_link_tokens_pair(struct trains *trains, uint32_t slot, uint32_t reverse)
{
	if (trains->places[slot] != NO_PLACE)
		return;
	trains->places[slot] = trains->n_places++;
	trains->places[reverse] = trains->n_places++;
}

static inline struct train *train_of(const struct trains *trains, uint32_t slot)
{
	return &trains->of[trains->places[slot]];
}

static inline struct train *reverse_of(const struct trains *trains, uint32_t slot)
{
	return &trains->of[trains->places[slot] ^ 1];
}

void tb_link_tokens_fetch(const struct trains *trains, uint32_t slot)
{
	__builtin_prefetch(train_of(trains, slot), 0, 2);
	__builtin_prefetch(reverse_of(trains, slot), 0, 2);
}

static tb_time_ps later(tb_time_ps a, tb_time_ps b)
{
	return a > b ? a : b;
}

// sent_by is when a link whose train is over has sent what came due before `now`.
static tb_time_ps sent_by(const struct train *link, tb_time_ps now)
{
	tb_time_ps sent = link->sent_at;
	if (link->held)
		sent = later(sent, link->end) + link->held;
	if (link->owed && link->owed_at < now)
		sent = later(sent, later(link->end, link->owed_at)) + link->owed;
	return sent;
}

// settle_sent counts that as sent.
static void settle_sent(struct train *link, tb_time_ps now)
{
	link->sent_at = sent_by(link, now);
	link->held = 0;
	if (link->owed_at < now)
		link->owed = 0;
}

// hand_over makes the reverse of a link, whose train is over, owe for it.
static void hand_over(struct train *from, struct train *to)
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

void tb_link_tokens_begin(struct trains *trains, uint32_t slot, tb_time_ps start)
{
	struct train *train = train_of(trains, slot);
	if (train->makes_owe)
		hand_over(train, reverse_of(trains, slot));
	settle_sent(train, start);
}

void tb_link_tokens_cross(
	struct trains *trains, uint32_t slot, tb_time_ps end, tb_time_ps burst_ps)
{
	struct train *train = train_of(trains, slot);
	train->end = end;
	train->makes_owe += burst_ps * trains->share_q16 >> 16;
}

tb_time_ps tb_link_tokens_sent(struct trains *trains, uint32_t slot, tb_time_ps now)
{
	struct train *train = train_of(trains, slot);
	struct train *reverse = reverse_of(trains, slot);
	if (reverse->makes_owe && reverse->end < now)
		hand_over(reverse, train);
	settle_sent(train, now);
	return train->sent_at;
}

tb_time_ps tb_link_tokens_foreseen(const struct trains *trains, uint32_t slot)
{
	const struct train *train = train_of(trains, slot);
	tb_time_ps from = later(train->end, sent_by(train, train->end));
	from = later(from, sent_by(train, from)); // with what comes due meanwhile
	return reverse_of(trains, slot)->end < from ? TB_TIME_NEVER : from;
}
