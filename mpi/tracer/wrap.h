// What the stand-ins for MPI's functions share: sizes, and how they record.
#ifndef TB_WRAP_H
#define TB_WRAP_H

#include "comms.h"
#include "lane.h"
#include "real.h"
#include "requests.h"

// tb_bytes_of returns the size of `count` items of a type.
static inline uint64_t tb_bytes_of(MPI_Count count, MPI_Datatype type)
{
	int size = 0;
	PMPI_Type_size(type, &size);
	return (uint64_t)count * (uint64_t)(uint32_t)size;
}

// tb_bytes_received returns how much a receive got.
static inline uint64_t tb_bytes_received(const MPI_Status *status)
{
	MPI_Count bytes = 0;
	PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
	return bytes > 0 ? (uint64_t)bytes : 0;
}

// tb_started notes the request of an operation that has begun and returns its number.
static inline uint64_t tb_started(MPI_Request handle, bool receives)
{
	struct tb_request request = {.id = tb_request_new(), .receives = receives};
	request.active = request.id;
	tb_request_put(handle, &request);
	return request.id;
}

// tb_defined notes a persistent request and returns its number.
static inline uint64_t tb_defined(MPI_Request handle, bool receives)
{
	const struct tb_request request = {
		.id = tb_request_new(), .receives = receives, .persistent = true};
	tb_request_put(handle, &request);
	return request.id;
}

#endif
