// What MPI libraries choose, one after another.
//
// MPICH: the default selection of version 4.0.2 for built-in operations and
// communicators with one rank per host, maint/tuning/coll/mpir/generic.json. (The
// device's own file, ch4/generic.json, leaves these communicators to it.)
#include "algorithms.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_power_of_two(uint32_t n)
{
	return (n & (n - 1)) == 0;
}

static bool has_few_elements(const struct tb_collective_shape *shape)
{
	uint32_t power = 1;
	while (power <= shape->n / 2)
		power *= 2;
	return shape->bytes / tb_element_bytes(shape->bytes) < power;
}

static void mpich_choose(
	struct tb_algorithm_choice *choice, const char *algorithm, const char *reason)
{
	choice->algorithm = algorithm;
	snprintf(choice->reason, sizeof choice->reason, "MPICH 4.0, %s", reason);
}

static void choose_allgather(
	struct tb_algorithm_choice *choice, const struct tb_collective_shape *shape)
{
	// A product beyond 64 bits is above the limits, too.
	uint64_t most = (is_power_of_two(shape->n) ? 524288 : 81920) - 1;
	bool small = shape->bytes <= most / shape->n;
	if (!small)
		mpich_choose(choice, shape->unequal ? "pipelined-ring" : "ring",
			is_power_of_two(shape->n)
				? "524288 B and more in all"
				: "81920 B and more in all, no power of two of members");
	else if (is_power_of_two(shape->n))
		mpich_choose(choice, "doubling", "below 524288 B in all, a power of two");
	else
		mpich_choose(choice, "bruck", "below 81920 B in all, no power of two");
	choice->segment_bytes =
		small ? 0 : 32768; // MPIR_CVAR_ALLGATHERV_PIPELINE_MSG_SIZE
}

static void choose_other(
	struct tb_algorithm_choice *choice, const struct tb_collective_shape *shape)
{
	static const char *const names[TB_COLL_N] = {
		[TB_COLL_BARRIER] = "dissemination",
		[TB_COLL_GATHER] = "binomial",
		[TB_COLL_SCATTER] = "binomial",
		[TB_COLL_SCAN] = "doubling",
		[TB_COLL_EXSCAN] = "doubling",
		[TB_COLL_EXCHANGE] = "linear",
	};
	if (shape->unequal)
		mpich_choose(choice, "linear", "blocks of unequal size");
	else
		mpich_choose(choice, names[shape->op], "always");
}

void tb_choose_mpich(
	struct tb_algorithm_choice *choice, const struct tb_collective_shape *shape)
{
	switch (shape->op) {
	case TB_COLL_BROADCAST:
		if (shape->n < 8)
			mpich_choose(choice, "binomial", "fewer than 8 members");
		else if (shape->bytes <= 12288)
			mpich_choose(choice, "binomial", "up to 12288 B");
		else if (is_power_of_two(shape->n) && shape->bytes <= 524288)
			mpich_choose(choice, "scatter-doubling",
				"up to 524288 B, a power of two of members");
		else
			mpich_choose(choice, "scatter-ring",
				is_power_of_two(shape->n) ? "above 524288 B"
							  : "above 12288 B");
		return;
	case TB_COLL_ALLGATHER:
		choose_allgather(choice, shape);
		return;
	case TB_COLL_ALLTOALL: {
		// The file has "comm_size<8" here, but where this is asked after other
		// questions, csel.c compares with <=; measured, too.
		const char *pairwise = is_power_of_two(shape->n) ? "pairwise" : "shift";
		if (shape->unequal)
			mpich_choose(choice, "linear", "blocks of unequal size");
		else if (shape->n > 8 && shape->bytes <= 256)
			mpich_choose(choice, "bruck", "more than 8 members, up to 256 B");
		else if (shape->bytes <= 32768)
			mpich_choose(choice, "linear", "up to 32768 B");
		else
			mpich_choose(choice, pairwise, "above 32768 B");
		return;
	}
	case TB_COLL_REDUCE:
	case TB_COLL_ALLREDUCE: {
		bool to_all = shape->op == TB_COLL_ALLREDUCE;
		const char *small = to_all ? "doubling" : "binomial";
		if (shape->bytes <= (to_all ? 8 : 2048))
			mpich_choose(
				choice, small, to_all ? "up to 8 B" : "up to 2048 B");
		else if (has_few_elements(shape))
			mpich_choose(choice, small, "fewer elements than members");
		else
			mpich_choose(choice,
				to_all ? "halving-doubling" : "halving-gather",
				to_all ? "above 8 B" : "above 2048 B");
		return;
	}
	case TB_COLL_REDUCE_SCATTER:
		if (shape->bytes < 524288)
			mpich_choose(choice, "halving", "below 524288 B");
		else
			mpich_choose(choice, "pairwise", "524288 B and more");
		return;
	case TB_COLL_BARRIER:
	case TB_COLL_GATHER:
	case TB_COLL_SCATTER:
	case TB_COLL_SCAN:
	case TB_COLL_EXSCAN:
	case TB_COLL_EXCHANGE:
	case TB_COLL_N:
		break;
	}
	choose_other(choice, shape);
}

