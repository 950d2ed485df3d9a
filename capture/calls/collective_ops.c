#include "collective_ops.h"

#include <ctype.h>
#include <string.h>

const struct tb_collective tb_collectives[TB_COLL_N] = {
	[TB_COLL_BARRIER] = {"barrier", "nobody goes on before all have arrived",
		TB_SIZE_NONE, false, false},
	[TB_COLL_BROADCAST] = {"broadcast", "everybody ends with what the root has",
		TB_SIZE_WHOLE, true, false},
	[TB_COLL_GATHER] = {"gather", "the root receives everybody's block",
		TB_SIZE_BLOCK, true, false},
	[TB_COLL_SCATTER] = {"scatter", "the root sends each its block", TB_SIZE_BLOCK,
		true, false},
	[TB_COLL_ALLGATHER] = {"allgather", "everybody ends with everybody's block",
		TB_SIZE_BLOCK, false, false},
	[TB_COLL_ALLTOALL] = {"alltoall", "each sends a block to each other",
		TB_SIZE_BLOCK, false, false},
	[TB_COLL_REDUCE] = {"reduce", "the root ends with the sum of all", TB_SIZE_WHOLE,
		true, true},
	[TB_COLL_ALLREDUCE] = {"allreduce", "everybody ends with the sum of all",
		TB_SIZE_WHOLE, false, true},
	[TB_COLL_REDUCE_SCATTER] = {"reduce-scatter",
		"each ends with its part of the sum of all", TB_SIZE_WHOLE, false, true},
	[TB_COLL_SCAN] = {"scan", "each ends with the sum of those up to itself",
		TB_SIZE_WHOLE, false, true},
	[TB_COLL_EXSCAN] = {"exscan", "each ends with the sum of those before it",
		TB_SIZE_WHOLE, false, true},
	[TB_COLL_EXCHANGE] = {"exchange", "each sends to whom it wants", TB_SIZE_EACH,
		false, false},
};

const char *tb_collective_op_name(enum tb_collective_op op)
{
	return tb_collectives[op].name;
}

bool tb_collective_op_find(enum tb_collective_op *op, const char *name)
{
	for (int i = 0; i < TB_COLL_N; i++) {
		if (strcmp(tb_collectives[i].name, name) != 0)
			continue;
		*op = (enum tb_collective_op)i;
		return true;
	}
	return false;
}

// name_has_word returns whether a text contains a word, ignoring case and underscores
// within it.
static bool name_has_word(const char *text, size_t n, const char *word)
{
	for (size_t from = 0; from < n; from++) {
		const char *next = word;
		for (size_t i = from; i < n && *next; i++) {
			if (tolower((unsigned char)text[i]) == *next)
				next++;
			else if (text[i] != '_' || next == word)
				break;
		}
		if (*next == 0)
			return true;
	}
	return false;
}

bool tb_collective_op_in(enum tb_collective_op *op, const char *text, size_t n)
{
	// Words with others in them come first.
	static const struct {
		const char *word;
		enum tb_collective_op op;
	} words[] = {
		{"allreduce", TB_COLL_ALLREDUCE},
		{"reducescatter", TB_COLL_REDUCE_SCATTER},
		{"allgather", TB_COLL_ALLGATHER},
		{"alltoall", TB_COLL_ALLTOALL},
		{"broadcast", TB_COLL_BROADCAST},
		{"barrier", TB_COLL_BARRIER},
		{"reduce", TB_COLL_REDUCE},
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		*op = words[i].op;
		if (name_has_word(text, n, words[i].word))
			return true;
	}
	return false;
}

bool tb_collective_op_has_root(enum tb_collective_op op)
{
	return tb_collectives[op].rooted;
}

double tb_bus_share(enum tb_collective_op op, uint32_t n)
{
	double others = n > 0 ? (double)(n - 1) / n : 0;
	switch (op) {
	case TB_COLL_ALLREDUCE:
		return 2 * others;
	case TB_COLL_ALLGATHER:
	case TB_COLL_REDUCE_SCATTER:
	case TB_COLL_ALLTOALL:
	case TB_COLL_GATHER:
	case TB_COLL_SCATTER:
		return others;
	case TB_COLL_BARRIER:
	case TB_COLL_BROADCAST:
	case TB_COLL_REDUCE:
	case TB_COLL_SCAN:
	case TB_COLL_EXSCAN:
	case TB_COLL_EXCHANGE:
	case TB_COLL_N:
		break;
	}
	return 1;
}
