# Strict warnings for our sources only; third-party headers are system includes.
add_library(assay_warnings INTERFACE)
target_compile_options(assay_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast
                       -Woverloaded-virtual -Wconversion -Wno-sign-conversion $<$<BOOL:${ASSAY_WERROR}>:-Werror>)
# GCC 12 sees overlap in std::string's operator+ where there is none (GCC bug 105651).
target_compile_options(assay_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
