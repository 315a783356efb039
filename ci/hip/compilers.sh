# shellcheck shell=bash
# Which compiler makes code for which AMD GPU, sourced by ci/check_hip.sh:
#   gfx90a   Debian's hipcc (clang 15)
#   gfx942   Debian's clang-19 with the HIP headers and device libraries of hipcc
#   gfx950   clang 20 out of a wheel (ci/hip/requirements.txt), with the same and with clang-19's HIP wrappers, which the
#            wheel leaves out
hip_home=build/hip-compilers
hip_python=$hip_home/venv/bin/python
hip_flags=(-x hip -std=c++20 -O3 -Wall -Wextra -Werror -DASSAY_GPU_HIP=1 -I. --cuda-device-only -S)

has() {
  command -v "$1" >/dev/null || { echo "$1 is not installed (ci/packages-hip.txt)" && false; }
}

# Device libraries of 5.2.3 know chips up to gfx940. All that they have of a single chip is its number.
prepare_device_libraries() {
  local chip made
  rm -rf "$hip_home/bitcode"
  mkdir -p "$hip_home/bitcode"
  ln -s /usr/lib/x86_64-linux-gnu/amdgcn/bitcode/*.bc "$hip_home/bitcode"
  for chip in 942:9402 950:9500; do
    made=$hip_home/bitcode/oclc_isa_version_${chip%:*}.bc
    [ -e "$made" ] || clang-19 -x cl --target=amdgcn-amd-amdhsa -nogpulib -emit-llvm -c -o "$made" - \
      <<<"const __constant int __oclc_ISA_version = ${chip#*:};"
  done
}

prepare_clang20() {
  local wanted=ci/hip/requirements.txt include=$hip_home/clang20/include
  if ! cmp -s "$wanted" "$hip_home/venv/installed.txt"; then
    rm -rf "$hip_home/venv"
    python3 -m venv "$hip_home/venv"
    "$hip_python" -m pip install --quiet --disable-pip-version-check --no-compile --no-deps -r "$wanted" ||
      { echo "the wheel of $wanted is not to be had from PyPI" && return 1; }
    cp "$wanted" "$hip_home/venv/installed.txt"
  fi
  rm -rf "$include"
  mkdir -p "$include"
  ln -s "$PWD/$hip_home"/venv/lib/python3*/site-packages/ziglang/lib/include/* "$include"
  ln -s /usr/lib/llvm-19/lib/clang/19/include/{__clang_hip*,__clang_cuda*,cuda_wrappers} "$include"
}

# prepare ARCHITECTURE: 0 when it can be compiled for, 1 when its compiler is not to be had here, with a line that says why.
prepare() {
  case $1 in
    gfx90a) has hipcc ;;
    gfx942) has hipcc && has clang++-19 && prepare_device_libraries ;;
    gfx950) has hipcc && has clang++-19 && prepare_device_libraries && prepare_clang20 ;;
    *) echo "ci/hip/compilers.sh names no compiler for it" && false ;;
  esac
}

# compile ARCHITECTURE SOURCE ASSEMBLY
compile() {
  local debian=(--hip-version=5.2.3 --rocm-path=/usr --rocm-device-lib-path="$hip_home/bitcode")
  case $1 in
    # hipcc asks the driver for the machine's own GPU although one is named; there may be none.
    gfx90a) hipcc "${hip_flags[@]}" -Wno-unused-command-line-argument --offload-arch="$1" "$2" -o "$3" \
      2> >(grep -v -E 'rocm_agent_enumerator|File "/|^ +[a-z]|Traceback|FileNotFoundError|\^' >&2) ;;
    gfx942) clang++-19 "${hip_flags[@]}" "${debian[@]}" --offload-arch="$1" "$2" -o "$3" ;;
    gfx950) "$hip_python" -m ziglang clang --target=x86_64-linux-gnu -resource-dir "$hip_home/clang20" \
      -mcode-object-version=5 "${hip_flags[@]}" "${debian[@]}" --offload-arch="$1" "$2" -o "$3" ;;
  esac
}
