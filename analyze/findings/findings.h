// What a run comes to in words: what a colleague would say who has looked at it. Where
// and when it waited, whose traffic made whose wait, what that costs, whether one place
// is the cause or the whole network is full; and what is worth trying, with the command.
//
// It is a list of findings. Each comes from a named rule with stated thresholds
// (below) and carries the figures that the rule looked at, a sentence or two, and, for
// what is worth trying, the command that tries it. All formats of a report and the viewer
// print the same sentences. What is found comes first, what is worth trying after it.
#ifndef TB_FINDINGS_H
#define TB_FINDINGS_H

#include "evidence.h"
#include "rules.h"

// Thresholds of the rules; percent where nothing else is said.
//
// Hardly anything waited: less a packet than this share of the time that a full packet
// takes on a link (as of a capture that shows nothing, underload.h). A wait this short
// does not show in the time of any message.
#define TB_FINDING_LITTLE TB_UNDERLOAD_PACKETS
// Incast: a node's link is the root of at least so much of the wait, and at least so many
// nodes sent to it at the time. With a fifth, the few that there can be are worth a
// sentence each; two senders are what any exchange between three nodes has.
#define TB_FINDING_INCAST  20.0
#define TB_FINDING_SENDERS 3
// Or it is the root of so much of what waits while it is one, and of TB_EVIDENCE_PART of
// all: a short incast in a long run.
#define TB_FINDING_INCAST_THEN 50.0
// Victim of an incast: a flow to another node took so many times as long as on an idle
// network, and lost so much of the run, in percent. (Half of what packets to its node
// waited was for the incast's: what else they wait for, they share with each other.)
#define TB_FINDING_VICTIM      2.0
#define TB_FINDING_VICTIM_LOST 2.0
// Or several nodes at once are the roots of as much together, each of TB_EVIDENCE_PART:
// servers that all write to. They are at most a quarter of those that send: more is an
// exchange among all.
#define TB_FINDING_SERVERS 25.0
// Slow receiver: in a network with credits, a node's link is the root of as much, and it
// was stalled for so much of the time; from TB_FINDING_SENDERS nodes on also longer than
// it was busy, or it is an incast. (HDR at PCIe 3.0, 14.3 of 25 GB/s: busy for 58,
// stalled for 42, measured. A node that keeps up is never stalled.)
#define TB_FINDING_SLOW 25.0
// Hot spot: one link, not to a node, is the root of at least half of the wait.
#define TB_FINDING_HOT 50.0
// It is the single one if no other is the root of so much of its wait.
#define TB_FINDING_SINGLE 0.8
// Few receivers: the links to so few nodes, in percent of those that send, are the roots
// of half of the wait, none of them alone of enough for an incast. (Of 512 messages among
// 64 nodes at random, a quarter of the nodes hold a half by chance, measured.)
#define TB_FINDING_RECEIVERS 12.5
// Taper: the links up from a level that has more rate down than up are the roots of
// TB_FINDING_INSIDE of the wait, bytes take longer to cross cuts than nodes' links, and
// none of the above explains it.
// Links up are slow, not only few, when each has less than this of the rate below.
#define TB_FINDING_SLOW_UP 0.99
// So much more rate down than up, on the whole: a cable that is missing is no taper.
#define TB_FINDING_TAPERED 1.05
// Stands out: the hottest link has at least so much of the wait; else levels are told.
#define TB_FINDING_STANDS_OUT 1.0
// Full: the links that carried anything were held for so much of the time in which most
// of the wait arose (saturated uniform, transposed and bit-reversed traffic and an
// all-to-all on 64 nodes: 73 to 81, measured over the whole run), at least a quarter of
// them share most of the wait, and no link is the root of a tenth of it.
#define TB_FINDING_FULL_HELD  60.0
#define TB_FINDING_FULL_LINKS 25.0
#define TB_FINDING_FULL_ROOT  10.0
// Not the network but a node is full: its links, or its bus, leave less of the run. (The
// busiest of a bound's links, whatever the network between them.)
#define TB_FINDING_NODE_LEAVES 10.0
// Credit-limited: the buffer behind a link lets it carry less than so much of its rate,
// which may have cost TB_FINDING_PAYS of the run.
#define TB_FINDING_CARRIES 0.95
// All along: the windows that hold most of the wait take so much of the time.
#define TB_FINDING_ALL_ALONG 75.0
// They tell something where wait is so many times as dense there as on average.
#define TB_FINDING_DENSER 2.0
// Of fewer bins that is not said.
#define TB_FINDING_BINS 8
// Jobs hold each other up: at least so much of the wait is of one for another. (Two
// captures of 16 nodes each, dealt to the same leaves: 10, measured.)
#define TB_FINDING_OTHERS 5.0
// The network inside is the place: links between switches are the roots of so much.
#define TB_FINDING_INSIDE 30.0
// Routes matter where they cost a single job so much of its run: its most loaded links
// took so much longer than the bytes that cross cuts take on any routes. (16 patterns on
// 10 networks of 64 nodes with 3 placements, adaptive routes replayed: from here on 185
// runs gained and one did not; below, 68 gained, 13 did not and 28 took longer, up to 17
// %: what is loaded evenly waits for its turn, and adaptive routes make packets of an
// all-to-all meet that did not. With several jobs, of which not the last may
// wait, TB_FINDING_PAYS: of 47 runs of two jobs on 3 networks 25 gained from there on and
// none did not; below, 13 gained, one did not and 8 took longer.)
#define TB_FINDING_ROUTES 10.0
// Routes by destination suit traffic that they spread evenly over the links up, to so
// much of the most loaded one, or that loads no link up for a third as long as a node's.
// (62 patterns on 13 networks with routes by load: 40 runs gained 9 to 65 %, and none
// took longer. What is random meets on them by chance, and took up to 10 % longer.)
#define TB_FINDING_EVEN	  0.85
#define TB_FINDING_HARDLY 3
// A change that leaves the links of nodes as they are is worth trying where these leave
// so much of the run. (Of servers spread where an ideal network saves TB_FINDING_ROUTES,
// too, 30 runs gained; with less 6 gained and 3 took longer. Of trees not tapered, where
// that also costs more than the routes, 78 gained; else 55 gained, 21 did not and 2 took
// longer.)
#define TB_FINDING_ROOM 5.0
// Backlog: of the time from post to delivery, messages spent so much in the queue of
// their own node. With more than half, the queue decides what a latency is.
#define TB_FINDING_BACKLOG TB_BACKLOG_PERCENT
// A node's link is busy for most of a run: so much of it, with what the node posts.
#define TB_FINDING_BUSY 50.0
// A node receives more than most: so many times the mean of those in use, so that
// a slow cable to it is not all that makes others wait for it.
#define TB_FINDING_CARRIES_MORE 1.5
// A node's bus limits what faster links gain: links twice as fast would gain less than
// this, of the 50 % that nothing else limits.
#define TB_FINDING_BUS 45.0
// A job pays for the others, or for the network, when it takes so much longer than by
// itself or on an ideal one; less does not matter to anybody. Nor does wait that could
// not have made the run so much longer: there is no remedy for it.
#define TB_FINDING_PAYS 2.0
// Stragglers (rank_loads.h) make a run so much longer. How long each rank of an inferred
// job computes is not known well enough: it has none.
#define TB_FINDING_STRAGGLER 5.0
// Calls of one sort are worth a sentence when they take so much of the time of all ranks.
#define TB_FINDING_CALLS 5.0
// A part of the critical path, or a pair of the traffic that waits, is told from so many
// percent of the run, or of the wait, on: less shows in no digit of the others.
#define TB_FINDING_TOLD 0.1
// Messages take longer than on an idle network: from here on two decimals show it.
#define TB_FINDING_SLOWER 1.005
// A finding on waits is small when what it found held up the end of a single job's run
// for less: it stands behind the others, and reports sum such findings up in a line. (Of
// 60 ms an incast that cost 2 us had eight lines before what took the time. Half of what
// TB_FINDING_PAYS asks of a remedy: nobody would change anything for it.)
#define TB_FINDING_SMALL 1.0
// A congestion region is worth a sentence when it holds so much of the wait.
#define TB_FINDING_REGION 10.0

