# `cmake --install` gives a package that find_package(Lockstep) finds, the tool, and the CPU plugin.
