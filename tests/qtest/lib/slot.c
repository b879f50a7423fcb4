/* SPDX-License-Identifier: MIT */
/* A slot with native hotplug. See slot.h. */
#include "slot.h"

#include "ktap.h"

#define PCI_CAP_EXPRESS 0x10
#define SLTCTL 0x18
#define SLTSTA 0x1a
#define SLTSTA_BUTTON 0x0001

void slot_open(struct slot *slot, struct qtest *q)
{
	*slot = (struct slot){ .q = q, .port = { .q = q, .devfn = SLOT_DEVFN } };
	gpu_open_bridge(q, SLOT_DEVFN, SLOT_BUS);
	slot->express = gpu_cap(&slot->port, PCI_CAP_EXPRESS);
	gpu_cfg_write(&slot->port, slot_control(slot), SLOT_POWERED, 2);
}

const char *slot_add(struct slot *slot, const char *id, const char *properties)
{
	const char *answer;

	answer = qtest_qmp(slot->q,
			   "{\"execute\":\"device_add\",\"arguments\":{\"driver\":\"tessera\","
			   "\"bus\":\"rp\",\"id\":\"%s\"%s}}",
			   id, properties);
	gpu_cfg_write(&slot->port, slot_control(slot), SLOT_POWERED, 2);
	return answer;
}

void slot_remove(struct slot *slot, const char *id)
{
	const unsigned int status = slot->express + SLTSTA;

	qtest_cmd(slot->q, "{\"execute\":\"device_del\",\"arguments\":{\"id\":\"%s\"}}", id);
	ktap_ok(gpu_cfg_read(&slot->port, status, 2) & SLTSTA_BUTTON);
	gpu_cfg_write(&slot->port, status, SLTSTA_BUTTON, 2);
	slot_power_off(slot);
}

void slot_power_off(struct slot *slot)
{
	gpu_cfg_write(&slot->port, slot_control(slot), SLOT_POWER_OFF, 2);
}

unsigned int slot_control(const struct slot *slot)
{
	return slot->express + SLTCTL;
}
