// The stack machine. Each value on the stack is one JSON value, with how deep it is. A
// container that is still being filled is `open`: only the place on the stack may fill
// it, and what the memo gives out of it is a copy, so no value can come to lie within
// itself.
#include "pickle.h"

#include "array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PICKLE_DEPTH_MAX  128
#define PICKLE_MEMO_MAX	  (UINT32_C(1) << 26)
#define PICKLE_COPY_TIMES 16

struct pickle_value {
	json_t *json; // NULL: a mark
	uint32_t depth;
	bool open;
};

struct pickle_machine {
	struct tb_bytes bytes;
	size_t at, from; // `from`: the instruction that is being carried out
	struct pickle_value *stack, *memo;
	size_t n, room, n_memo, memo_room;
	uint64_t budget; // values that may still be copied
	const char *file;
	struct tb_error *error;
};

static int pickle_refuse(struct pickle_machine *machine, const char *sentence)
{
	return tb_fail_at(machine->error, TB_EFORMAT, machine->file, TB_PLACE_OFFSET,
		machine->from, "%s", sentence);
}

static int pickle_no_memory(struct pickle_machine *machine)
{
	return tb_fail_memory_in(machine->error, machine->file, "its values");
}

// pickle_push takes over the value; NULL means that memory ended.
static int pickle_push(
	struct pickle_machine *machine, json_t *json, uint32_t depth, bool open)
{
	if (!json || TB_ARRAY_NEXT(machine, stack) != TB_OK) {
		json_decref(json);
		return pickle_no_memory(machine);
	}
	if (depth > PICKLE_DEPTH_MAX) {
		json_decref(json);
		return pickle_refuse(machine, "values lie within more than 128 others");
	}
	machine->stack[machine->n++] = (struct pickle_value){json, depth, open};
	return TB_OK;
}

// pickle_number reads `n` bytes, lowest first.
static bool pickle_number(struct pickle_machine *machine, size_t n, uint64_t *number)
{
	*number = 0;
	if (!tb_bytes_have(machine->bytes, machine->at, n))
		return false;
	for (size_t i = 0; i < n && i < 8; i++)
		*number |= (uint64_t)machine->bytes.data[machine->at + i] << 8 * i;
	machine->at += n;
	return true;
}

static int pickle_cut(struct pickle_machine *machine)
{
	return pickle_refuse(machine, "the pickle ends within a value");
}

// pickle_text pushes the next `n` bytes as a text.
static int pickle_text(struct pickle_machine *machine, uint64_t n)
{
	const char *text = (const char *)machine->bytes.data + machine->at;
	if (n > machine->bytes.n || !tb_bytes_have(machine->bytes, machine->at, n))
		return pickle_cut(machine);
	machine->at += n;
	// What is not UTF-8 (bytes, lone surrogates) is of no use here.
	json_t *json = json_stringn(text, n);
	return pickle_push(machine, json ? json : json_string(""), 0, false);
}

// pickle_line stores the next line, without its end.
static bool pickle_line(struct pickle_machine *machine, const char **line, size_t *n)
{
	const uint8_t *begin = machine->bytes.data + machine->at;
	const uint8_t *end = memchr(begin, '\n', machine->bytes.n - machine->at);
	if (!end)
		return false;
	*line = (const char *)begin;
	*n = (size_t)(end - begin);
	machine->at += *n + 1;
	return true;
}

// pickle_digits pushes the number in a line ("12", "12L", or "I01" for true).
static int pickle_digits(struct pickle_machine *machine, bool real)
{
	const char *line;
	size_t n;
	char copy[64], *end;
	if (!pickle_line(machine, &line, &n))
		return pickle_cut(machine);
	if (n == 0 || n >= sizeof copy)
		return pickle_refuse(machine, "expected a number");
	memcpy(copy, line, n);
	copy[n] = '\0';
	double value = strtod(copy, &end);
	if (end == copy || (*end && strcmp(end, "L") != 0))
		return pickle_refuse(machine, "expected a number");
	json_t *json =
		real || !(value > -9e18 && value < 9e18)
			? json_real(value == value && value - value == 0 ? value : 0)
			: json_integer(strtoll(copy, NULL, 10));
	return pickle_push(machine, json, 0, false);
}

