#pragma once
// The conversions and bodies of tree_struct.h.

namespace lockstep {
namespace tree_internal {

// Throws the ValueError that is being handled, as a TreeMismatch one level further up.
[[noreturn]] void rethrow_below(std::variant<std::string, std::size_t> key);
[[noreturn]] void throw_expected(std::string_view wanted, std::string_view found);
void check_length(std::size_t expected, std::size_t found);
void check_names(std::span<const std::string_view> names);
// `keys` are a dict's, in order.
void check_keys(std::span<const std::string_view> names, const std::vector<std::string_view>& keys);

template <class T, class Leaf>
[[nodiscard]] T part_from_tree(const BasicTree<Leaf>& tree,
                               std::variant<std::string, std::size_t> key) {
  try {
    return TreeConversion<T, Leaf>::from_tree(tree);
  } catch (const ValueError&) {
    rethrow_below(std::move(key));
  }
}

template <class Leaf>
[[nodiscard]] const typename BasicTree<Leaf>::List& checked_items(const BasicTree<Leaf>& tree) {
  if (!tree.is_list()) throw_expected("a list", tree.kind());
  return tree.items();
}

template <class Leaf>
[[nodiscard]] const typename BasicTree<Leaf>::List& checked_items(const BasicTree<Leaf>& tree,
                                                                  std::size_t length) {
  check_length(length, checked_items(tree).size());
  return tree.items();
}

template <class Leaf>
[[nodiscard]] const typename BasicTree<Leaf>::Dict& checked_entries(const BasicTree<Leaf>& tree) {
  if (!tree.is_dict()) throw_expected("a dict", tree.kind());
  return tree.entries();
}

// std::tuple, std::pair and std::array, as lists.
template <class T, class Leaf>
struct TupleConversion {
  [[nodiscard]] static BasicTree<Leaf> to_tree(const T& parts) {
    return std::apply(
        []<class... Parts>(const Parts&... part) {
          return BasicTree<Leaf>(
              typename BasicTree<Leaf>::List{TreeConversion<Parts, Leaf>::to_tree(part)...});
        },
        parts);
  }
  [[nodiscard]] static T from_tree(const BasicTree<Leaf>& tree) {
    const auto& items = checked_items(tree, std::tuple_size_v<T>);
    return [&items]<std::size_t... I>(std::index_sequence<I...>) {
      return T{part_from_tree<std::tuple_element_t<I, T>>(items[I], I)...};
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  }
};

}  // namespace tree_internal

template <class T, class Leaf>
struct TreeConversion {
  static_assert(
      TreeStruct<T>,
      "this type is no tree: give it a member tree_fields(), or specialise TreeConversion");

  [[nodiscard]] static BasicTree<Leaf> to_tree(const T& value) {
    const auto listed = const_cast<T&>(value).tree_fields();  // references that are only read
    tree_internal::check_names(listed.names);
    typename BasicTree<Leaf>::Dict entries;
    [&]<class... Members>(const Fields<Members...>& known) {
      std::size_t next = 0;
      std::apply(
          [&](const Members&... member) {
            (entries.emplace(known.names[next++], TreeConversion<Members, Leaf>::to_tree(member)),
             ...);
          },
          known.members);
    }(listed);
    return BasicTree<Leaf>(std::move(entries));
  }

