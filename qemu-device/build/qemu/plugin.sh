#!/bin/bash
# SPDX-License-Identifier: MIT
#
# plugin.sh: the device as a plugin of Debian 13's QEMU (QEMU=plugin, the default). Prints the directory that holds the result:
#   DIR/qemu-system-x86_64   a script that starts that QEMU with `-plugin DIR/tessera.so`
#   DIR/tessera.so           the device
#   DIR/share/               the firmware QEMU needs (-L)
#   DIR/modules/             QEMU's own loadable parts. `-accel qtest`, which the device tests use, is one that
#                            Debian builds and does not ship; it is compiled from the same source
#
# The QEMU is the one of the installed package qemu-system-x86 on Debian 13; elsewhere, and where that package is
# not installed, Debian 13's is unpacked into the cache and started with its own loader and libraries. Nothing
# of QEMU is compiled: its source package is unpacked and configured once for each version, compiler and
# configuration, and what is left of it is the headers ($CACHE/qemu-headers). Then, under a lock, this checkout's
# qemu-device/{pci,model} and the generated headers go there and plugin.mk compiles what has changed. An unchanged
# checkout finds the result in $CACHE/qemu-bin and builds nothing.
#
# Options: --refresh    look for a newer version first (`make update`)
. "$(dirname "$0")/../lib.sh"
APT_ONLY=trixie
. "$TOP/qemu-device/build/debian/apt.sh"
. "$TOP/qemu-device/build/qemu/results.sh"

HERE=$TOP/qemu-device/build/qemu
CONFIGURE=(
    --target-list=x86_64-softmmu --without-default-features --without-default-devices --enable-system
    --disable-user --enable-tcg --enable-plugins --enable-modules --enable-pixman --audio-drv-list=
    --disable-docs --disable-tools --disable-guest-agent --disable-install-blobs --disable-download
    --disable-debug-info --python=/usr/bin/python3
)
# A device of QEMU's own: it is compiled as ours will be.
EXAMPLE=hw/pci/msix.c
# Where packages have their libraries.
LIB=usr/lib/x86_64-linux-gnu
# The parts of QEMU's source that a device is compiled with. SoftFloat is what tests compare with, see softfloat.sh.
NEEDED='include|host|tcg|linux-headers|scripts|subprojects|trace|accel|module-common.c|VERSION'

# Version of the installed package, nothing where it is not Debian 13's.
installed_qemu() {
    [ "$HOST_RELEASE" = trixie ] && [ "$ID" = debian ] || return 0
    { dpkg-query -W -f '${db:Status-Status} ${source:Version}\n' qemu-system-x86 2>/dev/null || true; } |
        awk '$1 == "installed" { print $2 }'
}

installed=$(installed_qemu)
recipe=$(sed -n '/^compiler_flags()/,/^}/p' "$0" | recipe_of "${CONFIGURE[@]}" "$EXAMPLE" "$NEEDED" "$installed")
LINK=$CACHE/qemu-headers/$recipe

# Print the version to use: the installed one if the archive has its source.
choose_version() {
    local version
    version=$(apt_version qemu-system-x86)
    if [ -n "$installed" ] && [ "$installed" != "$version" ]; then
        if apt-cache showsrc qemu 2>/dev/null | grep -qxF "Version: $installed"; then
            version=$installed
        else
            say "the archive has no source of the installed QEMU $installed any more (apt upgrade helps);" \
                "taking its QEMU $version instead"
        fi
    fi
    [ -n "$version" ] || die "the archive $(used_mirror) has no package qemu-system-x86 in trixie"
    echo "$version"
}

# compiler_flags BUILD: the options that QEMU compiles EXAMPLE with, for a shared object.
compiler_flags() {
    /usr/bin/python3 - "$1" "$EXAMPLE" <<'EOF'
import json, shlex, sys
build, example = sys.argv[1:]
with open(build + "/compile_commands.json") as f:
    command = next(e["command"] for e in json.load(f) if e["file"].endswith("/" + example))
words, flags = iter(shlex.split(command)[1:]), []
for word in words:
    if word in ("-MQ", "-MF", "-o", "-c"):
        next(words)
    elif word not in ("-MD", "-fPIE"):
        flags.append(word)
print(shlex.join(flags + ["-fPIC"]))
EOF
}

