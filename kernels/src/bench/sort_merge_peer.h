#pragma once

#include <cstddef>
#include <cstdint>

#include "resident_join.h"

namespace gpujoin::bench {

/**
 * The peer: both tables sorted by key with the toolkit's own CUB radix sort, then merged. `keyBits` are the
 * lowest bits that the keys differ in; CUB sorts by no others, which is its best case.
 */
template <class Word>
class SortMergePeer {
  public:
    SortMergePeer(std::uint64_t buildRows, std::uint64_t probeRows, int keyBits);
    ~SortMergePeer();
    SortMergePeer(const SortMergePeer&) = delete;
    SortMergePeer& operator=(const SortMergePeer&) = delete;

    void join(const resident::TableView<Word>& build, const resident::TableView<Word>& probe,
              const resident::MatchColumns<Word>& matches);

  private:
    struct Buffers;
    Buffers* buffers_;
    int keyBits_;
};

}  // namespace gpujoin::bench
