# `make package`: a .deb and a tarball that can lie anywhere, for any machine whose glibc and libstdc++ are not older than
# this one's. The other libraries travel with the programs, in lib/assay, because Debian and Ubuntu have them in versions
# of their own.
include(GNUInstallDirs)
set(ASSAY_DATA_DIR ${CMAKE_INSTALL_DATADIR}/assay)

foreach(program assay assay-engine)
  # RPATH rather than RUNPATH: it also serves the libraries that our libraries ask for.
  set_target_properties(${program} PROPERTIES INSTALL_RPATH "\$ORIGIN/../lib/assay")
  target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
endforeach()
install(TARGETS assay assay-engine RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# Configs name models and baselines by their place beside them, as in the source tree.
install(DIRECTORY configs DESTINATION ${ASSAY_DATA_DIR})
install(DIRECTORY ci/baselines DESTINATION ${ASSAY_DATA_DIR}/ci)
install(DIRECTORY models/tiny-moe DESTINATION ${ASSAY_DATA_DIR}/models PATTERN "*golden*" EXCLUDE)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(CODE [[
  file(GET_RUNTIME_DEPENDENCIES
    EXECUTABLES "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/bin/assay" "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/bin/assay-engine"
    RESOLVED_DEPENDENCIES_VAR libraries
    # The C and C++ runtimes are the machine's: the newest of them serves everything, and two of them serve nothing.
    PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|util|nsl|stdc\\+\\+|gcc_s)\\.so")
  file(INSTALL ${libraries} DESTINATION "${CMAKE_INSTALL_PREFIX}/lib/assay" FOLLOW_SYMLINK_CHAIN)
]])

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME assay)
set(CPACK_PACKAGE_VENDOR "assay")
set(CPACK_PACKAGE_CONTACT "assay maintainers <maintainers@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Regression gate for LLM serving engines")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_VERSION "${PROJECT_VERSION}+git${ASSAY_COMMIT}")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.36), libstdc++6 (>= 12)")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ca-certificates, git")
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