// What Intel MPI chooses. The files by which it is tuned are not published; its manual
// gives limits (Intel MPI Library 5.1.3, Reference Manual for Linux, "I_MPI_MSG Family"):
// MPICH's, of which it is made, but for all-reduces, and for broadcasts of as many bytes
// as a limit has, which are above it. What it does by host or through
// shared memory (the topology-aware algorithms of I_MPI_ADJUST) has none.
void tb_choose_intelmpi(
	struct tb_algorithm_choice *choice, const struct tb_collective_shape *shape)
{
	static const char theirs[] = "MPICH 4.0, ";
	struct tb_algorithm_choice mpich = *choice;
	struct tb_collective_shape above = *shape;
	above.bytes += shape->op == TB_COLL_BROADCAST;
	tb_choose_mpich(&mpich, &above);
	*choice = mpich;
	const char *reason = mpich.reason + sizeof theirs - 1;
	if (shape->op == TB_COLL_ALLREDUCE && !has_few_elements(shape)) {
		bool is_short = shape->bytes <= 2048; // I_MPI_ALLREDUCE_MSG
		choice->algorithm = is_short ? "doubling" : "halving-doubling";
		reason = is_short ? "up to 2048 B" : "above 2048 B";
	}
	if (strncmp(reason, "up to ", 6) == 0 && shape->op == TB_COLL_BROADCAST)
		snprintf(choice->reason, sizeof choice->reason, "Intel MPI, below %.100s",
			reason + 6);
	else
		snprintf(choice->reason, sizeof choice->reason, "Intel MPI, %.100s",
			reason);
}

// What Open MPI chooses: the fixed decision rules of its component "tuned" in
// version 4.1.4, ompi/mca/coll/tuned/coll_tuned_decision_fixed.c, for operations that
// commute. Their limits were measured by its developers on their clusters.

#define ALL UINT32_MAX

// A row holds for calls of fewer members and bytes than these; the first that holds
// counts. The bytes are those of the vector, or of a member's block; of unequal blocks
// the mean, and of reduce-scatter the whole vector.
struct decision {
	uint32_t n_below, bytes_below;
	const char *algorithm;
};

static const struct decision barrier[] = {
	{4, ALL, "doubling"},
	{8, ALL, "linear"},
	{64, ALL, "doubling"},
	{256, ALL, "dissemination"},
	{512, ALL, "binomial"},
	{1024, ALL, "dissemination"},
	{4096, ALL, "binomial"},
	{ALL, ALL, "dissemination"},
};

