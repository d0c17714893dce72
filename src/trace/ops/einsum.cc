// Einstein summation, as a chain of dot_generals.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/linear_algebra.h"
#include "lockstep/trace/reductions.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/literals.h"
#include "trace/rule_support.h"

namespace lockstep {
namespace {

// An operand and the letter of each of its axes. Axes under "..." get the letters '0', '1', ...
// counted from the right.
struct Term {
  Array array;
  std::string letters;
};

std::string expand_ellipsis(std::string_view text, std::int64_t hidden) {
  std::string letters;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 3) == "...") {
      for (std::int64_t h = hidden; h-- > 0;) letters += static_cast<char>('0' + h);
      i += 2;
    } else {
      letters += text[i];
    }
  }
  return letters;
}

struct Parsed {
  std::vector<std::string> inputs;
  std::string output;
};

[[noreturn]] void refuse(std::string_view subscripts, std::string_view what) {
  throw_value_error("einsum", fmt::format("'{}': {}", subscripts, what));
}

std::int64_t num_letters(std::string_view part) {
  return std::count_if(part.begin(), part.end(), [](char c) { return c != '.'; });
}

// Letters and at most one "...".
void check_letters(std::string_view subscripts, std::string part) {
  if (const std::size_t dots = part.find("..."); dots != std::string::npos) part.erase(dots, 3);
  for (const char c : part) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) continue;
    refuse(subscripts, fmt::format("'{}' is not a letter, ',', '...' or '->'", c));
  }
}

Parsed parse(std::string_view subscripts, const std::vector<Array>& operands) {
  std::string text(subscripts);
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  std::vector<std::string> parts(1);
  for (const char c : left) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts.size() != operands.size()) {
    refuse(subscripts, fmt::format("names {} operands, got {}", parts.size(), operands.size()));
  }
  Parsed parsed;
  std::int64_t most_hidden = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    check_letters(subscripts, parts[i]);
    const bool has_dots = parts[i].find("...") != std::string::npos;
    const std::int64_t hidden = operands[i].ndim() - num_letters(parts[i]);
    if (hidden < 0 || (hidden > 0 && !has_dots) || hidden > 9) {
      refuse(subscripts,
             fmt::format("'{}' names {} axes, operand {} is {}", parts[i], num_letters(parts[i]), i,
                         to_string(operands[i].abstract_value())));
    }
    most_hidden = std::max(most_hidden, hidden);
    parsed.inputs.push_back(expand_ellipsis(parts[i], hidden));
  }
  std::map<char, int> uses;
  for (const std::string& input : parsed.inputs) {
    for (const char c : input) ++uses[c];
  }
  if (arrow == std::string::npos) {
    for (std::int64_t h = most_hidden; h-- > 0;) parsed.output += static_cast<char>('0' + h);
    for (const auto& [letter, count] : uses) {
      if (count == 1 && std::isalpha(static_cast<unsigned char>(letter)) != 0) {
        parsed.output += letter;
      }
    }
    return parsed;
  }
  check_letters(subscripts, text.substr(arrow + 2));
  parsed.output = expand_ellipsis(text.substr(arrow + 2), most_hidden);
  for (std::size_t i = 0; i < parsed.output.size(); ++i) {
    const char c = parsed.output[i];
    if (!uses.contains(c)) {
      refuse(subscripts, fmt::format("the result's letter '{}' stands in no operand", c));
    }
    if (parsed.output.find(c) != i) {
      refuse(subscripts, fmt::format("the result names '{}' twice", c));
    }
  }
  return parsed;
}

// Letters that repeat within one operand: its diagonal.
Term with_distinct_letters(Term term) {
  for (std::size_t second = 0; second < term.letters.size();) {
    const std::size_t first = term.letters.find(term.letters[second]);
    if (first == second) {
      ++second;
      continue;
    }
    const auto a = static_cast<std::int64_t>(first);
    const auto b = static_cast<std::int64_t>(second);
    const Shape& shape = term.array.shape();
    const Array on_diagonal =
        equal(broadcasted_iota(DType::Int32, shape, a), broadcasted_iota(DType::Int32, shape, b));
    term.array = sum(select(on_diagonal, term.array, zeros_like(term.array)),
                     {.axis = b, .dtype = term.array.dtype()});
    term.letters.erase(second, 1);
  }
  return term;
}

