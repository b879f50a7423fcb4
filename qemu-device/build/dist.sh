#!/bin/bash
# SPDX-License-Identifier: MIT
#
# dist.sh: write tessera-VERSION.tar.xz to the build directory and print its name. It holds every file that git tracks,
# as it is in the checkout, and nothing else. An unpacked tarball can be packed again.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tarball.sh"

name=tessera-$(release)
aside=$(aside_in "$BUILD/tarball")
cd "$TOP" || exit
mkdir "$aside/$name"
"$TOP/qemu-device/build/tree.py" | rsync -a --from0 --files-from=- ./ "$aside/$name/"
tarball "$aside" "$name"
