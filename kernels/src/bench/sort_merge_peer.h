// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// A sort-merge join, the peer of the resident join.
#pragma once

#include <cstddef>
#include <cstdint>

#include "resident_join.h"

namespace gpujoin::bench {

// Sorts both tables by key with the radix sort of CUB, then merges them. Keys differ only in their
// lowest `keyBits` bits; CUB sorts by these bits alone, which is its best case.
template <typename Word>
class SortMergePeer {
  public:
    SortMergePeer(uint64_t buildRows, uint64_t probeRows, int keyBits);
    ~SortMergePeer();
    SortMergePeer(const SortMergePeer&) = delete;
    SortMergePeer& operator=(const SortMergePeer&) = delete;

    void join(const resident::TableView<Word>& build, const resident::TableView<Word>& probe,
              const resident::MatchColumns<Word>& matches);

  private:
    struct Buffers;
    Buffers* buffers;
    int keyBits;
};

}  // namespace gpujoin::bench
