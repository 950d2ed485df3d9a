#include "bbr.h"

#include "random.h"

enum {
	UNIT = 256,	 // of gains
	HIGH_GAIN = 739, // 2 / ln 2: doubles what is delivered in a round
	DRAIN_GAIN = 88, // its inverse
	WINDOW_GAIN = 2 * UNIT,
	PHASES = 8,
	RATE_ROUNDS = PHASES + 2, // for which the best rate counts
	WINDOW_LEAST = 4,	  // segments
	FULL_ROUNDS = 3,	  // without growth by a quarter: the path is full
	MARGIN = 99,		  // percent of the rate, so that queues shrink
	INITIAL_WINDOW = 10,	  // TCP_INIT_CWND
};

static const uint32_t cycle[PHASES] = {
	UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT};

// How long the shortest round trip is valid, and the least time of the probe that renews
// it.
static const tb_time_ps least_counts_ps = 10 * TB_PS_PER_S;
static const tb_time_ps probe_ps = 200 * TB_PS_PER_MS;

tb_segment_rate tb_segment_rate_of(uint64_t n, tb_time_ps took)
{
	uint64_t ns = (uint64_t)took / TB_PS_PER_NS;
	return (n << 24) * 1000 / (ns ? ns : 1);
}

static tb_segment_rate paced(tb_segment_rate rate, uint32_t gain)
{
	return rate * gain / UNIT * MARGIN / 100;
}

void tb_bbr_init(struct tb_bbr *bbr, uint32_t window, uint64_t random, tb_time_ps now,
	tb_time_ps took)
{
	*bbr = (struct tb_bbr){.window = window,
		.pacing = paced(tb_segment_rate_of(window, took), HIGH_GAIN),
		.least = took,
		.least_at = now,
		.gain = HIGH_GAIN,
		.window_gain = HIGH_GAIN,
		.probe_end = TB_TIME_NEVER,
		.random = random};
}

tb_segment_rate tb_bbr_rate(const struct tb_bbr *bbr)
{
	return bbr->best[0].rate;
}

// drop_old has the second and third best of the window follow when the best has become
// too old, and takes a new one from each later quarter and half of it.
static void drop_old(struct tb_bbr *bbr, struct tb_bbr_best new)
{
	struct tb_bbr_best *best = bbr->best;
	uint32_t age = new.round - best[0].round;
	if (age > RATE_ROUNDS) {
		best[0] = best[1];
		best[1] = best[2];
		best[2] = new;
		if (new.round - best[0].round > RATE_ROUNDS) {
			best[0] = best[1];
			best[1] = best[2];
		}
	} else if (best[1].round == best[0].round && age > RATE_ROUNDS / 4) {
		best[2] = best[1] = new;
	} else if (best[2].round == best[1].round && age > RATE_ROUNDS / 2) {
		best[2] = new;
	}
}

static void note_rate(struct tb_bbr *bbr, tb_segment_rate rate)
{
	struct tb_bbr_best *best = bbr->best, new = {bbr->n_rounds, rate};
	if (rate >= best[0].rate || new.round - best[2].round > RATE_ROUNDS) {
		bbr->best[0] = bbr->best[1] = bbr->best[2] = new;
		return;
	}
	if (rate >= best[1].rate)
		best[2] = best[1] = new;
	else if (rate >= best[2].rate)
		best[2] = new;
	drop_old(bbr, new);
}

static uint64_t aim_of(const struct tb_bbr *bbr, uint32_t gain, uint32_t batch)
{
	// Add to a window what a sender needs that sends in batches. The segments under
	// way at the path's rate for the shortest round trip, times a gain, rounded up.
	uint64_t ns = (uint64_t)bbr->least / TB_PS_PER_NS;
	uint64_t full = tb_bbr_rate(bbr) * ns / 1000 * gain / UNIT;
	uint64_t window = (full + (UINT64_C(1) << 24) - 1) >> 24;
	window = (window + 3 * (uint64_t)batch + 1) & ~UINT64_C(1);
	bool probes_up = bbr->mode == TB_BBR_PROBE_BW && bbr->phase == 0;
	return probes_up ? window + 2 : window;
}