// A captured flow lost so much of its time: that is what the capture is looked at for.
#define TB_FINDING_LOST 25.0

// Counters: a link whose port could not send for less is no place to look.
#define TB_FINDING_HELD 1.0

// Few nodes: a job at one leaf switch has at most one node in so many of the network. (A
// job of half the network or more, at one of two leaves, uses what there is.)
#define TB_FINDING_FEW_NODES 8

// Changes that were tried and help, beyond those that rules propose.
#define TB_FINDING_TRIED 3

// A figure that a rule looked at; ids ("link", "node", "job") too.
struct tb_figure {
	const char *key; // with its unit: "percent_of_wait", "begin_ps"
	bool whole;	 // `count` holds it, else `real`
	uint64_t count;
	double real;
};

#define TB_FIGURES_MOST	 20
#define TB_SENTENCE_MOST 1024

struct tb_finding {
	enum tb_rule id;
	const char *rule;    // its name: "incast", "another-ascent"
	bool remedy;	     // worth trying, rather than found
	bool needs_hardware; // of remedies: those that cost nothing stand before them
	size_t place;	     // of remedies that were tried and help; SIZE_MAX: of others
	bool small;	     // TB_FINDING_SMALL
	bool minor;	     // what it costs may be little: it stands behind the others
	bool leads;   // what was recorded is the answer: nothing waits in the replay
	bool nothing; // it says that something is not so: no first page needs it
	char sentence[TB_SENTENCE_MOST]; // one or more
	char *command; // the whole command line that tries it; NULL: there is none
	struct tb_figure figures[TB_FIGURES_MOST];
	size_t n_figures;
};

