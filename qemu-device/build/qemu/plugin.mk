# SPDX-License-Identifier: MIT
#
# Compile the device to OUT/tessera.so, and QEMU's qtest accelerator; plugin.sh calls it.
#   SRC    copies of qemu-device/pci and model, and the generated headers as include
#   TREE   headers of the QEMU that will load it: TREE/src, TREE/build, and in TREE/flags the options QEMU's own
#          devices are compiled with
#
# The model is compiled as in qemu-device/pci/meson.build, which says why: as a whole, without QEMU's hardening.
# Its files are those of model/manifest; of pci/, every .c belongs to the device.
model := $(addprefix model/,$(shell grep '^[^\#].*\.c$$' $(SRC)/model/manifest)) include/tsr_desc.c include/tsr_isa.c
glue := $(sort $(patsubst $(SRC)/%,%,$(wildcard $(SRC)/pci/*.c)))
model_objects := $(patsubst %.c,$(OUT)/obj/%.o,$(model))
glue_objects := $(patsubst %.c,$(OUT)/obj/%.o,$(glue)) $(OUT)/obj/trace-hw_tessera_pci.o

CC := cc
MODEL_FLAGS := -std=gnu11 -O3 -fPIC -flto=auto -mcx16 -D_GNU_SOURCE -fno-common -fwrapv -pthread \
	-Wall -Wno-psabi -I$(SRC)/model -I$(SRC)/model/include -I$(SRC)/include
# QEMU's options name directories relative to its build directory.
GLUE = cd $(TREE)/build && $(CC) $(shell cat $(TREE)/flags) -fPIC -I$(OUT)
TRACETOOL = /usr/bin/python3 -B $(TREE)/src/scripts/tracetool.py --backend=log --group=hw_tessera_pci

all: $(OUT)/tessera.so $(OUT)/accel-qtest-x86_64.so

# Objects of files that are gone must not be linked, and a file that has moved is compiled again.
$(OUT)/obj/%.o: $(SRC)/%.c
	@mkdir -p $(@D)
	$(if $(filter pci/%,$*),$(GLUE),$(CC) $(MODEL_FLAGS)) -MMD -MP -MT $@ -MF $(@:.o=.d) -o $@ -c $<

$(OUT)/trace/trace-hw_tessera_pci.h: $(SRC)/pci/trace-events
	@mkdir -p $(@D)
	$(TRACETOOL) --format=h $< $@
$(OUT)/trace/trace-hw_tessera_pci.c: $(SRC)/pci/trace-events
	@mkdir -p $(@D)
	$(TRACETOOL) --format=c $< $@
$(OUT)/obj/trace-hw_tessera_pci.o: $(OUT)/trace/trace-hw_tessera_pci.c
	$(GLUE) -MMD -MP -MT $@ -MF $(@:.o=.d) -o $@ -c $<
$(glue_objects): | $(OUT)/trace/trace-hw_tessera_pci.h

# The list of objects is a dependency, too: it changes when a file is removed.
$(OUT)/obj/model.o: $(model_objects) $(OUT)/obj/model.list
	$(CC) -O3 -fPIC -flto=auto -r -flinker-output=nolto-rel -o $@ $(model_objects)
$(OUT)/obj/model.list: FORCE
	@mkdir -p $(@D)
	@echo $(model) | cmp -s - $@ || echo $(model) >$@
$(OUT)/tessera.so: $(OUT)/obj/model.o $(glue_objects) $(MAP)
	$(CC) -shared -Wl,-Bsymbolic,--version-script=$(MAP),-z,relro -o $@ $(OUT)/obj/model.o $(glue_objects) -lm -pthread

# Debian builds this module of QEMU and does not ship it.
$(OUT)/accel-qtest-x86_64.so: $(TREE)/src/accel/qtest/qtest.c $(TREE)/src/module-common.c
	$(GLUE) -DBUILD_DSO -shared -o $@ $^

.PHONY: all FORCE
-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)