  [[nodiscard]] static T from_tree(const BasicTree<Leaf>& tree) {
    T value{};
    const auto listed = value.tree_fields();
    tree_internal::check_names(listed.names);
    const auto& entries = tree_internal::checked_entries(tree);
    std::vector<std::string_view> keys;
    keys.reserve(entries.size());
    for (const auto& [key, entry] : entries) keys.push_back(key);
    tree_internal::check_keys(listed.names, keys);
    [&]<class... Members>(const Fields<Members...>& known) {
      std::size_t next = 0;
      const auto read = [&]<class Member>(Member& member) {
        const std::string_view name = known.names[next++];
        member =
            tree_internal::part_from_tree<Member>(entries.find(name)->second, std::string(name));
      };
      std::apply([&](Members&... member) { (read(member), ...); }, known.members);
    }(listed);
    return value;
  }
};

template <class Leaf>
struct TreeConversion<Leaf, Leaf> {
  [[nodiscard]] static BasicTree<Leaf> to_tree(const Leaf& leaf) { return leaf; }
  [[nodiscard]] static Leaf from_tree(const BasicTree<Leaf>& tree) {
    if (!tree.is_leaf()) tree_internal::throw_expected("a leaf", tree.kind());
    return tree.leaf();
  }
};

template <class Leaf>
struct TreeConversion<BasicTree<Leaf>, Leaf> {
  [[nodiscard]] static BasicTree<Leaf> to_tree(const BasicTree<Leaf>& tree) { return tree; }
  [[nodiscard]] static BasicTree<Leaf> from_tree(const BasicTree<Leaf>& tree) { return tree; }
};

template <class T, class Leaf>
struct TreeConversion<std::optional<T>, Leaf> {
  [[nodiscard]] static BasicTree<Leaf> to_tree(const std::optional<T>& value) {
    return value ? TreeConversion<T, Leaf>::to_tree(*value) : BasicTree<Leaf>();
  }
  [[nodiscard]] static std::optional<T> from_tree(const BasicTree<Leaf>& tree) {
    if (tree.is_none()) return std::nullopt;
    return TreeConversion<T, Leaf>::from_tree(tree);
  }
};

template <class... Parts, class Leaf>
struct TreeConversion<std::tuple<Parts...>, Leaf>
    : tree_internal::TupleConversion<std::tuple<Parts...>, Leaf> {};

template <class First, class Second, class Leaf>
struct TreeConversion<std::pair<First, Second>, Leaf>
    : tree_internal::TupleConversion<std::pair<First, Second>, Leaf> {};

template <class T, std::size_t Size, class Leaf>
struct TreeConversion<std::array<T, Size>, Leaf>
    : tree_internal::TupleConversion<std::array<T, Size>, Leaf> {};

template <class T, class Leaf>
struct TreeConversion<std::vector<T>, Leaf> {
  [[nodiscard]] static BasicTree<Leaf> to_tree(const std::vector<T>& items) {
    typename BasicTree<Leaf>::List list;
    list.reserve(items.size());
    for (const T& item : items) list.push_back(TreeConversion<T, Leaf>::to_tree(item));
    return BasicTree<Leaf>(std::move(list));
  }
  [[nodiscard]] static std::vector<T> from_tree(const BasicTree<Leaf>& tree) {
    const auto& list = tree_internal::checked_items(tree);
    std::vector<T> items;
    items.reserve(list.size());
    for (const BasicTree<Leaf>& item : list) {
      items.push_back(tree_internal::part_from_tree<T>(item, items.size()));
    }
    return items;
  }
};

template <class T, class Compare, class Leaf>
struct TreeConversion<std::map<std::string, T, Compare>, Leaf> {
  using Map = std::map<std::string, T, Compare>;
  [[nodiscard]] static BasicTree<Leaf> to_tree(const Map& entries) {
    typename BasicTree<Leaf>::Dict dict;
    for (const auto& [key, entry] : entries) {
      dict.emplace(key, TreeConversion<T, Leaf>::to_tree(entry));
    }
    return BasicTree<Leaf>(std::move(dict));
  }
  [[nodiscard]] static Map from_tree(const BasicTree<Leaf>& tree) {
    Map entries;
    for (const auto& [key, entry] : tree_internal::checked_entries(tree)) {
      entries.emplace(key, tree_internal::part_from_tree<T>(entry, key));
    }
    return entries;
  }
};

template <class... NamesAndMembers>
auto fields(NamesAndMembers&&... names_and_members) {
  static_assert(sizeof...(NamesAndMembers) % 2 == 0,
                "fields() takes a name before every field: fields(\"w\", w, \"b\", b)");
  const auto all = std::forward_as_tuple(names_and_members...);
  return [&all]<std::size_t... I>(std::index_sequence<I...>) {
    return Fields<std::remove_reference_t<decltype(std::get<2 * I + 1>(all))>...>{
        {std::string_view(std::get<2 * I>(all))...}, std::tie(std::get<2 * I + 1>(all)...)};
  }(std::make_index_sequence<sizeof...(NamesAndMembers) / 2>());
}

template <class Leaf, class T>
BasicTree<Leaf> to_tree(const T& value) {
  return TreeConversion<T, Leaf>::to_tree(value);
}

template <class T, class Leaf>
T from_tree(const BasicTree<Leaf>& tree) {
  return TreeConversion<T, Leaf>::from_tree(tree);
}

template <class Leaf>
template <TreeStruct T>
BasicTree<Leaf>::BasicTree(const T& value) : BasicTree(TreeConversion<T, Leaf>::to_tree(value)) {}

}  // namespace lockstep
