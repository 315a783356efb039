# The commit that `--version` and every record name. "unknown" outside a git checkout.
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --short=12 HEAD
                OUTPUT_VARIABLE ASSAY_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT ASSAY_COMMIT)
  set(ASSAY_COMMIT unknown)
endif()
string(JOIN " " ASSAY_GPU_BACKEND ${ASSAY_GPU} ${ASSAY_GPU_ARCHITECTURES})
if(ASSAY_GPU STREQUAL "off")
  set(ASSAY_GPU_BACKEND none)
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.h.in ${PROJECT_BINARY_DIR}/generated/assay_version.h)
include_directories(${PROJECT_BINARY_DIR}/generated)
