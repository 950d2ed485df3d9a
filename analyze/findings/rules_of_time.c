// What the run time is made of: the headline.
#include "findings_impl.h"

void tb_rules_of_time(struct tb_judging *judging)
{
	const struct tb_time_parts *parts = &judging->evidence->bounds.parts;
	char text[400];
	if (parts->run_ps <= 0)
		return;
	struct tb_finding *finding = tb_judging_find(judging, "time-parts");
	tb_finding_count(finding, "run_ps", (uint64_t)parts->run_ps);
	if (parts->has_compute)
		tb_finding_count(finding, "compute_ps", (uint64_t)parts->compute_ps);
	if (parts->closed_ps > 0)
		tb_finding_count(finding, "closed_ps", (uint64_t)parts->closed_ps);
	tb_finding_count(finding, "hosts_ps", (uint64_t)parts->hosts_ps);
	tb_finding_count(finding, "capacity_ps", (uint64_t)parts->capacity_ps);
	tb_finding_count(finding, "routes_ps", (uint64_t)parts->routes_ps);
	tb_finding_count(finding, "waiting_ps", (uint64_t)parts->waiting_ps);
	tb_finding_say(finding, "%s", tb_time_parts_text(parts, text, sizeof text));
}
