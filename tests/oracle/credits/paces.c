// Congestion control: marks, notifications, rates. Numbers of rules are those of
// docs/credits.md.
#include "credits.h"

static bool is_on(const struct oracle *oracle)
{
	return oracle->credits->params->congestion_control != TB_CONGESTION_NONE &&
	       !oracle->dead_at;
}

static bool is_infiniband(const struct oracle *oracle)
{
	return oracle->credits->params->congestion_control == TB_CONGESTION_FECN;
}

// C40: whether a packet that takes a link, on which `bytes` wait, can be marked.
static bool can_have_fecn(const struct oracle *oracle, const struct packet *packet,
	uint32_t link, uint64_t bytes)
{
	const struct tb_credit_params *params = oracle->credits->params;
	const struct hop *hop = &packet->hops[packet->n_granted];
	bool lacked_credits = hop->wait > 0 && hop->by_credit;
	bool to_node = oracle->links[link].info->kind == TB_LINK_EJECTION;
	if (params->fecn_threshold == 0 || blocks_of(packet) < params->fecn_packet_size)
		return false;
	if (params->fecn_victims == TB_FECN_VICTIMS_ALL ||
		(params->fecn_victims == TB_FECN_VICTIMS_NODES && to_node))
		lacked_credits = false;
	return !lacked_credits && bytes > (uint64_t)oracle->net->params.fifo_bytes *
						  (16 - params->fecn_threshold) / 16;
}

void credits_mark(struct oracle *oracle, struct packet *packet, uint32_t link)
{
	const struct tb_credit_params *params = oracle->credits->params;
	if (!is_on(oracle))
		return;
	uint64_t bytes =
		credits_waiting(oracle, oracle->links[link].info->from, link, packet->vl);
	if (is_infiniband(oracle)) {
		struct lane *lane = lane_of(oracle, link, packet);
		if (!can_have_fecn(oracle, packet, link, bytes))
			return;
		if (lane->n_let_by++ == params->marking_rate) {
			packet->marked = true;
			lane->n_let_by = 0;
		}
		return;
	}
	uint64_t low = params->ecn_min_bytes, high = params->ecn_max_bytes;
	uint64_t of_million = (uint64_t)(params->ecn_probability * 1048576 + 0.5);
	if (bytes > high) {
		packet->marked = true;
	} else if (bytes > low) {
		uint64_t draw = oracle_draw(
			oracle, packet->order, oracle->net->n_switches + link);
		if (draw % 1048576 < of_million * (bytes - low) / (high - low))
			packet->marked = true;
	}
}

static struct pace *pace_of(
	const struct oracle *oracle, uint32_t source, uint32_t destination, uint32_t vl)
{
	struct credits *credits = oracle->credits;
	for (size_t i = 0; i < credits->n_paces; i++)
		if (credits->paces[i].source == source &&
			credits->paces[i].destination == destination &&
			credits->paces[i].vl == vl)
			return &credits->paces[i];
	return NULL;
}

// known_pace is a packet's, made if there is none.
static struct pace *known_pace(struct oracle *oracle, const struct packet *packet)
{
	struct credits *credits = oracle->credits;
	uint32_t source = packet->what.source.id;
	struct pace *pace = pace_of(oracle, source, packet->destination, packet->vl);
	if (pace)
		return pace;
	credits->paces =
		oracle_one_more(credits->paces, credits->n_paces, sizeof *credits->paces);
	pace = &credits->paces[credits->n_paces++];
	*pace = (struct pace){source, packet->destination, packet->vl, .told_at = -1};
	pace->ccti = credits->params->ccti_min;
	return pace;
}

void credits_tell(struct oracle *oracle, const struct packet *packet, tb_time_ps after)
{
	struct credits *credits = oracle->credits;
	struct pace *pace = known_pace(oracle, packet);
	if (pace->told_at >= 0 &&
		oracle->now - pace->told_at < credits->params->cnp_interval_ps)
		return;
	pace->told_at = oracle->now;
	oracle_foresee(oracle, (struct happening){.at = oracle->now + after,
				       .what = CNP_IN,
				       .id = (uint32_t)(pace - credits->paces)});
}

static uint64_t rate_of_link(const struct oracle *oracle, const struct pace *pace)
{
	return oracle->links[oracle->net->injection[pace->source]].info->bytes_per_s;
}