// pickle_mark finds the last mark.
static bool pickle_mark(const struct pickle_machine *machine, size_t *mark)
{
	for (size_t i = machine->n; i-- > 0;)
		if (!machine->stack[i].json) {
			*mark = i;
			return true;
		}
	return false;
}

static bool has_values(const struct pickle_machine *machine, size_t n)
{
	if (machine->n < n)
		return false;
	for (size_t i = machine->n - n; i < machine->n; i++)
		if (!machine->stack[i].json)
			return false;
	return true;
}

static void pickle_drop(struct pickle_machine *machine, size_t to)
{
	while (machine->n > to)
		json_decref(machine->stack[--machine->n].json);
}

// pickle_fill moves the values from `from` on into the list or dictionary at `into`,
// below them on the stack.
static int pickle_fill(struct pickle_machine *machine, size_t into, size_t from)
{
	struct pickle_value *to = &machine->stack[into];
	bool is_list = json_is_array(to->json), is_dictionary = json_is_object(to->json);
	if (!to->open || (!is_list && !is_dictionary) ||
		(is_dictionary && (machine->n - from) % 2))
		return pickle_refuse(machine, "expected a list or dictionary to fill");
	for (size_t i = from; i < machine->n; i += is_list ? 1 : 2) {
		struct pickle_value *value = &machine->stack[i + is_dictionary];
		const json_t *key = machine->stack[i].json;
		char number[32];
		const char *name = json_string_value(key);
		if (is_dictionary && json_is_integer(key)) {
			snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT,
				json_integer_value(key));
			name = number;
		} else if (is_dictionary && json_is_array(key)) {
			name = json_string_value(json_array_get(key, 0));
		}
		if (value->depth + 1 > to->depth)
			to->depth = value->depth + 1;
		int failed = is_list ? json_array_append(to->json, value->json)
			     : name ? json_object_set_nocheck(to->json, name, value->json)
				    : 0;
		if (failed)
			return pickle_no_memory(machine);
	}
	if (to->depth > PICKLE_DEPTH_MAX)
		return pickle_refuse(machine, "values lie within more than 128 others");
	pickle_drop(machine, from);
	return TB_OK;
}

// pickle_tuple makes a list of the values from `from` on; `drop` is the place of the mark
// below them. Nothing is added to it later.
static int pickle_tuple(
	struct pickle_machine *machine, size_t from, size_t drop, bool open)
{
	json_t *list = json_array();
	uint32_t depth = 0;
	for (size_t i = from; list && i < machine->n; i++) {
		if (json_array_append(list, machine->stack[i].json) != 0) {
			json_decref(list);
			list = NULL;
		}
		if (machine->stack[i].depth > depth)
			depth = machine->stack[i].depth;
	}
	pickle_drop(machine, drop);
	return pickle_push(machine, list, depth + 1, open);
}

static int pickle_put(struct pickle_machine *machine, uint64_t place)
{
	if (!has_values(machine, 1) || place > PICKLE_MEMO_MAX ||
		place > machine->bytes.n)
		return pickle_refuse(machine, "expected a value to remember");
	if (place >= machine->n_memo) {
		if (TB_ARRAY_RESERVE_ZEROED(
			    &machine->memo, &machine->memo_room, place + 1) != TB_OK)
			return pickle_no_memory(machine);
		machine->n_memo = place + 1;
	}
	json_decref(machine->memo[place].json);
	machine->memo[place] = machine->stack[machine->n - 1];
	json_incref(machine->memo[place].json);
	return TB_OK;
}

// pickle_depth finds how deeply a value is nested. It costs as much as there is within
// the value; `budget` is what may still be spent, and it returns false when that is used
// up.
static bool pickle_depth(json_t *json, uint32_t *depth, uint64_t *budget)
{
	uint32_t below, deepest = 0;
	json_t *value;
	const char *key;
	size_t i;
	if (*budget == 0)
		return false;
	--*budget;
	json_array_foreach(json, i, value)
	{
		if (!pickle_depth(value, &below, budget))
			return false;
		deepest = below > deepest ? below : deepest;
	}
	json_object_foreach(json, key, value)
	{
		if (!pickle_depth(value, &below, budget))
			return false;
		deepest = below > deepest ? below : deepest;
	}
	*depth = deepest + 1;
	return true;
}

