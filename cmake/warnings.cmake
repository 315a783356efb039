# Strict warnings for our sources only; third-party headers are system includes.
add_library(assay_warnings INTERFACE)
target_compile_options(assay_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast
                       -Woverloaded-virtual -Wconversion -Wno-sign-conversion $<$<BOOL:${ASSAY_WERROR}>:-Werror>)
