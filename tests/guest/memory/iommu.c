// SPDX-License-Identifier: MIT
/* test: TIMEOUT=180 IOMMU=1 DEVICE_ARGS=vram=64M */
/*
 * Behind an IOMMU that translates: the device's group is of type DMA (so nothing here passes by
 * identity mapping), whole test programs pass, and the IOMMU has nothing to complain of.
 */
#include "gt_main.h"

#include <dirent.h>
#include <unistd.h>

static void group_type(void)
{
	char path[400], text[64];

	gt_sysfs(0, "iommu_group/type", path, sizeof(path));
	ktap_ok(gt_read_file(path, text, sizeof(text)) > 0);
	text[strcspn(text, "\n")] = '\0';
	if (strcmp(text, "DMA") && strcmp(text, "DMA-FQ"))
		ktap_fail("the IOMMU group is of type %s, not DMA", text);
}

static void translation_is_on(void)
{
	DIR *dir = opendir("/sys/class/iommu");
	struct dirent *entry;
	unsigned int units = 0;

	KTAP_REQUIRE(dir);
	while ((entry = readdir(dir)))
		units += entry->d_name[0] != '.';
	closedir(dir);
	ktap_ok(units >= 1);
}

/* Run another test program of the guest; its own lines become comments of ours. */
static void program_passes(const void *arg)
{
	char command[200], line[300];
	FILE *pipe;
	int status;

	snprintf(command, sizeof(command), "%s 2>&1", (const char *)arg);
	pipe = popen(command, "r");
	KTAP_REQUIRE(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		if (!strncmp(line, "not ok", 6) || line[0] == '#' || !strncmp(line, "Bail", 4))
			printf("# %s", line);
	}
	status = pclose(pipe);
	ktap_eq(status, 0);
}

int main(int argc, char **argv)
{
	static const char *const programs[] = { "memory", "copy",     "commands",
						"rings",  "syncobjs", "prime" };
	char name[100];
	size_t i;

	gt_start(argc, argv);
	ktap_run("[SYS1] the device is behind an IOMMU that translates DMA", group_type);
	ktap_run("the IOMMU is there", translation_is_on);
	for (i = 0; i < GT_ARRAY_SIZE(programs); i++) {
		snprintf(name, sizeof(name), "[MEM1] the test program %s passes behind the IOMMU",
			 programs[i]);
		ktap_run_arg(name, program_passes, programs[i]);
	}
	return gt_finish();
}
