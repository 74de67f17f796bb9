// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyGroupTableTest {

    private static IntUnaryOperator mixed(int groups) {
        return key -> KeyHash.partition(KeyHash.hash(key), groups);
    }

    @ParameterizedTest(name = "{0} partitions")
    @ValueSource(ints = {1, 2, 3, 127, 128, 4096})
    void shouldFindTheSmallestKeyOfEachGroup(int partitions) {
        IntUnaryOperator keyGroupOf = mixed(partitions);
        KeyGroupTable table = KeyGroupTable.of(partitions, keyGroupOf);
        assertThat(table.partitions()).isEqualTo(partitions);
        int[] smallest = new int[partitions];
        for (int key = 1_000_000; key >= 0; key--) {
            smallest[keyGroupOf.applyAsInt(key)] = key;
        }
        for (int partition = 0; partition < partitions; partition++) {
            assertThat(table.keyOf(partition)).isEqualTo(smallest[partition]);
        }
    }

    @Test
    void shouldRejectZeroPartitions() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> KeyGroupTable.of(0, mixed(1)))
                .withMessage("Number of partitions is not positive: partitions=0");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 8, Integer.MAX_VALUE})
    void shouldRejectAKeyGroupOutsideThePartitions(int keyGroup) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> KeyGroupTable.of(8, key -> keyGroup))
                .withMessage(
                        "Key group is not one of the partitions: keyGroup="
                                + keyGroup
                                + ", partitions=8");
    }
}
