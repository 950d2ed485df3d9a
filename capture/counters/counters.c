#include "counters_impl.h"

#include "array.h"
#include "visible.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PORTS_MOST (1u << 20)

void tb_counters_fini(struct tb_counters *counters)
{
	for (size_t i = 0; i < counters->n; i++) {
		free(counters->ports[i].device);
		free(counters->ports[i].port);
	}
	free(counters->ports);
	tb_map_fini(&counters->of_key);
	*counters = (struct tb_counters){0};
}

char *tb_counter_port_text(const struct tb_counter_port *port, char *buffer, size_t size)
{
	char device[COUNTER_NAME_MOST], name[COUNTER_NAME_MOST];
	const char *shown = tb_visible(port->port, name, sizeof name);
	if (port->guid)
		snprintf(buffer, size, "GUID 0x%016" PRIx64 " port %.80s", port->guid,
			shown);
	else if (port->lid)
		snprintf(buffer, size, "LID %" PRIu32 " port %.80s", port->lid, shown);
	else
		snprintf(buffer, size, "%.120s%s%.80s",
			tb_visible(port->device, device, sizeof device),
			*port->port ? ":" : "", shown);
	return buffer;
}

int counters_refuse(const struct counters_reading *reading, const char *format, ...)
{
	char text[400];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	return tb_fail_at(reading->error, TB_EFORMAT, reading->file, TB_PLACE_LINE,
		reading->line, "%s", text);
}

