// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Runs the device functions on the CPU. Modes: `layout` and `values` print numbers that a Java test
// compares with its own; `checks` runs the checks and exits with 1 if one fails.

#include <cstdio>
#include <cstring>

#include "change_checks.h"
#include "encoding_checks.h"
#include "grid_checks.h"
#include "group_checks.h"
#include "packed_checks.h"
#include "print_numbers.h"
#include "serve_checks.h"
#include "table_checks.h"

using namespace gpujoin;

namespace {

void runChecks() {
    for (uint64_t seed = 0; seed < 8; seed++) {
        shouldFindEveryRowOfAKey(TABLE_CHAINED, seed);
        shouldFindEveryRowOfAKey(TABLE_GROUPED, seed);
        shouldKeepOneRowOfEachKeyAndCountTheOthers(seed);
        shouldKeepTheLastChangeOfEachKey(seed);
        shouldDropDeletedKeysWhenATableMovesToNewSlots(seed);
        shouldApplyEachChangeInTheShardOfItsKey(seed);
        shouldJoinSegmentsInBoundedStepsForAnyFanOut(seed);
        shouldJoinASegmentThatArrivesWordByWord(seed);
        shouldHandleFactsWithoutAMatchByJoinKind(seed);
        shouldLoseNoStepWhileTheAllotmentChanges(seed);
        shouldContinueAfterAStopAtAnyTime(seed);
        shouldJoinEncodedSegmentsLikePlainOnes(seed);
        shouldPackCodesOfAnyWidth(seed);
        shouldDecodeEveryPlanWithAnyNumberOfThreads(seed);
        shouldReadNoDamagedColumnOutOfBounds(seed);
        shouldInsertEachGroupOnceAndAddFromAllThreads(seed);
        shouldInsertAKeyInTheBlocksTableAtMostOnce(seed);
    }
    for (uint64_t seed = 0; seed < 20; seed++) {
        shouldPackResultsOfAtMostOneAFact(seed);
    }
    int stops = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        stops += shouldAggregateFilteredFactsForAnyFanOutAndNumberOfGroups(seed);
    }
    REQUIRE(stops > 10);
    shouldFindTheRangeOfAColumn();
    shouldSpreadKeysThatWereCraftedForOneSlot();
    shouldAggregateInBoundedStepsForAnyFanOut();
    shouldReferToVariableWidthBytesOfLiveRows();
    shouldCarryBetweenTheHalvesOfALocalSum();
    shouldStopAfterAnyNumberOfLaunches();
    shouldLimitConcurrentReadersAndAdmitAllEventually();
    shouldRunAStepOnABlockOfItsLane();
    shouldServeALaneOnceABlockIsAllottedToIt();
    shouldRereadASegmentUntilItIsComplete();
    shouldOnlyCountWithoutAResultBuffer();
    shouldKeepTheLowerBitsOfSumsOutsideTheType();
    shouldRefuseMoreRowsThanASegmentHas();
    shouldFailAStepWhoseSegmentDoesNotDecode();
    std::printf("all checks passed\n");
}

}  // namespace

int main(int count, char** arguments) {
    const char* mode = count == 2 ? arguments[1] : "";
    if (std::strcmp(mode, "layout") == 0) {
        printLayout();
    } else if (std::strcmp(mode, "values") == 0) {
        printValues();
    } else if (std::strcmp(mode, "checks") == 0) {
        runChecks();
    } else {
        std::fprintf(stderr, "usage: engine_test layout|values|checks\n");
        return 2;
    }
    return 0;
}
