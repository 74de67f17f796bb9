// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.TableMemory;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PartitionGroupCountTest {

    @ParameterizedTest(name = "{0} of {1} bytes, {2} partitions: {3} groups")
    @CsvSource({
        "100, 100, 128, 1", "101, 100, 128, 16", "200, 100, 128, 32", "450, 100, 128, 64",
        "450, 100, 16, 16", "450, 100, 24, 16", "450, 100, 5, 5", "450, 0, 128, 128",
        "450, 100, 1, 1", "0, 0, 128, 1"
    })
    void shouldDivideSoThatLittleOfBudgetStaysUnused(
            long needed, long budget, int partitions, int groups) {
        assertThat(choose(needed, TableMemory.ofOne(budget), partitions)).isEqualTo(groups);
    }

    @ParameterizedTest(name = "{0} bytes, placed: {1}, sharded: {2}: {3} groups")
    @CsvSource({
        "100, true, false, 1",
        "101, true, false, 16",
        "101, true, true, 1",
        "200, true, true, 1",
        "201, true, true, 32",
        "201, false, true, 16",
        "101, false, false, 16"
    })
    void shouldDivideIfTablesExceedWhatMembersProbeTogether(
            long needed, boolean canPlace, boolean canShard, int groups) {
        TableMemory pair = new TableMemory(List.of(100L, 100L), canPlace, canShard);
        assertThat(choose(needed, pair, 128)).isEqualTo(groups);
    }

    private static int choose(long needed, TableMemory memory, int partitions) {
        return PartitionGroupCount.choose(needed, memory, partitions, count -> needed / count);
    }

    /** One of 128 partitions has most rows. */
    @ParameterizedTest(name = "largest partition of {0} bytes: {1} groups")
    @CsvSource({"50, 16", "97, 32", "99, 64", "100, 128", "101, 16"})
    void shouldDivideUntilTheLargestGroupFitsAMember(long largest, int groups) {
        TableMemory pair = new TableMemory(List.of(40L, 100L), true, false);
        assertThat(
                        PartitionGroupCount.choose(
                                largest + 64, pair, 128, count -> largest + 128 / count - 1))
                .isEqualTo(groups);
    }
}