static uint64_t text_hash_on(uint64_t value, const char *text)
{
	for (; *text; text++)
		value = (value ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return (value ^ 0xff) * UINT64_C(1099511628211);
}

static uint64_t counter_port_key(const struct tb_counter_port *port)
{
	uint64_t key = UINT64_C(14695981039346656037) ^ port->guid ^
		       (port->guid ? 0 : (uint64_t)port->lid << 40);
	key = text_hash_on(key, port->guid || port->lid ? "" : port->device);
	return text_hash_on(key, port->port);
}

// counter_port_is_same is whether two ports are so named that they are one. A GUID goes
// before a LID, and both before a name, which several devices may have.
static bool counter_port_is_same(
	const struct tb_counter_port *a, const struct tb_counter_port *b)
{
	if (a->guid != b->guid || strcmp(a->port, b->port) != 0)
		return false;
	return a->guid ||
	       (a->lid == b->lid && (a->lid || strcmp(a->device, b->device) == 0));
}

static int counter_port_add(struct counters_reading *reading,
	const struct tb_counter_port *named, uint64_t key)
{
	struct tb_counters *counters = reading->counters;
	struct tb_counter_port port = *named;
	if (counters->n >= PORTS_MOST)
		return tb_fail_in(reading->error, TB_ECAPACITY, reading->file,
			"it has more than %u ports", PORTS_MOST);
	port.device = strdup(named->device ? named->device : "");
	port.port = strdup(named->port ? named->port : "");
	if (!port.device || !port.port ||
		TB_ARRAY_RESERVE(&counters->ports, &counters->room, counters->n + 1) !=
			TB_OK ||
		tb_map_put(&counters->of_key, key, (uint32_t)counters->n) != TB_OK) {
		free(port.device);
		free(port.port);
		return tb_fail_memory_in(reading->error, reading->file, "its ports");
	}
	counters->ports[counters->n++] = port;
	return TB_OK;
}

// counter_port_find finds a port, and the key under which it is or would be; ports of one
// hash lie behind each other.
static bool counter_port_find(const struct tb_counters *counters,
	const struct tb_counter_port *named, uint64_t *key, uint32_t *at)
{
	for (*key = counter_port_key(named); tb_map_find(&counters->of_key, *key, at);
		++*key)
		if (counter_port_is_same(&counters->ports[*at], named))
			return true;
	return false;
}

const struct tb_counter_port *tb_counters_find(
	const struct tb_counters *counters, const struct tb_counter_port *named)
{
	uint64_t key;
	uint32_t at = 0;
	return counter_port_find(counters, named, &key, &at) ? &counters->ports[at]
							     : NULL;
}

int counters_port(struct counters_reading *reading, const struct tb_counter_port *named,
	bool is_new)
{
	struct tb_counters *counters = reading->counters;
	uint64_t key;
	uint32_t at = 0;
	char text[COUNTER_NAME_MOST * 2];
	if (!counter_port_find(counters, named, &key, &at)) {
		at = (uint32_t)counters->n;
		int status = counter_port_add(reading, named, key);
		if (status != TB_OK)
			return status;
	}
	reading->port = &counters->ports[at];
	bool again = reading->port->formats >> reading->format & 1;
	reading->port->formats |= UINT32_C(1) << reading->format;
	if (again && is_new)
		return counters_refuse(reading,
			"%s stands there twice: a dump is of one time",
			tb_counter_port_text(reading->port, text, sizeof text));
	return TB_OK;
}

int counters_rename(struct counters_reading *reading, size_t i, char *device)
{
	struct tb_counters *counters = reading->counters;
	uint64_t key;
	uint32_t at;
	free(counters->ports[i].device);
	counters->ports[i].device = device;
	if (counter_port_find(counters, &counters->ports[i], &key, &at) ||
		tb_map_put(&counters->of_key, key, (uint32_t)i) == TB_OK)
		return TB_OK;
	return tb_fail_memory_in(reading->error, reading->file, "its ports");
}

static uint64_t value_scaled(uint64_t value, unsigned scale)
{
	uint64_t most = UINT64_MAX / scale;
	return (value > most ? most : value) * scale;
}

// end_of_name is where a counter of that name stops. One that is beyond is of the wider
// kind, as some tools print it by the narrow one's name.
static uint64_t end_of_name(const struct counters_reading *reading,
	const struct counter_name *name, uint64_t value)
{
	uint64_t end = name->bits < 64 ? (UINT64_C(1) << name->bits) - 1 : UINT64_MAX;
	return reading->is_wide || value > end ? UINT64_MAX
					       : value_scaled(end, name->scale);
}

// reading_add_part adds a priority's to those of the same port and format. Of all
// priorities there may be a counter besides: the larger holds.
static uint64_t reading_add_part(
	struct counters_reading *reading, enum tb_counter counter, uint64_t value)
{
	uint32_t port = (uint32_t)(reading->port - reading->counters->ports);
	if (reading->parts_of != port || reading->parts_format != reading->format)
		memset(reading->parts, 0, sizeof reading->parts);
	reading->parts_of = port;
	reading->parts_format = reading->format;
	uint64_t *sum = &reading->parts[counter];
	*sum = *sum > UINT64_MAX - value ? UINT64_MAX : *sum + value;
	return *sum;
}

void counters_put(
	struct counters_reading *reading, const struct counter_name *name, uint64_t value)
{
	struct tb_counter_port *port = reading->port;
	uint64_t *to = &port->values[name->counter], *end = &port->ends[name->counter];
	uint32_t bit = UINT32_C(1) << name->counter;
	uint64_t own_end = end_of_name(reading, name, value);
	value = value_scaled(value, name->scale);
	if (name->adds)
		value = reading_add_part(reading, name->counter, value);
	if (!(port->known & bit) || value > *to || (value == *to && own_end > *end)) {
		*to = value;
		*end = own_end;
	}
	port->known |= bit;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

int counters_put_text(struct counters_reading *reading, const struct counter_name *name,
	const char *text, size_t n)
{
	uint64_t value = 0;
	char shown[80], quoted[40];
	bool is_hex = n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	unsigned base = is_hex ? 16 : 10;
	if (n == 0 || (n == 3 && memcmp(text, "N/A", 3) == 0) ||
		(n == 2 && memcmp(text, "NA", 2) == 0) || (n == 1 && *text == '-'))
		return TB_OK;
	for (size_t i = is_hex ? 2 : 0; i < n; i++) {
		int digit = digit_of(text[i]);
		if (text[i] == ',' && i > 0 && !is_hex)
			continue;
		if (digit >= (int)base || value > (UINT64_MAX - (unsigned)digit) / base) {
			snprintf(quoted, sizeof quoted, "%.*s", (int)(n < 32 ? n : 32),
				text);
			return counters_refuse(reading, "'%s' is no count",
				tb_visible(quoted, shown, sizeof shown));
		}
		value = value * base + (unsigned)digit;
	}
	counters_put(reading, name, value);
	return TB_OK;
}

void counters_time(struct counters_reading *reading, int64_t time_us)
{
	if (!reading->counters->has_time)
		reading->counters->time_us = time_us;
	reading->counters->has_time = true;
}

int64_t counters_epoch(double number)
{
	double us = number > 1e17   ? number / 1e3
		    : number > 1e14 ? number
		    : number > 1e11 ? number * 1e3
				    : number * 1e6;
	return us > 0 && us < 9e18 ? (int64_t)us : 0;
}

uint64_t counters_hex(const char *text)
{
	uint64_t value = 0;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	for (int n = 0; n < 16 && digit_of(*text) < 16; n++, text++)
		value = value << 4 | (unsigned)digit_of(*text);
	return value;
}
