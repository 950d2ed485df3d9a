// The parameters of a network one by one: what a store keeps of a network and what
// reports list, with no need to know which switching it has.
//
// A parameter goes by its key in presets, which is the word that `-n NETWORK,key=value`
// takes. A network has the keys of all networks, those of its switching, and those of its
// hosts' library where hosts do anything. Its name and its switching are not among them:
// they say which network it is and what the keys are.
#ifndef TB_PARAMETERS_H
#define TB_PARAMETERS_H

#include "network_params.h"

enum tb_value_type { TB_VALUE_WHOLE, TB_VALUE_REAL, TB_VALUE_WORD };

struct tb_value {
	enum tb_value_type type;
	int64_t whole; // from 0
	double real;
	const char *word;
};

enum tb_unit { TB_UNIT_NONE, TB_UNIT_PS, TB_UNIT_BYTES, TB_UNIT_BYTES_PER_S };

struct tb_parameter {
	const char *section; // of presets: "network", "link", ...; "host" for a library's
	const char *key;
	struct tb_value value; // words live as long as the network's parameters
	enum tb_unit unit;
	bool is_none; // 0, which stands for no limit
};

enum { TB_PARAMETERS_MOST = 128 };

// tb_parameters lists the parameters of a network, section by section, and returns how
// many there are. Of a switching that does not exist, only those of all networks.
size_t tb_parameters(const struct tb_network_params *params,
	struct tb_parameter list[TB_PARAMETERS_MOST]);

// tb_parameter_text writes the value for people: "400 MB/s", "35 ns", "256 B", "2",
// "none". Returns buffer; 48 bytes suffice.
char *tb_parameter_text(const struct tb_parameter *parameter, char *buffer, size_t size);

// Parameters being read back, one by one and in any order. What is given may be anything.
struct tb_parameters_taken {
	struct tb_network_params *params; // whose `switching` is set
	bool seen[TB_PARAMETERS_MOST];
};

// tb_parameters_take sets the parameter of that key: 1 when it did, 0 when the network
// has no such key, TB_EFORMAT when the value is none that the parameter can have.
int tb_parameters_take(struct tb_parameters_taken *taken, const char *key,
	const struct tb_value *value) TB_MUST_USE;

// tb_parameters_missing is a key that the network has and was not given; NULL when all
// were.
const char *tb_parameters_missing(const struct tb_parameters_taken *taken);

#endif