#define TB_FINDINGS_MOST 32

struct tb_findings {
	struct tb_finding list[TB_FINDINGS_MOST];
	size_t n; // at least 1
	size_t n_small;
	// For how long the small ones held up the end of the run together, at most.
	tb_time_ps small_ps;
	double small_percent; // of the run
};

// tb_findings_init gathers the evidence of a run and applies the rules; errors as of
// tb_evidence_init. tb_findings_judge applies them to evidence that is at hand;
// TB_ENOMEM. tb_findings_fini frees the findings; a zeroed struct is fine to free.
int tb_findings_init(struct tb_findings *findings, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
int tb_findings_judge(
	struct tb_findings *findings, const struct tb_evidence *evidence) TB_MUST_USE;
void tb_findings_fini(struct tb_findings *findings);

// tb_findings_rule returns the first finding of a rule, NULL when it found nothing.
const struct tb_finding *tb_findings_rule(
	const struct tb_findings *findings, const char *rule);

// tb_findings_answer returns whether a rule answers a finding, or whatever is found.
bool tb_findings_answer(const struct tb_findings *findings, enum tb_rule rule);

// The order of the list: what is known of the run time, where it was inferred; how long
// the run took, and of jobs beside each other which pays for that; where and by whom it
// waited; what was recorded before; what is small; and what is worth trying, of which
// those that cost nothing come first.
enum tb_finding_part {
	TB_PART_HOW_SURE,
	TB_PART_HOW_LONG,
	TB_PART_WHERE,
	TB_PART_MINOR,
	TB_PART_RECORDED,
	TB_PART_SMALL,
	TB_PART_REMEDY,
	TB_PART_MINOR_REMEDY,
	TB_PART_HARDWARE
};
enum tb_finding_part tb_finding_part(const struct tb_finding *finding);

// tb_finding_is_change returns whether a finding proposes a change to the run, so that it
// can gain something when it is tried (`tailback advise`); other remedies only show
// something. tb_finding_is_tried returns whether it says what that gained.
bool tb_finding_is_change(const struct tb_finding *finding);
bool tb_finding_is_tried(const struct tb_finding *finding);

// tb_rates_text writes rates for a key of the network, of one cable or by level: "25GB/s
// 50GB/s", each in the largest unit that holds it exactly.
#define TB_RATES_SIZE 512
char *tb_rates_text(const uint64_t *rates, uint32_t n, char text[TB_RATES_SIZE]);

// tb_finding_figure returns a figure of a finding by its key, NULL when it has none.
const struct tb_figure *tb_finding_figure(
	const struct tb_finding *finding, const char *key);

#endif
