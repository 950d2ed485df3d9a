// What the rules share. Private to analyze/.
#ifndef TB_FINDINGS_IMPL_H
#define TB_FINDINGS_IMPL_H

#include "findings.h"
#include "replay_command.h"

// Evidence being judged.
struct tb_judging {
	const struct tb_evidence *evidence;
	struct tb_findings *findings;
	struct tb_evidence_kind *kinds; // tb_evidence_kinds
	uint32_t n_kinds;
	bool failed; // out of memory
};

// The groups of rules, in the order of the findings.
void tb_rules_of_recorded(struct tb_judging *judging);	// by captures
void tb_rules_of_range(struct tb_judging *judging);	// how long, of inferred jobs
void tb_rules_of_time(struct tb_judging *judging);	// what the run time is made of
void tb_rules_of_cables(struct tb_judging *judging);	// below the speed of their peers
void tb_rules_of_placement(struct tb_judging *judging); // where the ranks sit
void tb_rules_of_ranks(struct tb_judging *judging);	// stragglers, the costliest call
void tb_rules_of_state(struct tb_judging *judging);	// stopped, nothing waited
void tb_rules_of_faults(struct tb_judging *judging);   // what is dead, and what that lost
void tb_rules_of_shape(struct tb_judging *judging);    // incast, slow receiver, full
void tb_rules_of_jobs(struct tb_judging *judging);     // that hold each other up
void tb_rules_of_place(struct tb_judging *judging);    // where, when, regions
void tb_rules_of_people(struct tb_judging *judging);   // whose traffic, at what cost
void tb_rules_of_nodes(struct tb_judging *judging);    // full themselves, or paced
void tb_rules_of_counters(struct tb_judging *judging); // all, of what was measured
void tb_rules_of_remedy(struct tb_judging *judging);   // what is worth trying