// in_network is what will be under way when pacing lets the next segment go.
static uint64_t in_network(
	const struct tb_bbr *bbr, const struct tb_bbr_ack *ack, uint32_t under_way)
{
	uint64_t ns = (uint64_t)ack->ahead / TB_PS_PER_NS;
	uint64_t gone = (tb_bbr_rate(bbr) * ns / 1000) >> 24;
	uint64_t then = under_way + (bbr->gain > UNIT ? ack->batch : 0);
	return gone < then ? then - gone : 0;
}

static void next_phase(struct tb_bbr *bbr, tb_time_ps now)
{
	bbr->phase = (bbr->phase + 1) % PHASES;
	bbr->phase_at = now;
}

// probe_rate begins the gain cycle, in any phase except the draining one.
static void probe_rate(struct tb_bbr *bbr, tb_time_ps now)
{
	bbr->mode = TB_BBR_PROBE_BW;
	bbr->random = tb_random_mix(bbr->random);
	bbr->phase = PHASES - 1 - (uint32_t)(bbr->random % (PHASES - 1));
	next_phase(bbr, now);
}

// phase_ends: the phase that probes lasts until so much is under way, or lost; that which
// drains until what it added is gone, or a round trip; others a round trip.
static bool phase_ends(const struct tb_bbr *bbr, const struct tb_bbr_ack *ack)
{
	bool is_long = ack->now - bbr->phase_at > bbr->least;
	if (bbr->gain == UNIT)
		return is_long;
	uint64_t there = in_network(bbr, ack, ack->was_under_way);
	if (bbr->gain > UNIT)
		return is_long &&
		       (ack->n_lost > 0 || there >= aim_of(bbr, bbr->gain, ack->batch));
	return is_long || there <= aim_of(bbr, UNIT, ack->batch);
}

// check_full: in three rounds the rate has not grown by a quarter.
static void check_full(struct tb_bbr *bbr, const struct tb_bbr_ack *ack)
{
	if (bbr->is_full || !bbr->round_begins || ack->is_limited)
		return;
	if (tb_bbr_rate(bbr) >= bbr->full / 4 * 5) {
		bbr->full = tb_bbr_rate(bbr);
		bbr->n_full = 0;
		return;
	}
	bbr->is_full = ++bbr->n_full >= FULL_ROUNDS;
}

static void keep_window(struct tb_bbr *bbr)
{
	bool shrunk = bbr->recovers || bbr->mode == TB_BBR_PROBE_RTT;
	if (!shrunk || bbr->window > bbr->kept)
		bbr->kept = bbr->window;
}

static void restore_window(struct tb_bbr *bbr)
{
	if (bbr->window < bbr->kept)
		bbr->window = bbr->kept;
}

static void end_probe(struct tb_bbr *bbr, tb_time_ps now)
{
	if (bbr->probe_end == TB_TIME_NEVER || now <= bbr->probe_end)
		return;
	bbr->least_at = now;
	restore_window(bbr);
	if (bbr->is_full)
		probe_rate(bbr, now);
	else
		bbr->mode = TB_BBR_STARTUP;
}

static void update_gains(struct tb_bbr *bbr)
{
	static const uint32_t gains[] = {
		[TB_BBR_STARTUP] = HIGH_GAIN,
		[TB_BBR_DRAIN] = DRAIN_GAIN,
		[TB_BBR_PROBE_BW] = 0, // that of the phase
		[TB_BBR_PROBE_RTT] = UNIT,
	};
	static const uint32_t window_gains[] = {
		[TB_BBR_STARTUP] = HIGH_GAIN,
		[TB_BBR_DRAIN] = HIGH_GAIN,
		[TB_BBR_PROBE_BW] = WINDOW_GAIN,
		[TB_BBR_PROBE_RTT] = UNIT,
	};
	bbr->gain = bbr->mode == TB_BBR_PROBE_BW ? cycle[bbr->phase] : gains[bbr->mode];
	bbr->window_gain = window_gains[bbr->mode];
}

// repair sets the window while losses are repaired: for one round, as much is sent as
// arrives. Returns whether that is so.
static bool repair(struct tb_bbr *bbr, const struct tb_bbr_ack *ack)
{
	uint32_t come = ack->under_way + ack->n;
	if (ack->n_lost > 0)
		bbr->window = bbr->window > ack->n_lost ? bbr->window - ack->n_lost : 1;
	if (ack->recovers && !bbr->recovers) {
		bbr->conserves = true;
		bbr->round_end = ack->total;
		bbr->window = come;
	} else if (!ack->recovers && bbr->recovers) {
		restore_window(bbr);
		bbr->conserves = false;
	}
	bbr->recovers = ack->recovers;
	if (bbr->conserves && bbr->window < come)
		bbr->window = come;
	return bbr->conserves;
}