// Sums over the axes whose letters `wanted` does not name.
Term summed(Term term, const std::string& wanted) {
  std::vector<std::int64_t> axes;
  std::string rest;
  for (std::size_t i = 0; i < term.letters.size(); ++i) {
    if (wanted.find(term.letters[i]) == std::string::npos) {
      axes.push_back(static_cast<std::int64_t>(i));
    } else {
      rest += term.letters[i];
    }
  }
  if (!axes.empty()) term.array = sum(term.array, {.axis = axes, .dtype = term.array.dtype()});
  return {term.array, rest};
}

// One axis of length 1 under "..." (or a letter) of one operand broadcasts: it is dropped there.
Term without_ones(Term term, const std::map<char, std::int64_t>& lengths) {
  std::vector<std::int64_t> axes;
  std::string rest;
  for (std::size_t i = 0; i < term.letters.size(); ++i) {
    if (term.array.shape()[i] == 1 && lengths.at(term.letters[i]) != 1) {
      axes.push_back(static_cast<std::int64_t>(i));
    } else {
      rest += term.letters[i];
    }
  }
  term.array = reshape(term.array, without_axes(term.array.shape(), axes));
  term.letters = rest;
  return term;
}

Term product(const Term& a, const Term& b, const std::string& wanted, const DotOptions& options) {
  DotDimensionNumbers d;
  std::string letters;
  for (std::size_t i = 0; i < a.letters.size(); ++i) {
    const std::size_t j = b.letters.find(a.letters[i]);
    if (j == std::string::npos) continue;
    const bool is_batch = wanted.find(a.letters[i]) != std::string::npos;
    (is_batch ? d.lhs_batch : d.lhs_contracting).push_back(static_cast<std::int64_t>(i));
    (is_batch ? d.rhs_batch : d.rhs_contracting).push_back(static_cast<std::int64_t>(j));
    if (is_batch) letters += a.letters[i];
  }
  for (const char c : a.letters) {
    if (b.letters.find(c) == std::string::npos) letters += c;
  }
  for (const char c : b.letters) {
    if (a.letters.find(c) == std::string::npos) letters += c;
  }
  return {dot_general(a.array, b.array, d, options), letters};
}

}  // namespace

Array einsum(std::string_view subscripts, const std::vector<Array>& operands,
             const DotOptions& options) {
  std::vector<Array> arrays;
  for (const Array& array : operands) arrays.push_back(operand("einsum", array));
  const Parsed parsed = parse(subscripts, arrays);

  std::map<char, std::int64_t> lengths;
  std::map<char, std::size_t> owner;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    for (std::size_t axis = 0; axis < parsed.inputs[i].size(); ++axis) {
      const char c = parsed.inputs[i][axis];
      const std::int64_t length = arrays[i].shape()[axis];
      const auto [found, is_new] = lengths.try_emplace(c, length);
      if (is_new || found->second == 1) {
        found->second = length;
        owner[c] = i;
      } else if (length != 1 && length != found->second) {
        refuse(subscripts,
               fmt::format("'{}' has length {} in operand {} ({}) and {} in operand {} ({})", c,
                           found->second, owner[c], to_string(arrays[owner[c]].abstract_value()),
                           length, i, to_string(arrays[i].abstract_value())));
      }
    }
  }

  const PromotedType type = result_type(arrays);
  std::vector<Term> terms;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const Array converted = convert_and_broadcast(arrays[i], type, arrays[i].shape());
    terms.push_back(with_distinct_letters({converted, parsed.inputs[i]}));
    terms.back() = without_ones(std::move(terms.back()), lengths);
  }
  Term result = terms[0];
  for (std::size_t i = 0; i < terms.size(); ++i) {
    std::string wanted = parsed.output;  // and whatever comes later
    for (std::size_t j = i + 1; j < terms.size(); ++j) wanted += terms[j].letters;
    if (i == 0) {
      result = summed(std::move(result), wanted);
    } else {
      result = product(result, summed(terms[i], wanted + result.letters), wanted, options);
      result = summed(std::move(result), wanted);
    }
  }
  std::vector<std::int64_t> order;
  for (const char c : parsed.output) {
    const std::size_t place = result.letters.find(c);
    if (place != std::string::npos) order.push_back(static_cast<std::int64_t>(place));
  }
  Array array = transpose(result.array, order);
  if (options.preferred_element_type && array.dtype() != *options.preferred_element_type) {
    array = astype(array, *options.preferred_element_type);
  }
  return array;
}

}  // namespace lockstep
