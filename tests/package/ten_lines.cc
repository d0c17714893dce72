#include <lockstep/lockstep.h>

#include <cstdio>
namespace ls = lockstep;

int main() {
  auto squares = ls::jit([](const ls::Array& x) { return ls::sum(x * x); });
  const auto x = ls::HostTensor::from(std::vector<float>{1, 2, 3}, {3});
  std::printf("%g on %s\n", squares(ls::Array(x)).item<double>(),
              ls::default_device().to_string().c_str());
}