void tb_bbr_acked(struct tb_bbr *bbr, const struct tb_bbr_ack *ack)
{
	// Count rounds, by what was delivered, and keep the rate. A sample that the
	// program limited counts only if it is the largest.
	bbr->round_begins = false;
	if (ack->interval != 0) {
		if (ack->before >= bbr->round_end) {
			bbr->round_end = ack->total;
			bbr->n_rounds++;
			bbr->round_begins = true;
			bbr->conserves = false;
		}
		tb_segment_rate rate = tb_segment_rate_of(ack->delivered, ack->interval);
		if (!ack->is_limited || rate >= tb_bbr_rate(bbr))
			note_rate(bbr, rate);
	}
	if (bbr->mode == TB_BBR_PROBE_BW && phase_ends(bbr, ack))
		next_phase(bbr, ack->now);
	check_full(bbr, ack);
	if (bbr->mode == TB_BBR_STARTUP && bbr->is_full)
		bbr->mode = TB_BBR_DRAIN;
	if (bbr->mode == TB_BBR_DRAIN &&
		in_network(bbr, ack, ack->under_way) <= aim_of(bbr, UNIT, ack->batch))
		probe_rate(bbr, ack->now);
	bool is_old = ack->now > bbr->least_at + least_counts_ps;
	if (ack->round_trip > 0 &&
		(ack->round_trip < bbr->least || (is_old && !ack->is_delayed))) {
		bbr->least = ack->round_trip;
		bbr->least_at = ack->now;
	}
	if (is_old && !bbr->restarts && bbr->mode != TB_BBR_PROBE_RTT) {
		keep_window(bbr);
		bbr->mode = TB_BBR_PROBE_RTT;
		bbr->probe_end = TB_TIME_NEVER;
	}
	if (bbr->mode == TB_BBR_PROBE_RTT) {
		// The probe begins when so little is under way that queues are empty, and
		// lasts for at least one round.
		if (bbr->probe_end != TB_TIME_NEVER) {
			bbr->probed_round |= bbr->round_begins;
			if (bbr->probed_round)
				end_probe(bbr, ack->now);
		} else if (ack->under_way <= WINDOW_LEAST) {
			bbr->probe_end = ack->now + probe_ps;
			bbr->probed_round = false;
			bbr->round_end = ack->total;
		}
	}
	if (ack->interval > 0 && ack->delivered > 0)
		bbr->restarts = false;
	update_gains(bbr);
	tb_segment_rate rate = paced(tb_bbr_rate(bbr), bbr->gain);
	if (bbr->is_full || rate > bbr->pacing)
		bbr->pacing = rate;
	if (ack->n > 0 && !repair(bbr, ack)) {
		uint64_t aim = aim_of(bbr, bbr->window_gain, ack->batch);
		uint64_t window = (uint64_t)bbr->window + ack->n;
		if (bbr->is_full && window > aim)
			window = aim;
		else if (!bbr->is_full && bbr->window >= aim &&
			 ack->total >= INITIAL_WINDOW)
			window = bbr->window;
		bbr->window = window > WINDOW_LEAST ? (uint32_t)window : WINDOW_LEAST;
	}
	if (bbr->mode == TB_BBR_PROBE_RTT && bbr->window > WINDOW_LEAST)
		bbr->window = WINDOW_LEAST;
}

void tb_bbr_lost(struct tb_bbr *bbr)
{
	keep_window(bbr);
}

void tb_bbr_timed_out(struct tb_bbr *bbr)
{
	keep_window(bbr);
	bbr->recovers = true;
	bbr->full = 0;
	bbr->round_begins = true;
	bbr->window = 1;
}

void tb_bbr_undone(struct tb_bbr *bbr)
{
	bbr->full = 0;
	bbr->n_full = 0;
	restore_window(bbr);
}

void tb_bbr_restarts(struct tb_bbr *bbr, tb_time_ps now)
{
	bbr->restarts = true;
	if (bbr->mode == TB_BBR_PROBE_BW)
		bbr->pacing = paced(tb_bbr_rate(bbr), UNIT);
	else if (bbr->mode == TB_BBR_PROBE_RTT)
		end_probe(bbr, now);
}