static const struct decision broadcast[] = {
	{4, 32, "pipeline"},
	{4, 256, "binary"},
	{4, 512, "pipeline"},
	{4, 1024, "knomial"},
	{4, 32768, "linear"},
	{4, 131072, "binary"},
	{4, 262144, "chain"},
	{4, 524288, "linear"},
	{4, 1048576, "mirrored-binomial"},
	{4, ALL, "binary"},
	{8, 64, "binary"},
	{8, 128, "mirrored-binomial"},
	{8, 2048, "binary"},
	{8, 8192, "mirrored-binomial"},
	{8, 1048576, "linear"},
	{8, ALL, "chain"},
	{16, 8, "knomial"},
	{16, 64, "binary"},
	{16, 4096, "knomial"},
	{16, 16384, "binary"},
	{16, 32768, "mirrored-binomial"},
	{16, ALL, "linear"},
	{32, 4096, "knomial"},
	{32, 1048576, "mirrored-binomial"},
	{32, ALL, "scatter-doubling"},
	{64, 2048, "mirrored-binomial"},
	{64, ALL, "knomial"},
	{128, ALL, "knomial"},
	{256, 2, "mirrored-binomial"},
	{256, 16384, "binary"},
	{256, 32768, "linear"},
	{256, 65536, "binary"},
	{256, ALL, "knomial"},
	{1024, 16384, "knomial"},
	{1024, 32768, "split-binary"},
	{1024, ALL, "knomial"},
	{2048, 524288, "knomial"},
	{2048, ALL, "scatter-doubling"},
	{4096, 262144, "knomial"},
	{4096, ALL, "scatter-doubling"},
	{ALL, 8192, "knomial"},
	{ALL, 16384, "binary"},
	{ALL, 262144, "knomial"},
	{ALL, ALL, "scatter-doubling"},
};

static const struct decision gather[] = {
	{4, 2, "linear-sync"},
	{4, 4, "linear"},
	{4, 32768, "binomial"},
	{4, 65536, "linear"},
	{4, 131072, "binomial"},
	{4, ALL, "linear-sync"},
	{8, 1024, "binomial"},
	{8, 8192, "linear"},
	{8, 32768, "binomial"},
	{8, 262144, "linear"},
	{8, ALL, "linear-sync"},
	{256, ALL, "binomial"},
	{512, 2048, "binomial"},
	{512, 8192, "linear"},
	{512, ALL, "binomial"},
	{ALL, ALL, "binomial"},
};

static const struct decision scatter[] = {
	{4, 2, "linear"},
	{4, 131072, "linear"},
	{4, 262144, "linear"},
	{4, ALL, "linear"},
	{8, 2048, "binomial"},
	{8, 4096, "linear"},
	{8, 8192, "binomial"},
	{8, 32768, "linear"},
	{8, 1048576, "linear"},
	{8, ALL, "linear"},
	{16, 16384, "binomial"},
	{16, 1048576, "linear"},
	{16, ALL, "linear"},
	{32, 16384, "binomial"},
	{32, 32768, "linear"},
	{32, ALL, "linear"},
	{64, 512, "binomial"},
	{64, 8192, "linear"},
	{64, 16384, "binomial"},
	{64, ALL, "linear"},
	{ALL, 512, "binomial"},
	{ALL, ALL, "linear"},
};

static const struct decision allgather[] = {
	{3, ALL, "pair"},
	{32, ALL, "doubling"},
	{64, 1024, "doubling"},
	{64, 65536, "neighbor"},
	{64, ALL, "ring"},
	{128, 512, "doubling"},
	{128, 65536, "neighbor"},
	{128, ALL, "ring"},
	{256, 512, "doubling"},
	{256, 131072, "neighbor"},
	{256, 524288, "ring"},
	{256, 1048576, "neighbor"},
	{256, ALL, "ring"},
	{512, 32, "doubling"},
	{512, 128, "bruck"},
	{512, 1024, "doubling"},
	{512, 131072, "neighbor"},
	{512, 524288, "ring"},
	{512, 1048576, "neighbor"},
	{512, ALL, "ring"},
	{1024, 64, "doubling"},
	{1024, 256, "bruck"},
	{1024, 2048, "doubling"},
	{1024, ALL, "neighbor"},
	{2048, 4, "doubling"},
	{2048, 8, "bruck"},
	{2048, 16, "doubling"},
	{2048, 32, "bruck"},
	{2048, 256, "doubling"},
	{2048, 512, "bruck"},
	{2048, 4096, "doubling"},
	{2048, ALL, "neighbor"},
	{4096, 32, "bruck"},
	{4096, 128, "doubling"},
	{4096, 512, "bruck"},
	{4096, 4096, "doubling"},
	{4096, ALL, "neighbor"},
	{ALL, 2, "doubling"},
	{ALL, 8, "bruck"},
	{ALL, 16, "doubling"},
	{ALL, 512, "bruck"},
	{ALL, 4096, "doubling"},
	{ALL, ALL, "neighbor"},
};

