// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// One semi-join as its kernels see it: inputs, result, plan and workspace. The layout is the one of
// SemiJoinCall in Java.
#pragma once

#include <cstddef>
#include <cstdint>

#include "key_set.h"
#include "key_set_plan.h"
#include "row_condition.h"

namespace gpujoin::semijoin {

// Columns start at multiples of this number of bytes, which vector loads require.
constexpr size_t COLUMN_ALIGNMENT_BYTES = 16;
constexpr size_t REGION_ALIGNMENT_BYTES = 256;

// Threads of all kernels, and the blocks of them that share a multiprocessor.
constexpr uint32_t SCAN_THREADS = 256;
constexpr uint32_t SCAN_BLOCKS_PER_SM = 8;

// Groups that a block counts in shared memory.
constexpr uint32_t MAX_GROUPS = 1024;

enum class JoinKind : uint32_t { SEMI, ANTI };

// The rows of one side. Word is int32_t or int64_t.
template <typename Word>
struct SideView {
    const Word* keys = nullptr;
    uint64_t rows = 0;
    // Rows that the caller expects to satisfy the condition, at most `rows`.
    uint64_t expectedRows = 0;
    RowCondition condition;
};

// What a semi-join returns of its left rows: how many there are in each group, and their numbers.
struct SemiJoinResult {
    // Group of each left row, integers of `groupWidthBytes` from 0 to groupCount - 1; null: all rows
    // are in group 0.
    const void* groups = nullptr;
    // Result rows of each group; `groupCount` words.
    uint64_t* counts = nullptr;
    // Numbers of the result rows in any order; null if the caller does not need them.
    uint32_t* rows = nullptr;
    uint64_t capacityRows = 0;
    uint32_t groupWidthBytes = 0;
    // 1 to MAX_GROUPS.
    uint32_t groupCount = 1;
};

// What the kernels report, in device memory. Exact, even if a capacity is exceeded.
struct SemiJoinReport {
    // Of the build side's rows that satisfy its condition.
    KeyStatistics selected;
    uint64_t resultRows;
    // Result rows whose group is not below groupCount. They are in no group.
    uint64_t ungroupedRows;
};

// The build side's rows that satisfy its condition.
template <typename Word>
struct Selection {
    Word* keys;
    // Null: the keys are the column of the side, as all rows are selected.
    uint32_t* rows;
};

//   0      64      128      168      176               184            192
//   +------+-------+--------+--------+-----------------+--------------+
//   | left | right | result | report | selectionMemory | keySetMemory |
//   +------+-------+--------+--------+-----------------+--------------+
//   192    196         200         208              216           224       232
//   +------+-----------+-----------+----------------+-------------+---------+-----
//   | kind | requested | buildSide | selectionBytes | keySetBytes | threads | ...
//   |      | KeySet    |           |                |             | blocks  |
//   +------+-----------+-----------+----------------+-------------+---------+-----
//
// The host writes the members up to `requestedKeySet`, and the plans set the others.
template <typename Word>
struct SemiJoinCall {
    SideView<Word> left;
    SideView<Word> right;
    SemiJoinResult result;
    SemiJoinReport* report = nullptr;
    // Of selectionBytes and keySetBytes; null until the caller knows these sizes.
    void* selectionMemory = nullptr;
    void* keySetMemory = nullptr;
    JoinKind kind = JoinKind::SEMI;
    KeySetKind requestedKeySet = KeySetKind::AUTO;

    Side buildSide = Side::LEFT;
    uint32_t unused = 0;
    uint64_t selectionBytes = 0;
    uint64_t keySetBytes = 0;
    uint32_t threads = 0;
    uint32_t blocksPerSm = 0;
    uint64_t selectedRows = 0;
    KeySetPlan keySet{};

    GPUJOIN_INLINE const SideView<Word>& buildView() const {
        return buildSide == Side::LEFT ? left : right;
    }
    GPUJOIN_INLINE const SideView<Word>& probeView() const {
        return buildSide == Side::LEFT ? right : left;
    }

    // Before the selection: chooses the build side.
    GPUJOIN_INLINE void planSelection() {
        buildSide = buildSideOf(left.expectedRows, right.expectedRows);
        const SideView<Word>& build = buildView();
        selectionBytes = !build.condition.isPresent() ? 0
                                                      : aligned(build.expectedRows * sizeof(Word)) +
                                                            build.expectedRows * sizeof(uint32_t);
        threads = SCAN_THREADS;
        blocksPerSm = SCAN_BLOCKS_PER_SM;
    }

