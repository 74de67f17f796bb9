// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import static org.assertj.core.api.Assertions.assertThat;

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
        assertThat(PartitionGroupCount.choose(needed, budget, partitions)).isEqualTo(groups);
    }
}
