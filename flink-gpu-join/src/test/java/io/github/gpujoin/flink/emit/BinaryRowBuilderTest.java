// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.Memory;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.api.Test;

class BinaryRowBuilderTest {

    private final BinaryRowBuilder builder = new BinaryRowBuilder(2);

    private RowData build(byte[] value) {
        builder.begin();
        builder.putLong(0, 7);
        builder.putBytes(1, value, Memory.BYTES, value.length);
        return builder.build();
    }

    private static byte[] value(int lengthBytes) {
        byte[] value = new byte[lengthBytes];
        for (int i = 0; i < lengthBytes; i++) {
            value[i] = (byte) (i * 31 + lengthBytes);
        }
        return value;
    }

    @Test
    void shouldReleaseTheBufferOfALargeRowAfterASmallOne() {
        byte[] large = value(8 << 20);
        assertThat(build(large).getBinary(1)).isEqualTo(large);
        assertThat(builder.capacityBytes()).isGreaterThan(8 << 20);

        for (int lengthBytes : new int[] {100, 3, 5000, 0, 8 << 20, 1}) {
            byte[] value = value(lengthBytes);
            RowData row = build(value);
            assertThat(row.getLong(0)).isEqualTo(7);
            assertThat(row.getBinary(1)).isEqualTo(value);
        }

        assertThat(builder.capacityBytes()).isLessThan(BinaryRowBuilder.KEPT_BYTES);
    }

    @Test
    void shouldKeepABufferThatRowsFillOrThatIsSmall() {
        build(value(8 << 20));
        int large = builder.capacityBytes();
        build(value(5 << 20));
        assertThat(builder.capacityBytes()).isEqualTo(large);

        BinaryRowBuilder small = new BinaryRowBuilder(1);
        small.begin();
        small.putBytes(0, value(400_000), Memory.BYTES, 400_000);
        small.build();
        int grown = small.capacityBytes();
        small.begin();
        small.build();
        assertThat(small.capacityBytes()).isEqualTo(grown).isGreaterThan(400_000);
    }
}