# configure_headers TREE VERSION: QEMU's source configured, its generated headers made, the rest thrown away. A
# tree cannot be moved once it is configured, so it is made in place; the stamp "complete" is written last.
configure_headers() {
    local tree=$1 version=$2 object
    say "fetching and configuring the source of QEMU $version (40 MB): once, usually half a minute to a minute"
    rm -rf "$tree"
    mkdir -p "$tree/build"
    apt_source "$tree" "qemu=$version"
    mv -T "$tree"/qemu-*/ "$tree/src"
    rm -f "$tree"/qemu_*
    fetch_meson
    (cd "$tree/build" && run_logged qemu-configure ../src/configure "--with-pkgversion=Debian $version" \
        "${CONFIGURE[@]}") || die "QEMU cannot be configured"
    object=libcommon.a.p/${EXAMPLE//\//_}.o
    ninja -C "$tree/build" -t query "$object" | awk '$1 == "||" { print $2 }' >"$tree/generated"
    run_logged qemu-headers xargs -a "$tree/generated" ninja -C "$tree/build" -j "$JOBS" ||
        die "QEMU's headers cannot be made"
    compiler_flags "$tree/build" >"$tree/flags"
    find "$tree/src" -mindepth 1 -maxdepth 1 | grep -vE "/($NEEDED)\$" | xargs -d '\n' rm -rf
    find "$tree/src/subprojects" -mindepth 1 -maxdepth 1 ! -name 'berkeley-softfloat-3' -exec rm -rf {} +
    rm -rf "$tree/build/pyvenv" "$tree"/build/meson-* "$tree/build/compile_commands.json"
}

# Which QEMU to start: "/" or where Debian 13's has been unpacked, with all it needs.
fetch_qemu() {
    local version=$1 root aside
    if [ "$version" = "$installed" ]; then
        echo /
        return
    fi
    root=$CACHE/qemu-debian/${version#*:}
    if [ ! -d "$root" ]; then
        say "fetching Debian 13's QEMU $version with its libraries (38 MB): once, usually ten seconds"
        aside=$(aside_in "$CACHE/qemu-debian")
        apt_closure "$aside" "qemu-system-x86=$version"
        rm -rf "$aside"/usr/share/{doc,man,locale}
        publish "$aside" "$root"
    fi
    echo "$root"
}

# same_build TREE ROOT: modules of QEMU bear a stamp made of version, package and configure script, which the binary
# asks for.
same_build() {
    local stamp
    stamp=$(awk '$2 == "CONFIG_STAMP" { print $3 }' "$1/build/config-host.h")
    [ -n "$stamp" ] && grep -qaF "qemu_stamp$stamp" "${2%/}/usr/bin/qemu-system-x86_64"
}

prepare() {
    local version tree root
    [ "${1:-}" = refresh ] || [ ! -e "$LINK/complete" ] || return 0
    apt_ready
    version=$(choose_version) || exit 1
    tree=$CACHE/qemu-headers/${version#*:}-$recipe
    if [ ! -e "$tree/complete" ]; then
        configure_headers "$tree" "$version"
        root=$(fetch_qemu "$version") || exit 1
        same_build "$tree" "$root" || die "the headers of QEMU $version are not those ${root%/}/usr/bin/qemu-system-x86_64" \
            "was built with: is that another build of it? QEMU=build needs none"
        printf '%s\n' "$root" >"$tree/root"
        printf '%s\n' "$version" >"$tree/version"
        touch "$tree/complete"
    fi
    ln -sfn "$(basename "$tree")" "$LINK"
}

# wrapper ROOT DIR: the script that starts QEMU with the plugin. QEMU looks at `-device X,help` before it loads
# plugins, so that is answered by the monitor of one that has started.
wrapper() {
    local root=${1%/} dir=$2 qemu=/usr/bin/qemu-system-x86_64
    if [ -n "$root" ]; then
        qemu="'$root/$LIB/ld-linux-x86-64.so.2' --argv0 qemu-system-x86_64 --library-path '$root/$LIB' '$root$qemu'"
    fi
    cat <<EOF
#!/bin/sh
# QEMU with the device as a plugin; made by qemu-device/build/qemu/plugin.sh.
export QEMU_MODULE_DIR='$dir/modules'
case "\$*" in *"-device tessera,help"*)
    printf 'device_add tessera,help\nquit\n' |
        $qemu -plugin '$dir/tessera.so' -L '$dir/share' -M q35 -accel tcg -nodefaults -display none -S -monitor stdio |
        tr -d '\r' | grep =
    exit
    ;;
esac
exec $qemu -plugin '$dir/tessera.so' "\$@"
EOF
}

# try QEMU SHARE: the plugin must load into this very QEMU and the device realize.
try() {
    # shellcheck disable=SC2016 # for the inner shell
    run_logged plugin-try timeout 300 sh -c 'echo quit | "$0" -L "$1" -M q35 -accel qtest -nodefaults -display none \
        -S -device tessera -monitor stdio' "$1" "$2"
}

# insert DIR HEADERS: compile this checkout's device and put QEMU with it into DIR.
# --checksum and no -t: a file that is the same as the last checkout's keeps its time and is not compiled again.
insert() {
    local dir=$1 headers=$2 tree aside part root
    [ ! -x "$dir/qemu-system-x86_64" ] || return 0
    tree=$(cd "$LINK" && pwd -P)
    root=$(cat "$tree/root")
    say "compiling the device for QEMU $(cat "$tree/version"): the first time about a minute, then what has changed"
    for part in pci model; do
        mkdir -p "$tree/device/$part"
        rsync -r --checksum --delete "$TOP/qemu-device/$part/" "$tree/device/$part/"
    done
    rsync -r --checksum --delete "$headers/" "$tree/device/include/"
    run_logged plugin make -r -f "$HERE/plugin.mk" -j "$JOBS" SRC="$tree/device" OUT="$tree/out" TREE="$tree" \
        MAP="$HERE/plugin.map" || die "the device does not compile as a plugin (qemu-device/pci, qemu-device/model)"
    aside=$(aside_in "$CACHE/qemu-bin")
    mkdir "$aside/share" "$aside/modules"
    cp "$tree/out/tessera.so" "$aside/"
    ln -s "${root%/}/$LIB"/qemu/*.so "$aside/modules/"
    cp "$tree/out/accel-qtest-x86_64.so" "$aside/modules/"
    ln -s "${root%/}"/usr/share/qemu/* "${root%/}"/usr/share/seabios/* "$aside/share/"
    wrapper "$root" "$aside" >"$aside/qemu-system-x86_64"        # to be tried where it is
    chmod +x "$aside/qemu-system-x86_64"
    try "$aside/qemu-system-x86_64" "$aside/share" || die "QEMU does not take the plugin"
    wrapper "$root" "$dir" >"$aside/qemu-system-x86_64"
    publish_qemu "$aside" "$dir"
}

if [ "${1:-}" = --refresh ]; then
    locked "$APT_DIR.lock" apt_update again
    locked "$CACHE/qemu-headers.lock" prepare refresh
elif [ ! -e "$LINK/complete" ]; then
    locked "$CACHE/qemu-headers.lock" prepare
fi
headers=$("$TOP/qemu-device/build/host/headers.sh")
base=$(readlink "$LINK")
dir=$CACHE/qemu-bin/$({
    echo "$base"
    device_hash "$headers"
    hash_files qemu-device/build/qemu/plugin.{mk,map,sh}
} | sha256sum | cut -c1-16)
[ -x "$dir/qemu-system-x86_64" ] || locked "$CACHE/qemu-headers.lock" insert "$dir" "$headers"
touch -c "$dir"
echo "$dir"
