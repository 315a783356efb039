#!/usr/bin/env bash
# install.sh LIST... : installs the Debian packages named in the lists that this machine lacks.
# ASSAY_INSTALL=no prints them and stops with 1 when any is missing.
set -euo pipefail

wanted=$(sed 's/#.*//' "$@" | tr -s '[:space:]' '\n' | sed '/^$/d' | sort -u)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "assay: this machine has no apt; the build needs these (Debian names):" $wanted >&2
  exit 0  # CMake names whatever is missing
fi

missing=()
for package in $wanted; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "${ASSAY_INSTALL:-yes}" = no ]; then
  echo "assay: missing packages (ASSAY_INSTALL=no, nothing was installed). Install them with:" >&2
  echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "assay: not root and no sudo; ask someone who is to run:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "assay: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1
}
# The package lists of a fresh machine are empty or old; only refresh them when the first try fails.
if ! install; then
  if ! { "${as_root[@]}" apt-get update >"$log" 2>&1 && install; }; then
    tail -n 15 "$log" >&2
    echo "assay: installing the packages failed (above: the end of apt's output)" >&2
    exit 1
  fi
fi
