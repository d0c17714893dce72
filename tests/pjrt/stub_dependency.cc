// See stub_gpu_missing_dependency in CMakeLists.txt.
extern "C" int stub_dependency() {
  return 1;
}
