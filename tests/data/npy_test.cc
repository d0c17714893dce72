#include "lockstep/data/npy.h"

#include <limits>

#include "data_test_support.h"
#include "numpy_files.h"

namespace lockstep::data {
namespace {

using lockstep::testing::TemporaryDirectory;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The bytes of a file that NumPy wrote.
std::string numpy_file(const std::string& name) {
  const std::string& digits = numpy_files.at(name);
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

class Npy : public ::testing::Test {
 protected:
  HostTensor read(const std::string& bytes, const NpyOptions& options = {}) {
    write_file(folder_ / "array.npy", bytes);
    return read_npy(folder_ / "array.npy", options);
  }
  // The error, which always names reader and file.
  std::string refusal(const std::string& bytes, const NpyOptions& options = {}) {
    const std::string text = error_text<ValueError>([&] { (void)read(bytes, options); });
    EXPECT_THAT(text, AllOf(HasSubstr("[read_npy] "), HasSubstr("array.npy")));
    return text;
  }
  TemporaryDirectory folder_;
};

// (k - 2) * 0.75 for k = 0, 1, ..., as make_numpy_files.py has it.
std::vector<float> floats(std::int64_t count) {
  std::vector<float> values = counting<float>(count);
  for (float& value : values) value = (value - 2) * 0.75F;
  return values;
}

HostTensor floats(const Shape& shape) {
  return HostTensor::from(floats(num_elements(shape)), shape);
}

struct TypeCase {
  const char* descr;  // without the byte order
  DType dtype;
  double step;  // element k is (k - first) * step
  double first;
};

class NpyTypes : public Npy, public ::testing::WithParamInterface<TypeCase> {};

TEST_P(NpyTypes, C072_BothByteOrdersGiveTheValuesThatNumpyWrote) {
  const auto& [descr, dtype, step, first] = GetParam();
  std::vector<double> expected = counting<double>(6);
  for (double& value : expected) value = (value - first) * step;
  int files = 0;
  for (const char* order : {"|", "<", ">"}) {
    if (!numpy_files.contains(std::string(order) + descr)) continue;
    ++files;
    const HostTensor found = read(numpy_file(std::string(order) + descr));
    EXPECT_EQ(found.dtype(), dtype);
    EXPECT_TRUE(found.identical(cast(HostTensor::from(expected, {2, 3}), dtype))) << order << descr;
  }
  EXPECT_EQ(files, byte_size(dtype) == 1 ? 1 : 2);
}

INSTANTIATE_TEST_SUITE_P(
    Real, NpyTypes,
    ::testing::Values(TypeCase{"i1", int8, 21, 2}, TypeCase{"u1", uint8, 21, 0},
                      TypeCase{"i2", int16, 5000, 2}, TypeCase{"u2", uint16, 5000, 0},
                      TypeCase{"i4", int32, 3e8, 2}, TypeCase{"u4", uint32, 3e8, 0},
                      TypeCase{"i8", int64, 1099511627777.0, 2},
                      TypeCase{"u8", uint64, 1099511627777.0, 0}, TypeCase{"f2", float16, 0.75, 2},
                      TypeCase{"f4", float32, 0.75, 2}, TypeCase{"f8", float64, 0.75, 2}),
    [](const auto& param_info) { return std::string(param_info.param.descr); });

TEST_F(Npy, C072_ComplexNumbersSwapEachPart) {
  for (const char* descr : {"<c8", ">c8"}) {
    const HostTensor found = read(numpy_file(descr));
    ASSERT_EQ(found.dtype(), complex64);
    for (std::size_t k = 0; k < 6; ++k) {
      const auto at = static_cast<float>(k);
      EXPECT_EQ(found.values<std::complex<float>>()[k], std::complex<float>((at - 2) * 0.75F, at));
    }
  }
  EXPECT_EQ(read(numpy_file("<c16")).dtype(), complex128);
  EXPECT_TRUE(read(numpy_file(">c16")).identical(read(numpy_file("<c16"))));
}

TEST_F(Npy, C072_BoolsAreZeroOrOne) {
  const HostTensor found = read(numpy_file("|b1"));
  EXPECT_EQ(found.dtype(), bool_);
  EXPECT_THAT(found.values<bool>(), ElementsAre(true, false, false, true, false, false));
  const std::string header = "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}";
  EXPECT_THAT(read(npy_bytes(header, std::string("\x00\x02\xff", 3))).values<std::byte>(),
              ElementsAre(std::byte{0}, std::byte{1}, std::byte{1}));
}

TEST_F(Npy, C071_FortranOrderIsReadAsTheSameArray) {
  EXPECT_TRUE(read(numpy_file("fortran 2")).identical(floats(Shape{2, 3})));
  EXPECT_TRUE(read(numpy_file("fortran 3")).identical(floats(Shape{2, 3, 4})));
  EXPECT_TRUE(read(numpy_file("fortran 1")).identical(floats(Shape{5})));
  EXPECT_TRUE(read(numpy_file("fortran i8 big-endian")).identical(read(numpy_file("<i8"))));
  // As in the case: bytes 0 3 1 4 2 5 are the rows 0 1 2 and 3 4 5.
  const std::string header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }";
  const HostTensor found =
      read(npy_bytes(header, number_bytes<float>({0, 3, 1, 4, 2, 5}, std::endian::little)));
  EXPECT_TRUE(found.is_contiguous());
  EXPECT_THAT(found.rows(0, 1).values<float>(), ElementsAre(0, 1, 2));
  EXPECT_THAT(found.rows(1, 2).values<float>(), ElementsAre(3, 4, 5));
}

TEST_F(Npy, C071_EitherFlagIsTheSameForVectorsScalarsAndNothing) {
  for (const std::string flag : {"True", "False"}) {
    const auto file = [&](const std::string& shape, std::int64_t count) {
      return npy_bytes("{'descr': '<f4', 'fortran_order': " + flag + ", 'shape': " + shape + "}",
                       number_bytes(floats(count), std::endian::little));
    };
    EXPECT_TRUE(read(file("(4,)", 4)).identical(floats(Shape{4})));
    EXPECT_TRUE(read(file("()", 1)).identical(floats(Shape{})));
    EXPECT_EQ(read(file("(3, 0, 2)", 0)).shape(), (Shape{3, 0, 2}));
    EXPECT_TRUE(read(file("(1, 4)", 4)).identical(floats(Shape{1, 4})));
  }
  EXPECT_EQ(read(numpy_file("scalar")).values<float>()[0], floats(6).back());
  EXPECT_EQ(read(numpy_file("empty")).shape(), (Shape{0, 3}));
}

TEST_F(Npy, C072_EveryFormatVersionIsRead) {
  EXPECT_TRUE(read(numpy_file("version 2")).identical(floats(Shape{2, 3})));
  EXPECT_TRUE(read(numpy_file("version 3")).identical(floats(Shape{2, 3})));
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  header += std::string(70'000 - header.size() - 1, ' ') + "\n";
  const std::string elements = number_bytes(floats(6), std::endian::little);
  for (const int major : {2, 3}) {
    EXPECT_TRUE(read(npy_bytes(header, elements, major)).identical(floats(Shape{2, 3})));
    EXPECT_TRUE(read(gzip(npy_bytes(header, elements, major))).identical(floats(Shape{2, 3})));
  }
  for (const int major : {0, 4, 147}) {
    EXPECT_THAT(refusal(npy_bytes(header, elements, major)),
                AllOf(HasSubstr("version " + std::to_string(major) + ".0"),
                      HasSubstr("expected 1.0, 2.0 or 3.0")));
  }
}

TEST_F(Npy, C072_HeadersOfOtherSpellingAreRead) {
  const std::string elements = number_bytes(floats(6), std::endian::little);
  for (const std::string header : {
           "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}",
           "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2,3,)}",
           " \t{ 'fortran_order' : False , 'shape' : ( 2 , 3 ) , 'descr' : '<f4' , } \r\n",
           "{'descr': '=f4', 'fortran_order': False, 'shape': (2L, 3L), }",
       }) {
    EXPECT_TRUE(read(npy_bytes(header, elements)).identical(floats(Shape{2, 3}))) << header;
  }
}

TEST_F(Npy, C072_PackedFilesAreToldByContent) {
  EXPECT_TRUE(read(gzip(numpy_file("fortran 3"))).identical(floats(Shape{2, 3, 4})));
}

TEST_F(Npy, C072_RawVoidIsBFloat16OnlyWhenAskedFor) {
  const std::string file = numpy_file("bfloat16");
  EXPECT_THAT(refusal(file), AllOf(HasSubstr("'<V2'"), HasSubstr("raw void of 2 byte"),
                                   HasSubstr("NpyOptions::void_dtype"), HasSubstr("bfloat16")));
  const HostTensor found = read(file, {.void_dtype = bfloat16});
  EXPECT_TRUE(found.identical(cast(floats(Shape{6}), bfloat16)));
  EXPECT_THAT(refusal(file, {.void_dtype = DType::Float8E4M3FN}),
              AllOf(HasSubstr("'<V2'"), HasSubstr("2 byte"), HasSubstr("float8_e4m3fn"),
                    HasSubstr("takes 1")));
  EXPECT_THAT(refusal(numpy_file("float8_e4m3fn")),
              AllOf(HasSubstr("'<V1'"), HasSubstr("raw void of 1 byte"), HasSubstr("ml_dtypes")));
  EXPECT_TRUE(read(numpy_file("float8_e4m3fn"), {.void_dtype = DType::Float8E4M3FN})
                  .identical(cast(floats(Shape{6}), DType::Float8E4M3FN)));
}

TEST_F(Npy, C072_TypesThatAreNoNumbersAreNamed) {
  const auto refused = [&](const std::string& file, const char* descr, const char* meaning) {
    EXPECT_THAT(refusal(numpy_file(file)),
                AllOf(HasSubstr(descr), HasSubstr(meaning),
                      HasSubstr("expected bool, integers, floats or complex numbers"),
                      HasSubstr("Convert the array before saving it")));
  };
  refused("objects", "'|O'", "Python objects");
  refused("structure", "[('a', '<f4'), ('b', '<i4', (2,))]", "a structure of fields");
  refused("unicode field", "[('質量', '<f4')]", "a structure of fields");
  refused("text", "'<U3'", "text");
  refused("bytes", "'|S3'", "text");
  refused("dates", "'<M8[D]'", "dates or times");
}

TEST_F(Npy, TypesThatNoDTypeHasAreNamed) {
  for (const std::string descr :
       {"<f16", "<c32", "<i3", "<f", "<", "", "f4x", "<i-4", "<V0", "?", "<f+4"}) {
    EXPECT_THAT(
        refusal(npy_bytes("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (0,)}", "")),
        AllOf(HasSubstr("dtype '" + descr + "'"), HasSubstr("that no DType has")))
        << descr;
  }
}

TEST_F(Npy, C072_CutDataAreAnErrorWithSizes) {
  const std::string whole = numpy_file("<f4");
  EXPECT_THAT(refusal(whole.substr(0, whole.size() - 5)),
              AllOf(HasSubstr("is cut"), HasSubstr("float32 of shape (2, 3) take 24 bytes"),
                    HasSubstr("found 19"), HasSubstr("fetch the file again")));
  EXPECT_THAT(refusal(whole + "abc"), AllOf(HasSubstr("bytes too many"), HasSubstr("take 24 bytes"),
                                            HasSubstr("found 27")));
  for (std::size_t length = 0; length < whole.size(); ++length)
    (void)refusal(whole.substr(0, length));
  EXPECT_THAT(refusal(whole.substr(0, 9)), HasSubstr("cut inside its header"));
  EXPECT_THAT(refusal(whole.substr(0, 50)),
              AllOf(HasSubstr("claims a header of 118 bytes"), HasSubstr("40 are left")));
  EXPECT_THAT(refusal(gzip(whole.substr(0, 50))), HasSubstr("cut inside its header"));
}

TEST_F(Npy, AnotherMagicIsShown) {
  EXPECT_THAT(refusal("PK\x03\x04 an archive"),
              AllOf(HasSubstr("is no NPY file"), HasSubstr("50 4b 03 04 20 61"),
                    HasSubstr("expected 93 4e 55 4d 50 59")));
  EXPECT_THAT(refusal("\x93N"), HasSubstr("begins with bytes 93 4e"));
  EXPECT_THAT(refusal(""), HasSubstr("(none)"));
}

TEST_F(Npy, BrokenHeadersSayWhereAndWhat) {
  const auto broken = [&](const std::string& header) {
    const std::string text = refusal(npy_bytes(header, std::string(24, 'x')));
    EXPECT_THAT(text, HasSubstr("has a broken header: expected "));
    return text;
  };
  EXPECT_THAT(broken(""), AllOf(HasSubstr("expected '{'"), HasSubstr("byte 0")));
  EXPECT_THAT(broken("{}"), HasSubstr("a key 'descr'"));
  EXPECT_THAT(broken("{'descr': '<f4', 'shape': (6,)}"), HasSubstr("a key 'fortran_order'"));
  EXPECT_THAT(broken("{'descr': '<f4', 'fortran_order': False}"), HasSubstr("a key 'shape'"));
  const std::string open = "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)";
  EXPECT_THAT(broken(open),
              AllOf(HasSubstr("expected '}'"), HasSubstr("byte " + std::to_string(open.size()))));
  EXPECT_THAT(broken("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}"),
              HasSubstr("each of the keys"));
  EXPECT_THAT(broken("{'other': 1, 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}"),
              AllOf(HasSubstr("each of the keys"), HasSubstr("'other'")));
  EXPECT_THAT(broken("{'descr': '<f4', 'fortran_order': 1, 'shape': (6,)}"),
              HasSubstr("True or False"));
  EXPECT_THAT(broken("{'descr': '<f4', 'fortran_order': False, 'shape': (-6,)}"),
              HasSubstr("a length that is not negative"));
  EXPECT_THAT(broken("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}"),
              HasSubstr("below 2^63"));
  EXPECT_THAT(broken("{'descr': '<f4', 'fortran_order': False, 'shape': 6}"),
              HasSubstr("expected '('"));
  EXPECT_THAT(broken("{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} import os"),
              HasSubstr("the end of the header"));
  EXPECT_THAT(broken("{'descr': __import__('os'), 'fortran_order': False, 'shape': (6,)}"),
              AllOf(HasSubstr("a quoted text"), HasSubstr("__import__")));
  EXPECT_THAT(broken("{'descr': '<f4"), HasSubstr("a closing quote"));
  EXPECT_THAT(broken("{'descr': [('a', '<f4')"), HasSubstr("a closing bracket"));
}

TEST_F(Npy, HugeClaimsAreRefusedBeforeMemoryIsTaken) {
  const auto claims = [](const std::string& shape) {
    return npy_bytes("{'descr': '<f8', 'fortran_order': True, 'shape': " + shape + "}", "x");
  };
  EXPECT_THAT(
      refusal(claims("(1000000, 1000000)")),
      AllOf(HasSubstr("is cut"), HasSubstr("take 8000000000000 bytes"), HasSubstr("found 1")));
  EXPECT_THAT(refusal(claims("(9223372036854775807, 2)")),
              HasSubstr("more bytes than 63 bits count"));
  EXPECT_THAT(refusal(claims("(9223372036854775807, 0, 9223372036854775807)")),
              HasSubstr("more bytes than 63 bits count"));
  std::string header_length = npy_bytes("", "", 2);
  header_length.replace(8, 4, number_bytes<std::uint32_t>({0xfffffff0U}, std::endian::little));
  EXPECT_THAT(refusal(header_length),
              AllOf(HasSubstr("claims a header of 4294967280 bytes"), HasSubstr("0 are left")));
  EXPECT_THAT(refusal(gzip(header_length)), HasSubstr("claims a header of 4294967280 bytes"));
}

}  // namespace
}  // namespace lockstep::data
