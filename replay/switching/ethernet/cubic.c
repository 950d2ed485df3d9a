#include "ethernet_impl.h"

enum {
	PARTS = 1024,	       // of a segment, and of a second
	LEAST_WINDOW = 2,      // after a loss
	SLOW_START_LEAST = 16, // HyStart watches windows from here on
	SAMPLES = 8,	       // of a round, that it looks at
};

// HyStart's bounds of an increase of the round trip (Linux's tcp_cubic: 4 and 16 ms),
// and between acknowledgements of a train.
static const tb_time_ps increase_least_ps = 4 * TB_PS_PER_MS;
static const tb_time_ps increase_most_ps = 16 * TB_PS_PER_MS;
static const tb_time_ps train_gap_ps = 2 * TB_PS_PER_MS;

static uint32_t cubic_larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

void tb_cubic_init(struct tb_cubic *cubic, uint32_t initial_window)
{
	*cubic = (struct tb_cubic){.window = initial_window,
		.restart = initial_window,
		.threshold = TB_CUBIC_NO_THRESHOLD,
		.epoch = TB_TIME_NEVER,
		.least = TB_TIME_NEVER,
		.round_least = TB_TIME_NEVER};
}

uint64_t tb_cubic_root3(uint64_t value)
{
	uint64_t root = 0;
	for (int bit = 20; bit >= 0; bit--) {
		uint64_t tried = root | UINT64_C(1) << bit;
		if (tried * tried * tried <= value)
			root = tried;
	}
	return root;
}

static tb_time_ps increase_of(tb_time_ps least)
{
	tb_time_ps eighth = least / 8;
	if (eighth < increase_least_ps)
		return increase_least_ps;
	return eighth < increase_most_ps ? eighth : increase_most_ps;
}

// is_full returns whether HyStart finds the path full: acknowledgements come in one train
// for half a round trip and what batches spread them, or the round trip has grown.
static bool is_full(struct tb_cubic *cubic, const struct tb_cubic_ack *ack)
{
	if (ack->now - cubic->train_at <= train_gap_ps) {
		cubic->train_at = ack->now;
		if (ack->now - cubic->round_at > (cubic->least + ack->spread) / 2)
			return true;
	}
	if (ack->round_trip < cubic->round_least)
		cubic->round_least = ack->round_trip;
	if (cubic->n_samples < SAMPLES) {
		cubic->n_samples++;
		return false;
	}
	return cubic->round_least > cubic->least + increase_of(cubic->least);
}

static void cubic_watch(struct tb_cubic *cubic, const struct tb_cubic_ack *ack)
{
	if (ack->round_trip == 0)
		return;
	if (ack->round_trip < cubic->least)
		cubic->least = ack->round_trip;
	if (cubic->window >= cubic->threshold || cubic->has_ended || cubic->is_reno)
		return;
	if (ack->acked > cubic->round_end) {
		cubic->round_end = ack->next;
		cubic->round_at = cubic->train_at = ack->now;
		cubic->round_least = TB_TIME_NEVER;
		cubic->n_samples = 0;
	}
	if (cubic->window < SLOW_START_LEAST || !is_full(cubic, ack))
		return;
	cubic->threshold = cubic->window;
	cubic->has_ended = true;
}

// curve_at returns W(t) = C (t - K)^3 + origin, in 1/1024 segments.
static uint64_t curve_at(const struct tb_cubic *cubic, tb_time_ps after)
{
	const uint64_t longest = 1 << 19; // 512 s: the curve is beyond any window
	uint64_t t = (uint64_t)after / (uint64_t)(TB_PS_PER_S / PARTS);
	uint64_t d = t > cubic->k ? t - cubic->k : cubic->k - t;
	if (d > longest)
		d = longest;
	uint64_t rise = d * d * d / (UINT64_C(1) << 20) * 2 / 5;
	uint64_t origin = (uint64_t)cubic->origin * PARTS;
	if (t >= cubic->k)
		return origin + rise;
	return rise < origin ? origin - rise : 0;
}

