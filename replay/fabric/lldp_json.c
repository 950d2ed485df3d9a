#include "lldp_impl.h"

#include <jansson.h>
#include <string.h>
#include <strings.h>

struct lldp_walk {
	tb_lldp_take *take;
	void *context;
	struct tb_lldp_neighbor neighbor;
};

// first_of returns an object that may stand alone or first in an array.
static const json_t *first_of(const json_t *value)
{
	return json_is_array(value) ? json_array_get(value, 0) : value;
}

// text_of returns a string that may stand alone, in an array, or as "value" of an object;
// NULL when there is none.
static const char *text_of(const json_t *value)
{
	value = first_of(value);
	if (json_is_object(value))
		value = json_object_get(value, "value");
	const char *text = json_string_value(value);
	return text && *text ? text : NULL;
}

static bool is_on(const json_t *capability)
{
	const json_t *enabled = json_object_get(capability, "enabled");
	const char *word = json_string_value(enabled);
	return json_is_true(enabled) || (word && strcasecmp(word, "on") == 0);
}

// lldp_json_kind_of tells by the capabilities that are on.
static enum tb_lldp_kind lldp_json_kind_of(const json_t *capabilities)
{
	enum tb_lldp_kind kind = TB_LLDP_UNSAID;
	size_t n = json_is_array(capabilities) ? json_array_size(capabilities) : 1;
	for (size_t i = 0; i < n; i++) {
		const json_t *at = json_is_array(capabilities)
					   ? json_array_get(capabilities, i)
					   : capabilities;
		const char *type = json_string_value(json_object_get(at, "type"));
		if (!type || !is_on(at))
			continue;
		if (strcasecmp(type, "Bridge") == 0 || strcasecmp(type, "Router") == 0)
			return TB_LLDP_BRIDGE;
		if (strcasecmp(type, "Station") == 0)
			kind = TB_LLDP_STATION;
	}
	return kind;
}

// lldp_json_rate_of reads a rate out of a MAU's type, "100GbaseCR4" or "1000BaseTFD".
static uint64_t lldp_json_rate_of(const char *mau)
{
	uint64_t number = 0;
	size_t n = mau ? strspn(mau, "0123456789") : 0;
	if (n == 0 || n > 6)
		return 0;
	for (size_t i = 0; i < n; i++)
		number = number * 10 + (uint64_t)(mau[i] - '0');
	bool is_giga = mau[n] == 'G' || mau[n] == 'g';
	if (!is_giga && strncasecmp(mau + n, "base", 4) != 0)
		return 0;
	uint64_t mbit = is_giga ? number * 1000 : number;
	return mbit >= 8 && mbit <= 8000000 ? mbit * 125000 : 0;
}

// lldp_json_read_port takes the neighbour's port: by its name, which is its description
// where the id is an address.
static void lldp_json_read_port(struct tb_lldp_neighbor *neighbor, const json_t *port)
{
	const json_t *id = first_of(json_object_get(port, "id"));
	const char *type = json_string_value(json_object_get(id, "type"));
	const char *descr = text_of(json_object_get(port, "descr"));
	const json_t *line = first_of(json_object_get(port, "auto-negotiation"));
	bool is_name =
		type && (strcmp(type, "ifname") == 0 || strcmp(type, "local") == 0);
	const char *name = text_of(id);
	neighbor->peer_port = !is_name && descr ? descr : name ? name : descr;
	neighbor->bytes_per_s =
		lldp_json_rate_of(text_of(json_object_get(line, "current")));
}

static int read_interface(
	struct lldp_walk *walk, const char *name, const json_t *interface)
{
	struct tb_lldp_neighbor *neighbor = &walk->neighbor;
	neighbor->port = name;
	// Take the neighbour's name, which json has as a key and json0 as a
	// member; without one its id stands for it.
	const json_t *chassis = json_object_get(interface, "chassis");
	json_t *body;
	const char *key;
	chassis = first_of(chassis);
	neighbor->peer = text_of(json_object_get(chassis, "name"));
	if (!neighbor->peer)
		neighbor->peer = text_of(json_object_get(chassis, "id"));
	if (!neighbor->peer)
		json_object_foreach((json_t *)(uintptr_t)chassis, key, body)
		{
			if (!json_is_object(body))
				continue;
			neighbor->peer = key;
			chassis = body;
			break;
		}
	neighbor->peer_kind = lldp_json_kind_of(json_object_get(chassis, "capability"));
	lldp_json_read_port(neighbor, first_of(json_object_get(interface, "port")));
	bool is_whole = name && neighbor->peer && neighbor->peer_port;
	return is_whole ? walk->take(walk->context, neighbor) : TB_OK;
}

// read_interfaces reads one that has its name as a member, or several by their names.
static int read_interfaces(struct lldp_walk *walk, json_t *interfaces)
{
	const char *key;
	json_t *value;
	size_t i;
	int status = TB_OK;
	if (json_is_array(interfaces))
		json_array_foreach(interfaces, i, value)
		{
			// Arrays in arrays would be a depth of no use.
			if (json_is_object(value) && status == TB_OK)
				status = read_interfaces(walk, value);
		}
	else if (json_object_get(interfaces, "chassis"))
		return read_interface(
			walk, text_of(json_object_get(interfaces, "name")), interfaces);
	else
		json_object_foreach(interfaces, key, value)
		{
			if (status == TB_OK)
				status = read_interface(walk, key, value);
		}
	return status;
}

// read_device reads {"lldp": {"interface": ...}}.
static int read_device(struct lldp_walk *walk, const json_t *document, const char *device)
{
	const json_t *lldp = first_of(json_object_get(document, "lldp"));
	walk->neighbor.device = device;
	return read_interfaces(walk, json_object_get(lldp, "interface"));
}

static int read_document(struct lldp_walk *walk, json_t *document, const char *device,
	struct tb_error *error)
{
	const char *key;
	json_t *value;
	int status = TB_OK;
	size_t n = 0;
	if (json_object_get(document, "lldp"))
		return read_device(walk, document, device);
	json_object_foreach(document, key, value)
	{
		n++;
		if (status == TB_OK && !json_object_get(value, "lldp"))
			return tb_fail(error, TB_EFORMAT,
				"'%.60s': expected the neighbours of a device, "
				"{\"lldp\": ...}",
				key);
		if (status == TB_OK)
			status = read_device(walk, value, key);
	}
	if (n == 0)
		return tb_fail(error, TB_EFORMAT,
			"expected an object {\"lldp\": ...}, as 'lldpcli show neighbors "
			"-f json' prints it");
	return status;
}

int tb_lldp_documents(const char *text, size_t n, const char *device, tb_lldp_take *take,
	void *context, struct tb_error *error)
{
	struct lldp_walk walk = {.take = take, .context = context};
	json_error_t why;
	json_t *document = json_loadb(text, n, 0, &why);
	if (!document)
		return tb_fail(
			error, TB_EFORMAT, "line %d of its JSON: %s", why.line, why.text);
	int status = read_document(&walk, document, device, error);
	json_decref(document);
	return status;
}
