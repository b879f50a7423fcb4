// SPDX-License-Identifier: MIT
/* The rules of the contract, and the columns that show if they are kept. */
#include "contract.h"

#define UAPI "gpu/drm-uapi.rst"

const struct rule rules[] = {
	{ "R1.1", "Every fence that user space was given signals in finite time.",
	  "driver-api/dma-buf.rst, Indefinite DMA Fences", false },
	{ "R1.2", "The job at fault carries an error. A job that was not at fault and ran "
	  "carries none.",
	  UAPI ", Device reset; dma_fence_set_error()", false },
	{ "R1.3", "SYNC_IOC_FILE_INFO shows the error, also of a sync file that was "
	  "merged before.",
	  "driver-api/sync_file.rst", false },
	{ "R2.1", "Work that a bystander had running is finished, or carries an error. It "
	  "is not lost without one, and does not run twice.",
	  UAPI ", Device reset", true },
	{ "R2.2", "Work that a bystander had queued runs exactly once.",
	  "Tessera's promise; drm_gpu_scheduler's recovery", true },
	{ "R2.3", "Guilty and innocent contexts can be told apart.",
	  UAPI ", Device reset, User Mode Driver", false },
	{ "R3.1", "The guilty context refuses work. A new context of the same process works.",
	  UAPI ", Device reset, User Mode Driver", false },
	{ "R3.2", "Another process notices nothing but time.", UAPI ", Device reset", true },
	{ "R4.1", "WEDGED= lists what helps, the method with the fewest side effects "
	  "first. \"none\" is telemetry only.",
	  UAPI ", Device Wedging", false },
	{ "R4.2", "Before that event DMA is off, all fences have signalled, ioctls refuse "
	  "with an error, and mappings can be accessed.",
	  UAPI ", Device Wedging, Prerequisites", false },
	{ "R4.3", "After the method that the event names, a new open works.",
	  UAPI ", Device Wedging, Recovery", false },
	{ "R4.4", "PID= and TASK= name the culprit, or are absent.",
	  UAPI ", Device Wedging, Task information", false },
	{ "R5.1", "A failure leaves one core dump, which can be read and goes away when "
	  "told to.",
	  "include/linux/devcoredump.h", false },
	{ "R5.2", "Engine times of fdinfo catch up with values that were shown before.",
	  "gpu/drm-usage-stats.rst", false },
	{ "R6.1", "After an unplug fences carry an error, ioctls say ENODEV, open fails, "
	  "and mappings stay.",
	  UAPI ", Device Hot-Unplug", true },
	{ "R7.1", "Nothing is written after the fence of the job that writes it has signalled.",
	  "driver-api/dma-buf.rst, DMA Fences", false },
	{ "R8.1", "The kernel log has no warning, bug, hung task or lockdep report.",
	  "gpu/automated_testing.rst", false },
};
const unsigned int rule_count = ARRAY_SIZE(rules);

const struct column_info columns[COLUMNS] = {
	[FENCE] = { "fence", "culprit", "fence", "R1.2 R1.1 R6.1",
	  "error of the job at fault" },
	[MERGED] = { "merged", "culprit", "merged", "R1.3",
	  "error of a sync file that was merged of that fence and the bystander's" },
	[NEXT] = { "next", "culprit", "next job", "R1.2 R1.1",
	  "error of the next job of its context" },
	[CONTEXT] = { "context", "culprit", "context", "R2.3 R6.1",
	  "answer of the robustness query" },
	[SUBMIT] = { "submit", "culprit", "submit", "R3.1 R4.2 R6.1",
	  "answer to another job for that context" },
	[NEW] = { "new", "culprit", "new ctx", "R3.1 R4.2 R6.1",
	  "a job of a new context of that process" },
	[RUNNING] = { "running", "bystander", "running", "R2.1 R3.2", "a job that had begun" },
	[QUEUED] = { "queued", "bystander", "queued", "R2.2 R3.2", "a job that had not begun" },
	[BLAME] = { "blame", "bystander", "context", "R2.3 R6.1",
	  "answer of the robustness query" },
	[NEWCOMER] = { "newcomer", "newcomer", "job", "R3.2 R4.2 R6.1",
	  "a job of a process that opens the device now" },
	[MAPPING] = { "mapping", "culprit", "mapping", "R4.2 R6.1",
	  "access to memory that it had mapped" },
	[WRITES] = { "writes", "culprit", "writes", "R7.1",
	  "writes after its fence has signalled" },
	[UEVENT] = { "uevent", "monitor", "uevent", "R4.1 R4.2 R4.4",
	  "WEDGED= events; \"+pid\" if they name the culprit" },
	[RECOVERY] = { "recovery", "monitor", "recovery", "R4.3", "what made a new open work" },
	[DUMP] = { "dump", "monitor", "dump", "R5.1", "device core dumps" },
	[FDINFO] = { "fdinfo", "monitor", "fdinfo", "R5.2", "engine time of the bystander" },
	[LOG] = { "log", "kernel", "log", "R8.1", "first complaint in the kernel log" },
	[TIME] = { "time", "culprit", "seconds", "R1.1",
	  "from the start of the fault to its fence" },
};