// tb_judging_find adds a finding. The next two give it a figure; tb_finding_say appends
// to its sentences, with a blank between two.
struct tb_finding *tb_judging_find(struct tb_judging *judging, enum tb_rule rule);
void tb_finding_count(struct tb_finding *finding, const char *key, uint64_t count);
void tb_finding_real(struct tb_finding *finding, const char *key, double real);
void tb_finding_say(struct tb_finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

// tb_judging_found is whether a rule has found something.
bool tb_judging_found(const struct tb_judging *judging, enum tb_rule rule);

// tb_recorded_at_end says what the captures recorded of congestion at a node, in the
// times in which much waits for it in the replay; nothing where they recorded none.
void tb_recorded_at_end(const struct tb_judging *judging,
	const struct tb_evidence_end *end, struct tb_finding *finding);

// tb_recorded_loss is whether the captures recorded segments or packets sent again.
bool tb_recorded_loss(const struct tb_evidence *evidence);

// tb_say_link_costs says for how long the packets that waited at links held up the end of
// the run.
void tb_say_link_costs(const struct tb_evidence *evidence, struct tb_finding *finding,
	const struct tb_link *links, uint32_t n);

// tb_congestion_text is a sentence, behind a blank, on whether congestion control was on;
// "" where networks have none.
const char *tb_congestion_text(const struct tb_evidence *evidence);

// tb_is_slow_receiver is whether a node drains so slowly that others wait.
bool tb_is_slow_receiver(
	const struct tb_evidence *evidence, const struct tb_evidence_end *end);

// tb_judging_remedy adds what is worth trying; the command is set when it can be made.
// tb_judging_try gives it the command, whose store is called as `output`, and frees it.
struct tb_finding *tb_judging_remedy(struct tb_judging *judging, enum tb_rule rule);
void tb_judging_try(struct tb_judging *judging, struct tb_finding *finding,
	struct tb_replay_command *command, const char *output);

// tb_judging_command begins the command that replays the run again; false when that
// cannot be done.
bool tb_judging_command(struct tb_judging *judging, struct tb_replay_command *command);

// tb_network_matters is whether another network could make the run noticeably shorter: a
// single job that computes all along does not, nor do better routes where
// tb_routes_matter says that they cannot.
bool tb_network_matters(const struct tb_evidence *evidence);
// tb_wait_matters is whether all waits together are long enough to matter to a run.
bool tb_wait_matters(const struct tb_evidence *evidence);
// tb_network_presses is whether messages that stood in their nodes behind those that the
// network held up are more of the path than what is small: costs are "at least" then.
bool tb_network_presses(const struct tb_evidence *evidence);
bool tb_routes_matter(const struct tb_evidence *evidence);
// tb_ways_cost is whether routes and what met on them cost a single job much of its run.
bool tb_ways_cost(const struct tb_evidence *evidence);
// tb_ascends_by_load is whether headers choose their way up by load.
bool tb_ascends_by_load(enum tb_ascent ascent);
// tb_routes_cost returns how much longer a run's most loaded links took than the bytes
// that cross cuts take on any routes: of the whole run, or phase by phase.
tb_time_ps tb_routes_cost(const struct tb_bounds *bounds);
bool tb_is_timed_job(const struct tb_evidence *evidence);

// tb_node_leaves returns how much of a job's run, in percent, the busiest link of a node,
// or its bus, leaves to whatever network; 100 where that is not known.
double tb_node_leaves(const struct tb_evidence *evidence, bool *is_bus);

// tb_percent_of_time returns a time as a share of the run's.
double tb_percent_of_time(const struct tb_evidence *evidence, uint64_t time_ps);
// tb_node_decides is whether what a node's links carried takes half of the time in which
// a job does not compute, on whatever network.
bool tb_node_decides(const struct tb_evidence *evidence);

// tb_percent_of_wait returns a wait as a share of the run's.
double tb_percent_of_wait(const struct tb_evidence *evidence, double wait_ps);

// tb_others_percent is how much of the wait is of one job for another.
double tb_others_percent(const struct tb_evidence *evidence);

// tb_full_packet_ps returns how long a full packet takes on a link.
double tb_full_packet_ps(const struct tb_network_params *network);

// tb_percent_text writes "6.2 %", "45 %": no more digits than a sentence needs;
// what is not quite all is "more than 99 %".
char *tb_percent_text(double percent, char *buffer, size_t size);
// tb_list_between returns what stands before entry i of n in a sentence: "", ", " or
// " and ".
const char *tb_list_between(uint32_t i, uint32_t n);
// tb_moment_text writes a point of simulated time, the ends of the run as such.
char *tb_moment_text(
	const struct tb_run_info *info, tb_time_ps time, char *buffer, size_t size);
// tb_node_text writes "node 5", with its name behind it if it has one.
char *tb_node_text(
	const struct tb_run *run, struct tb_node node, char *buffer, size_t size);
const char *tb_link_text(const struct tb_evidence *evidence, struct tb_link link);
// tb_kind_text writes "links up from level 0 (2,048, 4:1)".
const char *tb_kind_text(const struct tb_evidence_kind *of, char *text, size_t size);
// tb_job_text writes the name of a job, "job 2" when it has none.
char *tb_job_text(
	const struct tb_evidence *evidence, uint32_t job, char *buffer, size_t size);

// tb_placement_may_decide is whether a job may sit so that little of the network is used,
// without that its user chose it.
bool tb_placement_may_decide(const struct tb_evidence *evidence, uint32_t job);

// tb_evidence_cables_find finds the slow cables, once bounds, roots and the path are
// known. tb_told_as_slow is whether such a finding tells why a link makes others wait,
// and tb_remedy_of_cables what to do about it.
int tb_evidence_cables_find(
	struct tb_evidence *evidence, struct tb_error *error) TB_MUST_USE;
bool tb_told_as_slow(const struct tb_judging *judging, struct tb_link link);
void tb_remedy_of_cables(struct tb_judging *judging);

// tb_evidence_held_find finds, of what counters measured, the counts, and where the time
// begins in which ports could not send.
int tb_evidence_held_find(struct tb_evidence *evidence,
	const struct tb_link_sample *samples, struct tb_error *error) TB_MUST_USE;

// tb_evidence_traffic finds the grouping that shows whose traffic waits for whose.
int tb_evidence_traffic(struct tb_evidence *evidence, struct tb_error *error) TB_MUST_USE;

#endif
