#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tsr-host: run a program with a Tessera device of its own, which is in its process: no guest, no driver, no rights.
set -eu

usage() {
    cat <<'TEXT'
usage: tsr-host [options] PROGRAM [argument ...]

Runs PROGRAM with /dev/dri/renderD128 and /dev/dri/card0 being a Tessera GPU that exists in that process alone.

  --threads N      worker threads of the device (default: as many as processors, 64 at most)
  --cores N        shader cores (default 16)
  --vram SIZE      local memory, for example 256M (default: none)
  --timeout MS     time without progress after which a job is stopped (default 5000)
  --limit MS       time after which a job is stopped in any case (default 120000)
  --library FILE   libtessera-host.so (default: the one of this installation)
  --help, --version
TEXT
}

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
# as it is installed, and as it is built
library=$here/../lib/tessera/libtessera-host.so
[ -f "$library" ] || library=$here/../lib/libtessera-host.so
while [ $# -gt 0 ]; do
    case $1 in
    --help) usage; exit 0 ;;
    --version) echo "tsr-host 1.0.0"; exit 0 ;;
    --threads | --cores | --vram | --timeout | --limit | --library)
        [ $# -gt 1 ] || { echo "tsr-host: error: $1 needs a value" >&2; exit 2; }
        case $1 in
        --threads) export TSR_HOST_THREADS="$2" ;;
        --cores) export TSR_HOST_CORES="$2" ;;
        --vram) export TSR_HOST_VRAM="$2" ;;
        --timeout) export TSR_HOST_TIMEOUT_MS="$2" ;;
        --limit) export TSR_HOST_LIMIT_MS="$2" ;;
        --library) library=$2 ;;
        esac
        shift 2 ;;
    --) shift; break ;;
    -*) echo "tsr-host: error: unknown option $1 (--help lists them)" >&2; exit 2 ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || { usage >&2; exit 2; }
[ -f "$library" ] || { echo "tsr-host: error: $library is not there" >&2; exit 2; }
LD_PRELOAD=$(readlink -f "$library")${LD_PRELOAD:+:$LD_PRELOAD} exec "$@"