    // After the selection: chooses the key set.
    GPUJOIN_INLINE void planKeySet(const KeyStatistics& selected) {
        selectedRows = selected.rows;
        keySet = KeySetPlan::of<Word>(selected, requestedKeySet);
        keySetBytes = keySet.lengthBytes<Word>();
    }

    // Rows for which the selection has room.
    GPUJOIN_INLINE uint64_t selectionCapacityRows() const {
        return buildView().condition.isPresent() ? buildView().expectedRows : buildView().rows;
    }

    GPUJOIN_INLINE Selection<Word> selection() const {
        const SideView<Word>& build = buildView();
        if (!build.condition.isPresent()) {
            return {const_cast<Word*>(build.keys), nullptr};
        }
        auto* memory = static_cast<unsigned char*>(selectionMemory);
        return {reinterpret_cast<Word*>(memory),
                reinterpret_cast<uint32_t*>(memory + aligned(build.expectedRows * sizeof(Word)))};
    }

    // The selected rows as a side, all of which take part.
    GPUJOIN_INLINE SideView<Word> selectionView() const {
        SideView<Word> view;
        view.keys = selection().keys;
        view.rows = selectedRows;
        return view;
    }

    // The words of the key set, in this order: slots, bits of positions, filter.
    GPUJOIN_INLINE Word* slots() const { return static_cast<Word*>(keySetMemory); }
    GPUJOIN_INLINE uint32_t* bits() const {
        return reinterpret_cast<uint32_t*>(slots() + keySet.slotCount);
    }

    GPUJOIN_INLINE DirectKeySet<Word> directKeySet() const {
        return {{bits()}, static_cast<Word>(keySet.smallest), keySet.lastPosition};
    }
    GPUJOIN_INLINE HashKeySet<Word> hashKeySet() const {
        return {{bits()}, bits() + keySet.liveWords, slots(), keySet.slotCount, keySet.sectorCount};
    }

    // Of the keys that the last step looks up, whether the rows of live ones are the result.
    // Removed keys matched if the left side built, live ones if the right side did.
    GPUJOIN_INLINE bool returnsLive() const {
        return (buildSide == Side::RIGHT) == (kind == JoinKind::SEMI);
    }

  private:
    static GPUJOIN_INLINE uint64_t aligned(uint64_t bytes) {
        return (bytes + REGION_ALIGNMENT_BYTES - 1) / REGION_ALIGNMENT_BYTES *
               REGION_ALIGNMENT_BYTES;
    }
};

constexpr size_t CALL_RESULT_OFFSET = 128;
constexpr size_t CALL_REPORT_OFFSET = 168;
constexpr size_t CALL_KIND_OFFSET = 192;
constexpr size_t CALL_BUILD_SIDE_OFFSET = 200;
constexpr size_t CALL_SELECTION_BYTES_OFFSET = 208;
constexpr size_t CALL_THREADS_OFFSET = 224;
constexpr size_t CALL_SELECTED_ROWS_OFFSET = 232;
constexpr size_t CALL_KEY_SET_OFFSET = 240;
constexpr size_t CALL_BYTES = 288;
constexpr size_t REPORT_RESULT_ROWS_OFFSET = 24;
static_assert(sizeof(SideView<int64_t>) == 64 && sizeof(SemiJoinReport) == 40);
static_assert(offsetof(SemiJoinCall<int64_t>, result) == CALL_RESULT_OFFSET);
static_assert(offsetof(SemiJoinCall<int64_t>, report) == CALL_REPORT_OFFSET);
static_assert(offsetof(SemiJoinCall<int64_t>, kind) == CALL_KIND_OFFSET);
static_assert(offsetof(SemiJoinCall<int64_t>, buildSide) == CALL_BUILD_SIDE_OFFSET);
static_assert(offsetof(SemiJoinCall<int64_t>, selectionBytes) == CALL_SELECTION_BYTES_OFFSET);
static_assert(offsetof(SemiJoinCall<int64_t>, threads) == CALL_THREADS_OFFSET);
static_assert(offsetof(SemiJoinCall<int64_t>, selectedRows) == CALL_SELECTED_ROWS_OFFSET);
static_assert(offsetof(SemiJoinCall<int64_t>, keySet) == CALL_KEY_SET_OFFSET);
static_assert(sizeof(SemiJoinCall<int64_t>) == CALL_BYTES);
static_assert(sizeof(SemiJoinCall<int32_t>) == CALL_BYTES);
static_assert(offsetof(SemiJoinReport, resultRows) == REPORT_RESULT_ROWS_OFFSET);

}  // namespace gpujoin::semijoin