static const struct decision allgatherv[] = {
	{3, 2048, "ring"},
	{3, 4096, "pair"},
	{3, 8192, "ring"},
	{3, ALL, "pair"},
	{8, 256, "gather-broadcast"},
	{8, 4096, "neighbor"},
	{8, 8192, "ring"},
	{8, 16384, "neighbor"},
	{8, 262144, "bruck"},
	{8, ALL, "neighbor"},
	{16, 1024, "gather-broadcast"},
	{16, ALL, "bruck"},
	{32, 128, "gather-broadcast"},
	{32, 262144, "bruck"},
	{32, ALL, "ring"},
	{64, 256, "gather-broadcast"},
	{64, 8192, "bruck"},
	{64, ALL, "ring"},
	{128, 256, "gather-broadcast"},
	{128, 4096, "bruck"},
	{128, ALL, "ring"},
	{256, 1024, "bruck"},
	{256, 65536, "neighbor"},
	{256, ALL, "ring"},
	{512, 1024, "bruck"},
	{512, ALL, "ring"},
	{1024, 512, "bruck"},
	{1024, 1024, "gather-broadcast"},
	{1024, 4096, "bruck"},
	{1024, 1048576, "neighbor"},
	{1024, ALL, "ring"},
	{ALL, 4096, "bruck"},
	{ALL, ALL, "neighbor"},
};

static const struct decision alltoall[] = {
	{3, 2, "shift"},
	{3, 4, "pair"},
	{3, 16, "shift"},
	{3, 64, "pair"},
	{3, 256, "shift"},
	{3, 4096, "pair"},
	{3, 32768, "shift"},
	{3, 262144, "linear-sync"},
	{3, 1048576, "pair"},
	{3, ALL, "shift"},
	{8, 8192, "linear-sync"},
	{8, 16384, "linear"},
	{8, 65536, "linear-sync"},
	{8, 524288, "linear"},
	{8, 1048576, "shift"},
	{8, ALL, "linear"},
	{16, 262144, "linear-sync"},
	{16, ALL, "linear"},
	{32, 4, "linear-sync"},
	{32, 512, "bruck"},
	{32, 8192, "linear-sync"},
	{32, 32768, "linear"},
	{32, 262144, "linear-sync"},
	{32, 524288, "linear"},
	{32, ALL, "linear-sync"},
	{64, 512, "bruck"},
	{64, 524288, "linear"},
	{64, ALL, "linear-sync"},
	{128, 1024, "bruck"},
	{128, 2048, "linear"},
	{128, 4096, "linear-sync"},
	{128, 262144, "linear"},
	{128, ALL, "shift"},
	{256, 1024, "bruck"},
	{256, 2048, "linear-sync"},
	{256, 262144, "linear"},
	{256, ALL, "shift"},
	{512, 1024, "bruck"},
	{512, 8192, "linear-sync"},
	{512, 32768, "linear"},
	{512, ALL, "shift"},
	{1024, 512, "bruck"},
	{1024, 8192, "linear-sync"},
	{1024, 16384, "linear"},
	{1024, 131072, "linear-sync"},
	{1024, 262144, "linear"},
	{1024, ALL, "shift"},
	{2048, 512, "bruck"},
	{2048, 1024, "linear-sync"},
	{2048, 2048, "linear"},
	{2048, 16384, "linear-sync"},
	{2048, 262144, "linear"},
	{2048, ALL, "linear-sync"},
	{4096, 1024, "bruck"},
	{4096, 4096, "linear-sync"},
	{4096, 8192, "linear"},
	{4096, 131072, "linear-sync"},
	{4096, ALL, "linear"},
	{ALL, 2048, "bruck"},
	{ALL, 8192, "linear-sync"},
	{ALL, 16384, "linear"},
	{ALL, 32768, "linear-sync"},
	{ALL, 65536, "linear"},
	{ALL, ALL, "linear-sync"},
};

static const struct decision alltoallv[] = {
	{4, ALL, "shift"},
	{64, ALL, "linear"},
	{128, ALL, "shift"},
	{256, ALL, "linear"},
	{1024, ALL, "shift"},
	{ALL, ALL, "linear"},
};

