// Finds which MPI a library belongs to by its name, for the program and for the library
// that it preloads.
#ifndef TB_MPI_LIBRARY_H
#define TB_MPI_LIBRARY_H

#include "tbt_format.h"

#include <stddef.h>
#include <string.h>

// tb_mpi_of_library returns the enum tb_tbt_mpi for a library's file name (without
// folder); 0: it is no MPI library. MPICH and libraries with its ABI are called
// libmpi.so.12; Open MPI uses other numbers.
static inline unsigned tb_mpi_of_library(const char *name)
{
	static const struct {
		const char *begins;
		enum tb_tbt_mpi mpi;
	} known[] = {{"libmpich", TB_TBT_MPICH}, {"libmpi.so.12", TB_TBT_MPICH},
		{"libmpifort.so.12", TB_TBT_MPICH}, {"libmpicxx.so.12", TB_TBT_MPICH},
		{"libmpi.so.", TB_TBT_OPENMPI}, {"libmpi_", TB_TBT_OPENMPI}};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strncmp(name, known[i].begins, strlen(known[i].begins)) == 0)
			return known[i].mpi;
	return 0;
}

#endif
