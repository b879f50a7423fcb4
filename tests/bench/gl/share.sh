#!/bin/bash
# SPDX-License-Identifier: MIT
#
# share.sh DIR PROGRAM: make DIR what a guest mounts to run PROGRAM with Mesa's llvmpipe, none of which is in its
# initramfs: the program, the host's EGL, GLES and software rasteriser with all libraries they need, and `run`,
# which starts the program with them.
set -e
dir=$1 program=$2
libs=/usr/lib/x86_64-linux-gnu

rm -rf "$dir"
mkdir -p "$dir/lib" "$dir/dri"
cp "$program" "$dir/program"
for file in "$libs"/dri/swrast_dri.so "$libs"/dri/kms_swrast_dri.so; do
    [ ! -e "$file" ] || cp -L "$file" "$dir/dri/"
done
[ -e "$dir/dri/swrast_dri.so" ] || { echo "share.sh: no $libs/dri/swrast_dri.so (package libgl1-mesa-dri)" >&2; exit 1; }
cp /usr/share/glvnd/egl_vendor.d/50_mesa.json "$dir/"
cp -L "$libs"/libEGL_mesa.so.0 "$dir/lib/"
# libgallium is what newer Mesas put all drivers into
ldd "$program" "$libs"/libEGL_mesa.so.0 "$dir"/dri/*.so "$libs"/libgallium-*.so 2>/dev/null |
    awk '$2 == "=>" && $3 ~ "^/" { print $1, $3 }' | sort -u |
    while read -r name path; do
        # the guest has these, and all of its programs have to agree on them
        case $name in libc.so.6 | libm.so.6 | ld-linux* | libtessera*.so.*) continue ;; esac
        cp -L "$path" "$dir/lib/$name"
    done
cat >"$dir/run" <<'EOF'
#!/bin/sh
here=${0%/*}
# Large pages for the memory of the GPU, as Debian has them for the memory of processes: see Documentation/guide/graphics.md.
echo within_size >/sys/kernel/mm/transparent_hugepage/shmem_enabled
export LD_LIBRARY_PATH=$here/lib LIBGL_DRIVERS_PATH=$here/dri __EGL_VENDOR_LIBRARY_FILENAMES=$here/50_mesa.json
exec "$here/program" "$@"
EOF
chmod +x "$dir/run"