static const struct decision reduce[] = {
	{4, 8, "rabenseifner"},
	{4, 16, "binary"},
	{4, 32, "pipeline"},
	{4, 262144, "linear"},
	{4, 524288, "pipeline"},
	{4, 1048576, "chain"},
	{4, ALL, "pipeline"},
	{8, 4096, "binary"},
	{8, 65536, "chain"},
	{8, 262144, "binomial"},
	{8, 524288, "linear"},
	{8, 1048576, "binomial"},
	{8, ALL, "linear"},
	{16, 8192, "binary"},
	{16, ALL, "binomial"},
	{32, 4096, "binary"},
	{32, ALL, "binomial"},
	{256, ALL, "binomial"},
	{512, 8192, "binomial"},
	{512, 16384, "in-order-binary"},
	{512, ALL, "binomial"},
	{2048, ALL, "binomial"},
	{4096, 512, "binomial"},
	{4096, 1024, "in-order-binary"},
	{4096, 8192, "binomial"},
	{4096, 16384, "in-order-binary"},
	{4096, ALL, "binomial"},
	{ALL, 16, "binomial"},
	{ALL, 32, "in-order-binary"},
	{ALL, 1024, "binomial"},
	{ALL, 2048, "in-order-binary"},
	{ALL, 8192, "binomial"},
	{ALL, 16384, "in-order-binary"},
	{ALL, ALL, "binomial"},
};

static const struct decision allreduce[] = {
	{4, 8, "ring"},
	{4, 4096, "doubling"},
	{4, 8192, "ring"},
	{4, 16384, "doubling"},
	{4, 65536, "ring"},
	{4, 262144, "segmented-ring"},
	{4, ALL, "rabenseifner"},
	{8, 16, "ring"},
	{8, 8192, "doubling"},
	{8, ALL, "rabenseifner"},
	{16, 8192, "doubling"},
	{16, ALL, "rabenseifner"},
	{32, 64, "segmented-ring"},
	{32, 4096, "doubling"},
	{32, ALL, "rabenseifner"},
	{64, 128, "segmented-ring"},
	{64, ALL, "rabenseifner"},
	{128, 262144, "doubling"},
	{128, ALL, "rabenseifner"},
	{256, 131072, "reduce-broadcast"},
	{256, 262144, "doubling"},
	{256, ALL, "rabenseifner"},
	{512, 4096, "reduce-broadcast"},
	{512, ALL, "rabenseifner"},
	{2048, 2048, "reduce-broadcast"},
	{2048, 16384, "doubling"},
	{2048, ALL, "rabenseifner"},
	{4096, 2048, "reduce-broadcast"},
	{4096, 4096, "segmented-ring"},
	{4096, 16384, "doubling"},
	{4096, ALL, "rabenseifner"},
	{ALL, 2048, "reduce-broadcast"},
	{ALL, 16384, "segmented-ring"},
	{ALL, 32768, "doubling"},
	{ALL, ALL, "rabenseifner"},
};

static const struct decision reduce_scatter[] = {
	{4, 65536, "ring"},
	{4, 131072, "butterfly"},
	{4, ALL, "ring"},
	{8, 8, "reduce-scatter"},
	{8, 262144, "halving"},
	{8, ALL, "ring"},
	{32, 262144, "halving"},
	{32, ALL, "ring"},
	{64, 64, "reduce-scatter"},
	{64, 2048, "halving"},
	{64, 524288, "butterfly"},
	{64, ALL, "ring"},
	{128, 256, "reduce-scatter"},
	{128, 512, "halving"},
	{128, 2048, "butterfly"},
	{128, 4096, "halving"},
	{128, ALL, "butterfly"},
	{256, 256, "reduce-scatter"},
	{256, 512, "halving"},
	{256, ALL, "butterfly"},
	{512, 256, "reduce-scatter"},
	{512, 1024, "halving"},
	{512, ALL, "butterfly"},
	{1024, 512, "reduce-scatter"},
	{1024, 2048, "halving"},
	{1024, 8192, "butterfly"},
	{1024, 16384, "halving"},
	{1024, ALL, "butterfly"},
	{2048, 512, "reduce-scatter"},
	{2048, 4096, "halving"},
	{2048, 16384, "butterfly"},
	{2048, 32768, "halving"},
	{2048, ALL, "butterfly"},
	{4096, 512, "reduce-scatter"},
	{4096, 4096, "halving"},
	{4096, ALL, "butterfly"},
	{ALL, 1024, "reduce-scatter"},
	{ALL, 8192, "halving"},
	{ALL, ALL, "butterfly"},
};

