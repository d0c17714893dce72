// Einstein summation, as a sequence of dot_generals of two operands.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

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

using Axes = std::vector<std::int64_t>;

// An operand with a letter for each axis. The axes of "..." get letters no one can type.
struct Term {
  Array array;
  std::string letters;
};

constexpr char first_ellipsis_letter = '\x01';

[[noreturn]] void refuse(std::string_view subscripts, std::string_view what) {
  throw_value_error("einsum", fmt::format("'{}': {}", subscripts, what));
}

// `text` with "..." written out for `ndim` axes, and its letters checked.
std::string expanded(std::string_view subscripts, std::string text, std::int64_t ndim) {
  const std::size_t dots = text.find("...");
  const auto named =
      static_cast<std::int64_t>(dots == std::string::npos ? text.size() : text.size() - 3);
  if (dots == std::string::npos ? named != ndim : named > ndim) {
    refuse(subscripts,
           fmt::format("'{}' names {} axes of an operand that has {}", text, named, ndim));
  }
  if (dots != std::string::npos) {
    // Aligned at their end, so that shorter ones broadcast as in NumPy.
    std::string hidden;
    for (std::int64_t i = ndim - named; i-- > 0;)
      hidden += static_cast<char>(first_ellipsis_letter + i);
    text.replace(dots, 3, hidden);
  }
  for (const char letter : text) {
    const bool is_hidden = letter >= first_ellipsis_letter && letter < first_ellipsis_letter + 16;
    if (!is_hidden && std::isalpha(static_cast<unsigned char>(letter)) == 0) {
      refuse(subscripts, fmt::format("'{}' is no letter", letter));
    }
  }
  return text;
}

// A letter that repeats within an operand: its diagonal.
Term without_repeats(Term term) {
  for (std::size_t i = 0; i < term.letters.size(); ++i) {
    const std::size_t other = term.letters.find(term.letters[i], i + 1);
    if (other == std::string::npos) continue;
    const Shape& shape = term.array.shape();
    const Array row = broadcasted_iota(DType::Int32, shape, static_cast<std::int64_t>(i));
    const Array column = broadcasted_iota(DType::Int32, shape, static_cast<std::int64_t>(other));
    term.array = sum(where(equal(row, column), term.array, zeros_like(term.array)),
                     {.axis = static_cast<std::int64_t>(other)});
    term.letters.erase(other, 1);
    return without_repeats(std::move(term));
  }
  return term;
}

// Sums the axes whose letters nobody else uses.
Term summed(Term term, const std::string& used) {
  Axes axes;
  std::string letters;
  for (std::size_t i = 0; i < term.letters.size(); ++i) {
    if (used.find(term.letters[i]) == std::string::npos) {
      axes.push_back(static_cast<std::int64_t>(i));
    } else {
      letters += term.letters[i];
    }
  }
  if (axes.empty()) return term;
  const DType dtype = term.array.dtype();
  return {sum(term.array, {.axis = AxisSet(axes), .dtype = dtype}), letters};
}

// The product of two terms, summed over letters that are not in `kept`.
Term product(Term a, Term b, const std::string& kept, const DotOptions& options) {
  a = summed(std::move(a), kept + b.letters);
  b = summed(std::move(b), kept + a.letters);
  DotDimensionNumbers axes;
  std::string batch;
  std::string free_a;
  std::string free_b;
  for (std::size_t i = 0; i < a.letters.size(); ++i) {
    const char letter = a.letters[i];
    const std::size_t other = b.letters.find(letter);
    if (other == std::string::npos) {
      free_a += letter;
    } else if (kept.find(letter) == std::string::npos) {
      axes.lhs_contracting.push_back(static_cast<std::int64_t>(i));
      axes.rhs_contracting.push_back(static_cast<std::int64_t>(other));
    } else {
      axes.lhs_batch.push_back(static_cast<std::int64_t>(i));
      axes.rhs_batch.push_back(static_cast<std::int64_t>(other));
      batch += letter;
    }
  }
  for (const char letter : b.letters) {
    if (a.letters.find(letter) == std::string::npos) free_b += letter;
  }
  return {dot_general(a.array, b.array, axes, options), batch + free_a + free_b};
}

Term transposed_to(const Term& term, const std::string& letters) {
  Axes permutation;
  for (const char letter : letters)
    permutation.push_back(static_cast<std::int64_t>(term.letters.find(letter)));
  return {transpose(term.array, permutation), letters};
}

