// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The steps of a radix pass, each the body of a kernel: guess slots and scatter; if a slot was too
// small, clear the counts, count, lay out slots and scatter again.
#pragma once

#include "partition.cuh"
#include "resident_call.h"

namespace gpujoin::resident {

template <typename Word>
__device__ void guess(const RadixPass<Word>& pass) {
    guessSlots(pass.slots, pass.partitions,
               guessedCapacityRows(pass.rows, pass.partitions, pass.rowsPerKey),
               pass.overflowBefore);
}

// Returns the word that decides whether an attempt runs.
template <Attempt ATTEMPT, typename Word>
__device__ const uint32_t* conditionOf(const RadixPass<Word>& pass) {
    return ATTEMPT == Attempt::GUESSED   ? pass.overflowBefore
           : ATTEMPT == Attempt::SAMPLED ? pass.slots.overflow
                                         : pass.slots.sampleOverflow;
}

template <Attempt ATTEMPT, typename Word, typename Source>
__device__ void scatter(const Source& source, const RadixPass<Word>& pass) {
    scatterTiles<Word, Source, PassShape<Word>, ATTEMPT>(source, pass.tiles, pass.digit, pass.slots,
                                                         pass.target, conditionOf<ATTEMPT>(pass));
}

template <Attempt ATTEMPT, typename Word>
__device__ void clear(const RadixPass<Word>& pass) {
    clearCounts(pass.slots, pass.partitions, conditionOf<ATTEMPT>(pass));
}

template <Attempt ATTEMPT, typename Word, typename Source>
__device__ void count(const Source& source, const RadixPass<Word>& pass) {
    countTiles<Word, Source, PassShape<Word>, ATTEMPT>(source, pass.tiles, pass.digit, pass.slots,
                                                       conditionOf<ATTEMPT>(pass));
}

template <Attempt ATTEMPT, typename Word>
__device__ void layOut(const RadixPass<Word>& pass) {
    layOutSlots<SCAN_THREADS>(pass.slots, pass.partitions, pass.bufferRows,
                              conditionOf<ATTEMPT>(pass), [](uint32_t count) {
                                  return ATTEMPT == Attempt::SAMPLED ? sampledCapacityRows(count)
                                                                     : alignedRows(count);
                              });
}

}  // namespace gpujoin::resident
