// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
#include "semi_join_check.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <random>
#include <unordered_set>
#include <vector>

#include "semi_join_runner.cuh"

namespace gpujoin::bench {
namespace {

using semijoin::JoinKind;
using semijoin::KeySetKind;
using semijoin::RowCondition;
using semijoin::SemiJoinCall;
using semijoin::Side;

// Shape of two tables. Keys are multiples of `step` from a range around 0.
struct Shape {
    uint64_t leftRows;
    uint64_t rightRows;
    uint64_t distinctKeys;
    uint64_t step;
    // Share of the rows that satisfy the condition of their side; 100 is no condition.
    unsigned leftPercent;
    unsigned rightPercent;
    // Whether the right side's condition compares two columns.
    bool comparesColumns;
    uint32_t groupCount;
};

// A copy of host values in device memory.
template <typename T>
struct Uploaded : DeviceArray<T> {
    explicit Uploaded(const std::vector<T>& values) : DeviceArray<T>(values.size()) {
        CUDA_CHECK(
            cudaMemcpy(this->data(), values.data(), this->lengthBytes(), cudaMemcpyHostToDevice));
    }
};

// One side on the host. Its condition is column[row] - other[row] < percent, where the columns have
// type T; `other` is 0 unless the condition compares columns.
template <typename Word, typename T>
struct HostSide {
    std::vector<Word> keys;
    std::vector<T> column;
    std::vector<T> other;
    unsigned percent;

    HostSide(std::mt19937_64& random, const Shape& shape, uint64_t rows, unsigned percent,
             bool compares)
        : percent(percent) {
        for (uint64_t row = 0; row < rows; row++) {
            auto number = static_cast<int64_t>(random() % shape.distinctKeys);
            keys.push_back(
                static_cast<Word>((number - static_cast<int64_t>(shape.distinctKeys / 2)) *
                                  static_cast<int64_t>(shape.step)));
            int value = static_cast<int>(random() % 100);
            int subtracted = compares ? static_cast<int>(random() % 20) - 10 : 0;
            column.push_back(static_cast<T>(value + subtracted));
            other.push_back(static_cast<T>(subtracted));
        }
    }

    bool satisfies(uint64_t row) const {
        return int64_t{column[row]} - int64_t{other[row]} < int64_t{percent};
    }
};

template <typename Word, typename T>
struct DeviceSide {
    Uploaded<Word> keys;
    Uploaded<T> column;
    Uploaded<T> other;

    explicit DeviceSide(const HostSide<Word, T>& side)
        : keys(side.keys), column(side.column), other(side.other) {}

