// Custom calls into this process.
#include "xla/ffi/api/ffi.h"
#include "pjrt_test_support.h"

namespace lockstep::pjrt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

xla::ffi::Error triple(xla::ffi::Buffer<xla::ffi::F32> x,
                       xla::ffi::ResultBuffer<xla::ffi::F32> result) {
  for (std::size_t i = 0; i < x.element_count(); ++i) {
    if (x.typed_data()[i] < 0)
      return xla::ffi::Error::InvalidArgument("negative numbers frighten me");
    result->typed_data()[i] = 3 * x.typed_data()[i];
  }
  return xla::ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER(triple_handler, triple,
                       xla::ffi::Ffi::Bind()
                           .Arg<xla::ffi::Buffer<xla::ffi::F32>>()
                           .Ret<xla::ffi::Buffer<xla::ffi::F32>>());

constexpr const char* triple_program = R"(module @triple {
  func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    %result = stablehlo.custom_call @lockstep_test_triple(%x) {api_version = 4 : i32}
        : (tensor<3xf32>) -> tensor<3xf32>
    return %result : tensor<3xf32>
  }
})";

class FfiTest : public BothPlugins {
 protected:
  void SetUp() override {
    if (is_older()) {
      GTEST_SKIP()
          << "the plugin of API 0.81 has an earlier version of XLA's FFI, refuses handlers "
             "of this one and drops (and leaks) the error that says so";
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Cpu, FfiTest, ::testing::ValuesIn(both_plugins), plugin_name);

TEST_P(FfiTest, AHandlerIsCalledFromAProgram) {
  const auto client = Client::create(Plugin::load(path()));
  client->register_ffi_handler("lockstep_test_triple", reinterpret_cast<void*>(triple_handler));
  const auto program = client->compile(triple_program, {});
  const auto tripled = run(*program, {put_floats({1, 2, 3}, client->devices()[0])});
  EXPECT_THAT(get<float>(*tripled[0], 3), ElementsAre(3, 6, 9));
}

TEST_P(FfiTest, AHandlersErrorReachesTheCaller) {
  const auto client = Client::create(Plugin::load(path()));
  client->register_ffi_handler("lockstep_test_triple", reinterpret_cast<void*>(triple_handler));
  const auto program = client->compile(triple_program, {});
  EXPECT_THAT(error_text<RuntimeError>([&] {
                const auto x = put_floats({1, -2, 3}, client->devices()[0]);
                run(*program, {x})[0]->ready_event().await();
              }),
              HasSubstr("negative numbers frighten me"));
}

TEST(StubFfi, APluginWithoutTheExtensionIsNamed) {
  const std::string path = stub_path("stub_gpu_good");
  const auto client = Client::create(Plugin::load(path));
  EXPECT_THAT(error_text<RuntimeError>([&] {
                client->register_ffi_handler("lockstep_test_triple",
                                             reinterpret_cast<void*>(triple_handler));
              }),
              ::testing::AllOf(HasSubstr(path), HasSubstr("'lockstep_test_triple'"),
                               HasSubstr("no FFI extension")));
}

}  // namespace
}  // namespace lockstep::pjrt
