// Whose traffic waits for whose, as finely as three pairs show half of it.
#include "findings_impl.h"
#include "heavy_waits.h"

static bool holds_half(const struct tb_listed *listed)
{
	return listed->n > 0 && 2 * listed->listed_ps >= listed->whole_ps;
}

static void take_listed(struct tb_evidence *evidence, enum tb_evidence_grain grain,
	const struct tb_listed *listed)
{
	evidence->grain = grain;
	evidence->n_traffic = listed->n;
	evidence->traffic_is_exact = listed->floor_ps == 0;
	evidence->traffic_percent = 100 * listed->listed_ps / evidence->wait_ps;
}

static int try_flows(struct tb_evidence *evidence, struct tb_error *error)
{
	struct tb_heavy_waits waits = {0};
	const struct tb_span whole = {0, 0};
	int status = tb_heavy_waits_during(
		&waits, evidence->run, whole, TB_EVIDENCE_NAMED, error);
	if (status)
		return status;
	if (holds_half(&waits.listed)) {
		take_listed(evidence, TB_EVIDENCE_FLOWS, &waits.listed);
		for (uint32_t i = 0; i < waits.listed.n; i++) {
			const struct tb_blame_sample *row = &waits.rows[i];
			evidence->traffic[i] = (struct tb_evidence_traffic){
				.victim = {row->victim_source, row->victim_destination},
				.culprit = {row->culprit_source,
					row->culprit_destination},
				.percent =
					100 * (double)row->wait_ps / evidence->wait_ps};
		}
	}
	tb_heavy_waits_fini(&waits);
	return TB_OK;
}

static int try_groups(struct tb_evidence *evidence, enum tb_grouping grouping,
	enum tb_evidence_grain grain, struct tb_error *error)
{
	struct tb_groups groups = {0};
	int status = tb_groups_init(
		&groups, evidence->run, grouping, TB_EVIDENCE_NAMED, error);
	if (status)
		return status;
	if (holds_half(&groups.listed)) {
		take_listed(evidence, grain, &groups.listed);
		for (uint32_t i = 0; i < groups.listed.n; i++) {
			const struct tb_group_sample *row = &groups.rows[i];
			evidence->traffic[i] = (struct tb_evidence_traffic){
				.victim = {{row->victim}, {row->victim}},
				.culprit = {{row->culprit}, {row->culprit}},
				.victim_leaf = row->victim,
				.culprit_leaf = row->culprit,
				.percent =
					100 * (double)row->wait_ps / evidence->wait_ps};
		}
	}
	tb_groups_fini(&groups);
	return TB_OK;
}

int tb_evidence_traffic(struct tb_evidence *evidence, struct tb_error *error)
{
	static const struct {
		enum tb_grouping grouping;
		enum tb_evidence_grain grain;
	} coarser[] = {{TB_GROUP_DESTINATION, TB_EVIDENCE_DESTINATIONS},
		{TB_GROUP_DESTINATION_LEAF, TB_EVIDENCE_DESTINATION_LEAVES},
		{TB_GROUP_SOURCE_LEAF, TB_EVIDENCE_SOURCE_LEAVES}};
	if (evidence->wait_ps <= 0)
		return TB_OK;
	int status = try_flows(evidence, error);
	for (size_t i = 0; i < sizeof coarser / sizeof *coarser && !status &&
			   evidence->grain == TB_EVIDENCE_NO_GRAIN;
		i++)
		status = try_groups(
			evidence, coarser[i].grouping, coarser[i].grain, error);
	return status;
}