// A table by operation; the second for blocks of unequal size.
static const struct decision *const tables[TB_COLL_N][2] = {
	[TB_COLL_BARRIER] = {barrier, barrier},
	[TB_COLL_BROADCAST] = {broadcast, broadcast},
	[TB_COLL_GATHER] = {gather, NULL},
	[TB_COLL_SCATTER] = {scatter, NULL},
	[TB_COLL_ALLGATHER] = {allgather, allgatherv},
	[TB_COLL_ALLTOALL] = {alltoall, alltoallv},
	[TB_COLL_REDUCE] = {reduce, reduce},
	[TB_COLL_ALLREDUCE] = {allreduce, allreduce},
	[TB_COLL_REDUCE_SCATTER] = {reduce_scatter, reduce_scatter},
};

// Algorithms that cannot serve the call hand it over to another one, which may do so,
// too.
static void openmpi_hand_over(
	struct tb_algorithm_choice *choice, const struct tb_collective_shape *shape)
{
	uint32_t n = shape->n;
	bool few = has_few_elements(shape);
	bool fewest = shape->bytes / tb_element_bytes(shape->bytes) < n;
	const struct {
		enum tb_collective_op op;
		const char *algorithm;
		bool cannot;
		const char *by, *why;
	} rows[] = {
		{TB_COLL_ALLREDUCE, "segmented-ring", true, "ring",
			"segmented ring without segments"},
		{TB_COLL_ALLREDUCE, "ring", fewest, "doubling",
			"fewer elements than members"},
		{TB_COLL_ALLREDUCE, "rabenseifner", few, "linear",
			"fewer elements than members"},
		{TB_COLL_REDUCE, "rabenseifner", few, "linear",
			"fewer elements than members"},
		{TB_COLL_ALLGATHER, "doubling", !is_power_of_two(n), "bruck",
			"doubling, but no power of two of members"},
		{TB_COLL_ALLGATHER, "neighbor", n % 2, "ring",
			"neighbor exchange, but an odd number of members"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].op != shape->op || !rows[i].cannot ||
			strcmp(choice->algorithm, rows[i].algorithm) != 0)
			continue;
		choice->algorithm = rows[i].by;
		snprintf(choice->reason, sizeof choice->reason, "Open MPI 4.1, %s",
			rows[i].why);
	}
}

void tb_choose_openmpi(
	struct tb_algorithm_choice *choice, const struct tb_collective_shape *shape)
{
	const struct decision *row = tables[shape->op][shape->unequal], *before = NULL;
	choice->algorithm = "linear";
	if (!row) { // gatherv, scatterv, scan, exscan, exchange
		snprintf(choice->reason, sizeof choice->reason, "Open MPI 4.1%s",
			shape->unequal ? ", blocks of unequal size" : "");
		return;
	}
	for (; !((row->n_below == ALL || shape->n < row->n_below) &&
		     (row->bytes_below == ALL || shape->bytes < row->bytes_below));
		row++)
		before = row;
	choice->algorithm = row->algorithm;
	size_t size = sizeof choice->reason;
	char *at = choice->reason;
	int n = snprintf(at, size, "Open MPI 4.1");
	if (row->n_below != ALL)
		n += snprintf(at + n, size - (size_t)n,
			", fewer than %" PRIu32 " members", row->n_below);
	if (before && before->n_below == row->n_below && before->bytes_below != ALL)
		n += snprintf(at + n, size - (size_t)n, ", %" PRIu32 " B and more",
			before->bytes_below);
	if (row->bytes_below != ALL)
		snprintf(at + n, size - (size_t)n, ", below %" PRIu32 " B",
			row->bytes_below);
	openmpi_hand_over(choice, shape);
}

// What Open MPI chose up to version 4.0: the same file, of 4.0.5, whose limits are those
// of a Myrinet cluster of 2007 ("Grig").
static void old_choose(
	struct tb_algorithm_choice *choice, const char *algorithm, uint64_t segment_bytes)
{
	choice->algorithm = algorithm;
	choice->segment_bytes = segment_bytes;
	snprintf(choice->reason, sizeof choice->reason,
		segment_bytes ? "Open MPI 4.0, segments of %" PRIu64 " B"
			      : "Open MPI 4.0",
		segment_bytes);
}