// C37: a step by time or bytes.
static void step(const struct oracle *oracle, struct pace *pace)
{
	uint64_t line = rate_of_link(oracle, pace);
	uint64_t by = oracle->credits->params->rate_step_bytes_per_s;
	uint32_t t = pace->by_time, b = pace->by_bytes;
	if (t > 5 && b > 5)
		pace->target += 10 * by;
	else if (t >= 5 || b >= 5)
		pace->target += by;
	if (pace->target > line)
		pace->target = line;
	pace->rate += (pace->target - pace->rate + 1) / 2;
	if (pace->rate == line)
		pace->limited = false;
}

// What has been due until now, one instant after the other.
static void pass_time(const struct oracle *oracle, struct pace *pace)
{
	while (pace->limited) {
		tb_time_ps next = pace->alpha_due < pace->step_due ? pace->alpha_due
								   : pace->step_due;
		if (next > oracle->now)
			return;
		if (pace->alpha_due == next) {
			pace->alpha -= pace->alpha / 256;
			pace->alpha_due += 55000000;
		} else {
			pace->by_time++;
			pace->step_due += oracle->credits->params->rate_timer_ps;
			step(oracle, pace);
		}
	}
}

// C40: the timer, one period after the other.
static void fall(const struct oracle *oracle, struct pace *pace)
{
	const struct tb_credit_params *params = oracle->credits->params;
	while (pace->ccti > params->ccti_min && pace->falls_at <= oracle->now) {
		pace->ccti--;
		pace->falls_at += params->ccti_timer_ps;
	}
}

static void rise(const struct oracle *oracle, struct pace *pace)
{
	const struct tb_credit_params *params = oracle->credits->params;
	fall(oracle, pace);
	if (pace->ccti == params->ccti_min)
		pace->falls_at = oracle->now + params->ccti_timer_ps;
	for (uint32_t i = 0; i < params->ccti_increase; i++)
		if (pace->ccti < params->ccti_limit)
			pace->ccti++;
}

// delay_next has the next packet wait for the table's delay after one that was cut now.
static void delay_next(
	const struct oracle *oracle, struct pace *pace, const struct packet *packet)
{
	const struct tb_credit_params *params = oracle->credits->params;
	tb_time_ps takes =
		rate_time(byte_time(rate_of_link(oracle, pace)), packet->wire_bytes);
	uint64_t square = (uint64_t)(params->cct_square * 65536 * 65536 + 0.5);
	fall(oracle, pace);
	uint64_t times = pace->ccti * (uint64_t)pace->ccti * square / 65536 / 65536;
	if (times > 16383)
		times = 16383;
	tb_time_ps delay = takes / (1 << params->cct_shift) * (tb_time_ps)times;
	if (delay > 0)
		pace->next = oracle->now + takes + delay;
}

void credits_notified(struct oracle *oracle, uint32_t id)
{
	struct pace *pace = &oracle->credits->paces[id];
	uint64_t least = 12500000; // 100 Mbit/s
	if (is_infiniband(oracle)) {
		rise(oracle, pace);
		return;
	}
	pass_time(oracle, pace);
	if (!pace->limited) {
		pace->rate = rate_of_link(oracle, pace);
		pace->alpha = 1048576;
	}
	pace->limited = true;
	pace->target = pace->rate;
	pace->rate -= pace->rate * pace->alpha / (2 * 1048576);
	if (pace->rate < least)
		pace->rate = pace->target < least ? pace->target : least;
	pace->alpha = pace->alpha - pace->alpha / 256 + 1048576 / 256;
	pace->bytes = pace->by_time = pace->by_bytes = 0;
	pace->alpha_due = oracle->now + 55000000;
	pace->step_due = oracle->now + oracle->credits->params->rate_timer_ps;
}

tb_time_ps credits_may_cut_at(const struct oracle *oracle, const struct message *message)
{
	const struct pace *pace =
		pace_of(oracle, message->what.source.id, message->end, message->vl);
	return pace ? pace->next : 0;
}

void credits_was_cut(struct oracle *oracle, const struct packet *packet)
{
	if (is_on(oracle) && is_infiniband(oracle)) {
		delay_next(oracle, known_pace(oracle, packet), packet);
		return;
	}
	struct pace *pace =
		pace_of(oracle, packet->what.source.id, packet->destination, packet->vl);
	if (!pace)
		return;
	pass_time(oracle, pace);
	if (!pace->limited)
		return;
	pace->bytes += packet->wire_bytes;
	if (pace->bytes >= oracle->credits->params->rate_bytes) {
		pace->bytes -= oracle->credits->params->rate_bytes;
		pace->by_bytes++;
		step(oracle, pace);
	}
	pace->next = oracle->now + (tb_time_ps)(packet->wire_bytes *
						UINT64_C(1000000000000) / pace->rate);
}
