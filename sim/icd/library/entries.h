// The entries of each file, put into the table that the loader calls.
#pragma once
#include <CL/cl_icd.h>

namespace sluice {

void add_platform_entries(cl_icd_dispatch& table);
void add_context_entries(cl_icd_dispatch& table);
void add_queue_entries(cl_icd_dispatch& table);
void add_event_entries(cl_icd_dispatch& table);
void add_memory_entries(cl_icd_dispatch& table);
void add_pipe_entries(cl_icd_dispatch& table);
void add_transfer_entries(cl_icd_dispatch& table);
void add_mapping_entries(cl_icd_dispatch& table);
void add_migration_entries(cl_icd_dispatch& table);
void add_svm_entries(cl_icd_dispatch& table);
void add_program_entries(cl_icd_dispatch& table);
void add_kernel_entries(cl_icd_dispatch& table);
void add_launch_entries(cl_icd_dispatch& table);
void add_refused_entries(cl_icd_dispatch& table);

}  // namespace sluice
