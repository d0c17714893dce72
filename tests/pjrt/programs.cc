#include <fmt/format.h>

#include "pjrt_test_support.h"

namespace lockstep::pjrt {

std::string add_program(std::int64_t size, bool donates) {
  return fmt::format(R"(module @add {{
  func.func public @main(%x: tensor<{0}xf32>{1}, %y: tensor<{0}xf32>) -> tensor<{0}xf32> {{
    %sum = stablehlo.add %x, %y : tensor<{0}xf32>
    return %sum : tensor<{0}xf32>
  }}
}})",
                     size, donates ? " {tf.aliasing_output = 0 : i32}" : "");
}

std::string all_reduce_program(std::int64_t devices) {
  return fmt::format(R"(module @all_reduce attributes {{mhlo.num_partitions = {0} : i32}} {{
  sdy.mesh @mesh = <["data"={0}]>
  func.func public @main(
      %w: tensor<4xf32> {{tf.aliasing_output = 0 : i32, sdy.sharding = #sdy.sharding<@mesh, [{{}}]>}},
      %x: tensor<{1}x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"data"}}, {{}}]>}})
      -> (tensor<4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}]>}}) {{
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<{1}x4xf32>, tensor<f32>) -> tensor<4xf32>
    %result = stablehlo.add %w, %sum : tensor<4xf32>
    return %result : tensor<4xf32>
  }}
}})",
                     devices, 2 * devices);
}

}  // namespace lockstep::pjrt