    semijoin::SideView<Word> view(unsigned percent, bool compares) const {
        semijoin::SideView<Word> view;
        view.keys = keys.data();
        view.rows = keys.count();
        // Fewer than there are, so that some selections do not fit at first.
        view.expectedRows = percent == 100 ? view.rows : view.rows * percent / 110;
        if (percent < 100) {
            view.condition = {column.data(), compares ? other.data() : nullptr, -1000,
                              int64_t{percent} - 1, sizeof(T)};
        }
        return view;
    }
};

const char* nameOf(JoinKind kind) { return kind == JoinKind::SEMI ? "semi" : "anti"; }
const char* nameOf(KeySetKind kind) { return kind == KeySetKind::DIRECT ? "direct" : "hash"; }

template <typename Word, typename T>
bool checkCase(const Shape& shape, JoinKind kind, KeySetKind keySet) {
    std::mt19937_64 random(shape.leftRows + 31 * shape.rightRows + shape.step);
    bool compares = shape.comparesColumns && sizeof(T) < 8;
    HostSide<Word, T> left(random, shape, shape.leftRows, shape.leftPercent, false);
    HostSide<Word, T> right(random, shape, shape.rightRows, shape.rightPercent, compares);
    std::unordered_set<Word> rightKeys;
    for (uint64_t row = 0; row < shape.rightRows; row++) {
        if (shape.rightPercent == 100 || right.satisfies(row)) {
            rightKeys.insert(right.keys[row]);
        }
    }
    std::vector<int16_t> groups;
    std::vector<uint64_t> expectedCounts(shape.groupCount);
    std::vector<uint32_t> expectedRows;
    for (uint64_t row = 0; row < shape.leftRows; row++) {
        groups.push_back(static_cast<int16_t>(random() % shape.groupCount));
        bool matched = rightKeys.count(left.keys[row]) != 0;
        if ((shape.leftPercent == 100 || left.satisfies(row)) &&
            matched == (kind == JoinKind::SEMI)) {
            expectedCounts[static_cast<size_t>(groups.back())]++;
            expectedRows.push_back(static_cast<uint32_t>(row));
        }
    }
    DeviceSide<Word, T> leftSide(left);
    DeviceSide<Word, T> rightSide(right);
    Uploaded<int16_t> groupColumn(groups);
    SemiJoinCall<Word> call;
    call.left = leftSide.view(shape.leftPercent, false);
    call.right = rightSide.view(shape.rightPercent, compares);
    call.result.groups = groupColumn.data();
    call.result.groupWidthBytes = sizeof(int16_t);
    call.result.groupCount = shape.groupCount;
    call.kind = kind;
    call.requestedKeySet = keySet;
    SemiJoinRunner<Word> runner(call, shape.leftRows);
    bool correct = true;
    for (int run = 0; run < 2; run++) {
        runner.run();
        std::vector<uint32_t> rows = runner.resultRows();
        std::sort(rows.begin(), rows.end());
        correct &= rows == expectedRows && runner.groupCounts() == expectedCounts;
    }
    std::printf(
        "%s %zu-bit %s %s %llu x %llu keys=%llu step=%llu left=%u%% right=%u%% of %zu "
        "bytes built=%s rows=%zu expected=%zu\n",
        correct ? "ok   " : "WRONG", 8 * sizeof(Word), nameOf(kind), nameOf(keySet),
        (unsigned long long)shape.leftRows, (unsigned long long)shape.rightRows,
        (unsigned long long)shape.distinctKeys, (unsigned long long)shape.step, shape.leftPercent,
        shape.rightPercent, sizeof(T), runner.lastCall().buildSide == Side::LEFT ? "left" : "right",
        runner.resultRows().size(), expectedRows.size());
    return correct;
}

template <typename Word, typename T>
bool checkShape(const Shape& shape) {
    bool correct = true;
    for (JoinKind kind : {JoinKind::SEMI, JoinKind::ANTI}) {
        for (KeySetKind keySet : {KeySetKind::DIRECT, KeySetKind::HASH}) {
            correct &= checkCase<Word, T>(shape, kind, keySet);
        }
    }
    return correct;
}

}  // namespace

bool checkSemiJoins() {
    const Shape shapes[] = {
        {0, 10, 5, 1, 100, 100, false, 1},
        {10, 0, 5, 1, 100, 100, false, 3},
        {0, 0, 5, 1, 50, 50, false, 1},
        {1, 1, 1, 1, 100, 100, false, 2},
        {1000, 5000, 700, 1, 100, 100, false, 5},
        {5000, 1000, 700, 7, 100, 100, false, 5},
        {5000, 5000, 1, 1, 100, 100, false, 5},
        {200000, 700000, 150000, 1, 100, 100, false, 1024},
        {700000, 300000, 400000, 4, 100, 100, false, 5},
        {700000, 300001, 1000, 3, 40, 70, true, 5},
        {300007, 1000003, 1000000, 32, 5, 63, true, 5},
        {1000003, 300007, 1000000, 32, 63, 5, true, 5},
        {100000, 400000, 100000, 256, 100, 63, true, 300},
        {4000, 1000000, 10, 1, 100, 1, false, 5},
    };
    bool correct = true;
    for (const Shape& shape : shapes) {
        correct &= checkShape<int64_t, int16_t>(shape);
        correct &= checkShape<int64_t, int64_t>(shape);
        correct &= checkShape<int32_t, int8_t>(shape);
        correct &= checkShape<int32_t, int32_t>(shape);
    }
    return correct;
}

}  // namespace gpujoin::bench