// cubic_growth returns by how much each acknowledged segment grows the window, in 1/1024
// segments: what reaches the curve a round trip from now, Reno's growth if that is more,
// and before any loss 5 % of the window in a round trip at least (Linux).
static uint32_t cubic_growth(struct tb_cubic *cubic, const struct tb_cubic_ack *ack)
{
	uint64_t window = (uint64_t)cubic->window * PARTS;
	// Where every segment was sent twice, no round trip has been measured.
	tb_time_ps round_trip = cubic->least == TB_TIME_NEVER ? 0 : cubic->least;
	uint64_t target = curve_at(cubic, ack->now - cubic->epoch + round_trip);
	uint64_t rise = 0;
	if (target > window)
		rise = (target - window) / cubic->window;
	if (rise > PARTS / 2)
		rise = PARTS / 2;
	if (cubic->most == 0 && rise < PARTS / 20)
		rise = PARTS / 20;
	// alpha = 3 (1 - beta) / (1 + beta) = 0.53 with beta = 0.7 (RFC 9438, 4.3).
	cubic->reno += (uint64_t)ack->n * PARTS * 53 / 100 / cubic->window;
	if (cubic->reno > window && (cubic->reno - window) / cubic->window > rise)
		rise = (cubic->reno - window) / cubic->window;
	return (uint32_t)rise;
}

void tb_cubic_acked(struct tb_cubic *cubic, const struct tb_cubic_ack *ack)
{
	uint32_t n = ack->n;
	cubic_watch(cubic, ack);
	if (!ack->is_limited)
		return;
	if (cubic->window < cubic->threshold) {
		uint32_t room = cubic->threshold - cubic->window;
		uint32_t taken = n < room ? n : room;
		cubic->window += taken;
		n -= taken;
	}
	if (n > 0) {
		if (cubic->epoch == TB_TIME_NEVER) {
			cubic->epoch = ack->now;
			cubic->credit = 0;
			cubic->reno = (uint64_t)cubic->window * PARTS;
			cubic->origin = cubic_larger(cubic->most, cubic->window);
			// K = cube root of ((origin - window) / C), C = 0.4 segments/s^3
			// (RFC 9438, 4.2).
			uint64_t below = cubic->origin - cubic->window;
			cubic->k = tb_cubic_root3(below * 5 / 2 * (UINT64_C(1) << 30));
		}
		cubic->credit += n * (cubic->is_reno ? PARTS / cubic->window
						     : cubic_growth(cubic, ack));
		cubic->window += cubic->credit / PARTS;
		cubic->credit %= PARTS;
	}
}

// shrink: beta is 0.7 (Reno: a half), and a flow that lost at a smaller window than
// before leaves room to others (fast convergence; RFC 9438, 4.6 and 4.7).
static void shrink(struct tb_cubic *cubic)
{
	uint32_t window = cubic->window;
	cubic->most = window < cubic->most ? window * 17 / 20 : window;
	cubic->threshold =
		cubic_larger(cubic->is_reno ? window / 2 : window * 7 / 10, LEAST_WINDOW);
	cubic->epoch = TB_TIME_NEVER;
	cubic->has_ended = true;
}

void tb_cubic_lost(struct tb_cubic *cubic)
{
	shrink(cubic);
	cubic->window = cubic->threshold;
}

void tb_cubic_timed_out(struct tb_cubic *cubic)
{
	shrink(cubic);
	cubic->window = 1;
	cubic->round_end = 0;
	cubic->has_ended = false;
}

// keep_threshold: slow start leads back to three quarters of where the window was.
static void keep_threshold(struct tb_cubic *cubic)
{
	cubic->threshold = cubic_larger(cubic->threshold, cubic->window / 4 * 3);
}

void tb_cubic_idle(struct tb_cubic *cubic, tb_time_ps idle, tb_time_ps timeout)
{
	if (cubic->epoch != TB_TIME_NEVER)
		cubic->epoch += idle; // the curve does not rise meanwhile
	if (idle <= timeout)
		return;
	keep_threshold(cubic);
	for (; idle > timeout && cubic->window > cubic->restart; idle -= timeout)
		cubic->window /= 2;
	cubic->window = cubic_larger(cubic->window, cubic->restart);
	cubic->epoch = TB_TIME_NEVER;
}

void tb_cubic_unused(struct tb_cubic *cubic, uint32_t used)
{
	used = cubic_larger(used, cubic->restart);
	if (used >= cubic->window)
		return;
	keep_threshold(cubic);
	cubic->window = (cubic->window + used) / 2;
}