// The letters that occur once, in alphabetical order, after the hidden ones.
std::string implied_output(const std::vector<Term>& terms) {
  std::map<char, int> counts;
  for (const Term& term : terms) {
    for (const char letter : term.letters) ++counts[letter];
  }
  std::string hidden;
  std::string once;
  for (const auto& [letter, count] : counts) {
    if (letter < ' ') {
      hidden.insert(hidden.begin(), letter);
    } else if (count == 1) {
      once += letter;
    }
  }
  return hidden + once;
}

// All operands of a letter must agree in its length; hidden letters broadcast from 1.
void match_lengths(std::string_view subscripts, std::vector<Term>& terms) {
  std::map<char, std::pair<std::int64_t, std::size_t>>
      lengths;  // and the first operand that has it
  for (std::size_t t = 0; t < terms.size(); ++t) {
    for (std::size_t i = 0; i < terms[t].letters.size(); ++i) {
      const std::int64_t length = terms[t].array.shape()[i];
      const auto [entry, is_new] = lengths.try_emplace(terms[t].letters[i], length, t);
      if (is_new || entry->second.first == length) continue;
      const bool is_hidden = terms[t].letters[i] < ' ';
      if (is_hidden && (length == 1 || entry->second.first == 1)) {
        entry->second.first = std::max(length, entry->second.first);
        continue;
      }
      refuse(subscripts,
             fmt::format("'{}' is {} in operand {} and {} in operand {}",
                         is_hidden ? std::string("...") : std::string(1, terms[t].letters[i]),
                         entry->second.first, entry->second.second, length, t));
    }
  }
  for (Term& term : terms) {
    Shape shape;
    for (const char letter : term.letters) shape.push_back(lengths.at(letter).first);
    term.array = broadcast_to(term.array, shape);
  }
}

}  // namespace

Array einsum(std::string_view subscripts, const std::vector<Array>& operands,
             const DotOptions& options) {
  std::string text(subscripts);
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const std::size_t arrow = text.find("->");
  std::string inputs = text.substr(0, arrow);
  std::vector<Term> terms;
  std::size_t longest_hidden = 0;
  for (std::size_t begin = 0; begin <= inputs.size();) {
    const std::size_t end = std::min(inputs.find(',', begin), inputs.size());
    if (terms.size() == operands.size())
      refuse(subscripts, fmt::format("it names more operands than the {} given", operands.size()));
    const Array value = operand("einsum", operands[terms.size()]);
    Term term{value, expanded(subscripts, inputs.substr(begin, end - begin), value.ndim())};
    longest_hidden = std::max<std::size_t>(
        longest_hidden,
        static_cast<std::size_t>(std::count_if(term.letters.begin(), term.letters.end(),
                                               [](char c) { return c < ' '; })));
    terms.push_back(without_repeats(std::move(term)));
    begin = end + 1;
  }
  if (terms.size() != operands.size()) {
    refuse(subscripts,
           fmt::format("it names {} operands, but {} are given", terms.size(), operands.size()));
  }
  match_lengths(subscripts, terms);

  std::string output;
  if (arrow == std::string::npos) {
    output = implied_output(terms);
  } else {
    output = text.substr(arrow + 2);
    const std::size_t dots = output.find("...");
    const std::size_t named = dots == std::string::npos ? output.size() : output.size() - 3;
    output = expanded(
        subscripts, output,
        static_cast<std::int64_t>(dots == std::string::npos ? named : named + longest_hidden));
  }
  for (std::size_t i = 0; i < output.size(); ++i) {
    const bool is_known = std::any_of(terms.begin(), terms.end(), [&](const Term& term) {
      return term.letters.find(output[i]) != std::string::npos;
    });
    if (!is_known || output.find(output[i], i + 1) != std::string::npos) {
      refuse(subscripts,
             fmt::format("the result's '{}' must occur in an operand, and once in the result",
                         output[i]));
    }
  }

  Term result = std::move(terms.front());
  for (std::size_t t = 1; t < terms.size(); ++t) {
    std::string kept = output;
    for (std::size_t later = t + 1; later < terms.size(); ++later) kept += terms[later].letters;
    result = product(std::move(result), std::move(terms[t]), kept, options);
  }
  result = summed(std::move(result), output);
  return transposed_to(result, output).array;
}

}  // namespace lockstep