static int pickle_get(struct pickle_machine *machine, uint64_t place)
{
	uint32_t depth;
	if (place >= machine->n_memo || !machine->memo[place].json)
		return pickle_refuse(machine, "expected a value that was remembered");
	const struct pickle_value *value = &machine->memo[place];
	if (!value->open)
		return pickle_push(
			machine, json_incref(value->json), value->depth, false);
	// A list or dictionary may be filled later than it is remembered: copy what it
	// has.
	return pickle_depth(value->json, &depth, &machine->budget)
		       ? pickle_push(machine, json_copy(value->json), depth, false)
		       : pickle_refuse(machine, "too much of it is stored twice");
}

// pickle_step carries out the instruction `op`; `*ends` is set at the last.
static int pickle_step(struct pickle_machine *machine, uint8_t op, bool *ends)
{
	uint64_t number;
	size_t mark = 0, n;
	const char *line;
	switch (op) {
	case '.': // STOP
		*ends = true;
		return has_values(machine, 1)
			       ? TB_OK
			       : pickle_refuse(machine, "the pickle has no value");
	case 0x80: // PROTO
		return pickle_number(machine, 1, &number) ? TB_OK : pickle_cut(machine);
	case 0x95: // FRAME
		return pickle_number(machine, 8, &number) ? TB_OK : pickle_cut(machine);
	case '(': // MARK
		if (TB_ARRAY_NEXT(machine, stack) != TB_OK)
			return pickle_no_memory(machine);
		machine->stack[machine->n++] = (struct pickle_value){NULL, 0, false};
		return TB_OK;
	case 'N':
		return pickle_push(machine, json_null(), 0, false);
	case 0x88:
		return pickle_push(machine, json_true(), 0, false);
	case 0x89:
		return pickle_push(machine, json_false(), 0, false);
	case 'J': // BININT, BININT1, BININT2
		return pickle_number(machine, 4, &number)
			       ? pickle_push(machine,
					 json_integer((int32_t)(uint32_t)number), 0,
					 false)
			       : pickle_cut(machine);
	case 'K':
	case 'M':
		return pickle_number(machine, op == 'K' ? 1 : 2, &number)
			       ? pickle_push(machine, json_integer((json_int_t)number), 0,
					 false)
			       : pickle_cut(machine);
	case 0x8a: { // LONG1: a number of up to 8 bytes, with a sign
		uint64_t size;
		if (!pickle_number(machine, 1, &size) ||
			!pickle_number(machine, size, &number))
			return pickle_cut(machine);
		if (size > 8) // an id: no figure of a recorder is as large
			return pickle_push(machine, json_integer(INT64_MAX), 0, false);
		if (size > 0 && size < 8 && number >> (8 * size - 1))
			number |= UINT64_MAX << 8 * size;
		return pickle_push(machine, json_integer((int64_t)number), 0, false);
	}
	case 'I':
	case 'L':
		return pickle_digits(machine, false);
	case 'F':
		return pickle_digits(machine, true);
	case 'G': { // BINFLOAT, the highest byte first
		double real;
		if (!tb_bytes_u64(machine->bytes, machine->at, &number))
			return pickle_cut(machine);
		machine->at += 8;
		memcpy(&real, &number, sizeof real);
		return pickle_push(
			machine, json_real(real - real == 0 ? real : 0), 0, false);
	}
	case 'X': // BINUNICODE
	case 'T': // BINSTRING
	case 'B': // BINBYTES
		return pickle_number(machine, 4, &number) ? pickle_text(machine, number)
							  : pickle_cut(machine);
	case 0x8c: // SHORT_BINUNICODE
	case 'U':  // SHORT_BINSTRING
	case 'C':  // SHORT_BINBYTES
		return pickle_number(machine, 1, &number) ? pickle_text(machine, number)
							  : pickle_cut(machine);
	case 0x8d: // BINUNICODE8
	case 0x8e: // BINBYTES8
		return pickle_number(machine, 8, &number) ? pickle_text(machine, number)
							  : pickle_cut(machine);
	case '}':
		return pickle_push(machine, json_object(), 1, true);
	case ']':
	case 0x8f: // EMPTY_SET
		return pickle_push(machine, json_array(), 1, true);
	case ')':
		return pickle_push(machine, json_array(), 1, false);
	case 0x85: // TUPLE1 to TUPLE3
	case 0x86:
	case 0x87:
		n = (size_t)(op - 0x84);
		return has_values(machine, n)
			       ? pickle_tuple(
					 machine, machine->n - n, machine->n - n, false)
			       : pickle_refuse(machine, "expected values for a tuple");
	case 't': // TUPLE, LIST
	case 'l':
		return pickle_mark(machine, &mark)
			       ? pickle_tuple(machine, mark + 1, mark, op == 'l')
			       : pickle_refuse(machine, "expected a mark");
	case 'a': // APPEND
	case 's': // SETITEM
		n = op == 'a' ? 1 : 2;
		return has_values(machine, n + 1)
			       ? pickle_fill(machine, machine->n - n - 1, machine->n - n)
			       : pickle_refuse(machine, "expected a list to fill");
	case 'e':  // APPENDS
	case 'u':  // SETITEMS
	case 0x90: // ADDITEMS
	{
		bool fits = pickle_mark(machine, &mark) && mark > 0 &&
			    machine->stack[mark - 1].json;
		int status = fits ? pickle_fill(machine, mark - 1, mark + 1)
				  : pickle_refuse(machine, "expected a list to fill");
		if (status == TB_OK)
			machine->n = mark;
		return status;
	}
	case 'q': // BINPUT, LONG_BINPUT, MEMOIZE
	case 'r':
		return pickle_number(machine, op == 'q' ? 1 : 4, &number)
			       ? pickle_put(machine, number)
			       : pickle_cut(machine);
	case 0x94:
		return pickle_put(machine, machine->n_memo);
	case 'h': // BINGET, LONG_BINGET
	case 'j':
		return pickle_number(machine, op == 'h' ? 1 : 4, &number)
			       ? pickle_get(machine, number)
			       : pickle_cut(machine);
	case 'c': // GLOBAL: what it names is not looked up
		return pickle_line(machine, &line, &n) && pickle_line(machine, &line, &n)
			       ? pickle_push(machine, json_null(), 0, false)
			       : pickle_cut(machine);
	case 0x93: // STACK_GLOBAL
		if (!has_values(machine, 2))
			return pickle_refuse(machine, "expected two names");
		pickle_drop(machine, machine->n - 2);
		return pickle_push(machine, json_null(), 0, false);
	case 'R': // REDUCE: the first argument stands for the result
		if (!has_values(machine, 2) ||
			!json_is_array(machine->stack[machine->n - 1].json))
			return pickle_refuse(machine, "expected arguments");
		{
			struct pickle_value arguments = machine->stack[machine->n - 1];
			json_t *first = json_array_get(arguments.json, 0);
			first = first ? json_incref(first) : json_object();
			// OrderedDict() and defaultdict(list) are filled afterwards.
			bool is_new = json_array_size(arguments.json) == 0 ||
				      json_is_null(first);
			if (json_is_null(first)) {
				json_decref(first);
				first = json_object();
			}
			pickle_drop(machine, machine->n - 2);
			return pickle_push(
				machine, first, is_new ? 1 : arguments.depth, is_new);
		}
	case '0': // POP
		if (machine->n == 0)
			return pickle_refuse(machine, "expected a value");
		pickle_drop(machine, machine->n - 1);
		return TB_OK;
	default:
		return pickle_refuse(machine,
			"has a value that is neither number, text, list nor dictionary: "
			"save it as JSON (json.dump(pickle.load(file), out))");
	}
}

bool tb_pickle_begins(struct tb_bytes bytes)
{
	return bytes.n > 2 && bytes.data[0] == 0x80 && bytes.data[1] >= 2 &&
	       bytes.data[1] <= 5;
}

int tb_pickle_read(
	json_t **value, struct tb_bytes bytes, const char *file, struct tb_error *error)
{
	struct pickle_machine machine = {.bytes = bytes,
		.budget = PICKLE_COPY_TIMES * bytes.n,
		.file = file,
		.error = error};
	int status = TB_OK;
	bool ends = false;
	while (status == TB_OK && !ends) {
		uint8_t op;
		machine.from = machine.at;
		status = tb_bytes_u8(bytes, machine.at++, &op)
				 ? pickle_step(&machine, op, &ends)
				 : pickle_refuse(&machine, "the pickle has no end");
	}
	if (status == TB_OK)
		*value = json_incref(machine.stack[machine.n - 1].json);
	pickle_drop(&machine, 0);
	for (size_t i = 0; i < machine.n_memo; i++)
		json_decref(machine.memo[i].json);
	free(machine.stack);
	free(machine.memo);
	return status;
}
