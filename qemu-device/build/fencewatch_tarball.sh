#!/bin/bash
# SPDX-License-Identifier: MIT
#
# fencewatch_tarball.sh: write fencewatch-VERSION.tar.xz to the build directory and print its name. It holds the
# module's source, its README and its license.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tarball.sh"

name=fencewatch-$(release)
aside=$(aside_in "$BUILD/tarball")
mkdir "$aside/$name"
cp "$TOP"/kernel/fencewatch/{Kbuild,Makefile,README.md,*.[ch]} "$aside/$name/"
cp "$TOP/LICENSES/GPL-2.0-only.txt" "$aside/$name/COPYING"
# Its tests stay here.
sed -i -e 's|make -C kernel/fencewatch$|make|' -e 's|kernel/fencewatch/fencewatch.ko|fencewatch.ko|' -e 's|\[\(static_key.ko\)\](.*)|`\1`|' -e '/^## Tests$/,$d' "$aside/$name/README.md"
tarball "$aside" "$name"
