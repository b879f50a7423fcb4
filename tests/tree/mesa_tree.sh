#!/bin/bash
# SPDX-License-Identifier: MIT
# A Mesa checkout of one's own (make mesa MESA_TREE=DIR): built and run, built again after a change of one file, and left
# as it is. The checkout is a git repository with the source as Debian delivers it.
# test: TIMEOUT=7200
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
. qemu-device/build/lib.sh
set +e

base=$(bash userspace/mesa/build.sh) && [ -d "$base" ] || die "there is no Mesa source"
orig=$(find "$CACHE/mesa" -mindepth 2 -maxdepth 2 -name orig | while read -r d; do [ ! -e "${d%/orig}/complete" ] || echo "$d"; done | head -n 1)
dir=$BUILD/own-mesa
rm -rf "$dir"
cp -a "$orig" "$dir" || exit 1
git -C "$dir" init -q && git -C "$dir" add -A && git -C "$dir" -c user.name=t -c user.email=t@example.org commit -qm all || exit 1
mesa() { env -u MAKEFLAGS -u MAKELEVEL make -s mesa MESA_TREE="$1" </dev/null; }
says() {
    local words=$1 out
    shift
    ! out=$("$@" 2>&1) && grep -qF "$words" <<<"$out" || { echo "$out"; return 1; }
}
check "a directory that is not there is named" says "is not a directory" mesa "$dir/nowhere"
check "a directory that is no Mesa is named" says "is no source tree of Mesa" mesa "$dir/docs"
builds() { made=$(mesa "$dir") && [ -x "$made/tsr-mesa" ]; }
built() { builds && echo "$made" >"$dir.made"; }
check "the checkout's Mesa builds with the driver" built
made=$(cat "$dir.made")
cat >"$dir.c" <<'END'
#include <EGL/egl.h>
#include <stdio.h>
int main(void)
{
	EGLDisplay display = eglGetDisplay(EGL_DEFAULT_DISPLAY);

	if (!eglInitialize(display, NULL, NULL))
		return 1;
	return puts(eglQueryString(display, EGL_VENDOR)) < 0;
}
END
cc -o "$dir.program" "$dir.c" -lEGL || exit 1
vendor() { "$BUILD/userspace/bin/tsr-host" "$made/tsr-mesa" "$dir.program" | grep -qx "$1"; }
check "a program runs with it" vendor 'Mesa Project'
sed -i 's/"Mesa Project"/"One of our own"/' "$dir/src/egl/main/egldefines.h"
rebuilt() {
    local before=$SECONDS
    builds && echo "seconds: $((SECONDS - before))" && times
}
check "it is built again after a change of one file" rebuilt
check "the program sees the change" vendor 'One of our own'
kept() { [ "$(git -C "$dir" status --porcelain)" = ' M src/egl/main/egldefines.h' ]; }
check "the checkout has that change and no other" kept
file=src/$(sed -n 's|^+++ b/src/||p' userspace/mesa/patches/0002-*.patch | head -n 1)
git -C "$dir" checkout -q . && : >"$dir/$file"
check "a patch that does not apply is named" says "does not apply" mesa "$dir"
git -C "$dir" checkout -q .
check "it builds again when the file is back" builds
check "the program sees the checkout's own name" vendor 'Mesa Project'
rm -rf "$dir" "$dir".*
ktap_finish