static void old_broadcast(
	struct tb_algorithm_choice *choice, const struct tb_collective_shape *shape)
{
	double bytes = (double)shape->bytes, n = shape->n;
	if (shape->bytes < 2048)
		old_choose(choice, "mirrored-binomial", 0);
	else if (shape->bytes < 370728)
		old_choose(choice, "split-binary", 1024);
	else if (n < 1.6134e-6 * bytes + 2.1102)
		old_choose(choice, "pipeline", 131072);
	else if (shape->n < 13)
		old_choose(choice, "split-binary", 8192);
	else if (n < 2.3679e-6 * bytes + 1.1787)
		old_choose(choice, "pipeline", 65536);
	else if (n < 3.2118e-6 * bytes + 8.7936)
		old_choose(choice, "pipeline", 16384);
	else
		old_choose(choice, "pipeline", 8192);
}

static void old_reduce(
	struct tb_algorithm_choice *choice, const struct tb_collective_shape *shape)
{
	double kib = (double)shape->bytes / 1024, n = shape->n;
	if (shape->n < 8 && shape->bytes < 512)
		old_choose(choice, "linear", 0);
	else if (shape->bytes < (shape->n < 8 ? 20480 : 2048))
		old_choose(choice, "binomial", 0);
	else if (n > 0.6016 * kib + 1.3496)
		old_choose(choice, "binomial", 1024);
	else if (n > 0.0410 * kib + 9.7128)
		old_choose(choice, "pipeline", 1024);
	else if (n > 0.0422 * kib + 1.1614)
		old_choose(choice, "binary", 32768);
	else
		old_choose(choice, "pipeline", n > 0.0033 * kib + 1.6761 ? 32768 : 65536);
}

// old_whole returns the algorithm of an operation that is never cut into segments.
static const char *old_whole(const struct tb_collective_shape *shape)
{
	uint64_t bytes = shape->bytes, n = shape->n;
	bool is_power = is_power_of_two(shape->n), alike = !shape->unequal;
	switch (shape->op) {
	case TB_COLL_ALLREDUCE:
		if (bytes < 10000)
			return "doubling";
		// Beyond a MiB per member in segments of one, which change nothing.
		return bytes / tb_element_bytes(bytes) > n ? "ring" : "reduce-broadcast";
	case TB_COLL_ALLTOALL:
		if (alike && n == 2)
			return "pair";
		if (alike && bytes < 200 && n > 12)
			return "bruck";
		return alike && bytes < 3000 ? "linear" : "shift";
	case TB_COLL_BARRIER:
		return is_power ? "doubling" : "dissemination";
	case TB_COLL_ALLGATHER:
		if (n == 2)
			return "pair";
		if (bytes * n >= 50000)
			return n % 2 ? "ring" : "neighbor";
		return is_power && alike ? "doubling" : "bruck";
	case TB_COLL_REDUCE_SCATTER:
		return bytes <= 12288 || (bytes <= 262144 && is_power) ||
				       shape->n >= 0.0012 * (double)bytes + 8
			       ? "halving"
			       : "ring";
	case TB_COLL_GATHER:
		if (alike && bytes > 6000)
			return "linear-sync";
		return alike && (n > 60 || (n > 10 && bytes < 1024)) ? "binomial"
								     : "linear";
	case TB_COLL_SCATTER:
		return alike && n > 10 && bytes < 300 ? "binomial" : "linear";
	case TB_COLL_BROADCAST:
	case TB_COLL_REDUCE:
	case TB_COLL_SCAN:
	case TB_COLL_EXSCAN:
	case TB_COLL_EXCHANGE:
	case TB_COLL_N:
		break;
	}
	return "linear";
}

void tb_choose_openmpi40(
	struct tb_algorithm_choice *choice, const struct tb_collective_shape *shape)
{
	if (shape->op == TB_COLL_BROADCAST)
		old_broadcast(choice, shape);
	else if (shape->op == TB_COLL_REDUCE)
		old_reduce(choice, shape);
	else
		old_choose(choice, old_whole(shape), 0);
}
