// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.engine.testing.InSlots;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A chunk in a slot whose bytes may arrive after its header. */
@ExtendWith(RegionLeakExtension.class)
class ChunkInSlotTest {

    private static final ChunkSchema SCHEMA = ChunkSchema.of(Column.of("n", ColumnType.INT64));

    private Chunk chunk;
    private long late;

    @BeforeEach
    void fill() {
        Chunk onHeap = TestChunks.of(SCHEMA, new Object[] {1L}, new Object[] {2L});
        chunk = InSlots.copyOf(onHeap, false);
        late = chunk.columnStart(0) + Long.BYTES;
    }

    @AfterEach
    void release() {
        chunk.release();
    }

    @Test
    void shouldWaitForBytesThatArriveLate() throws Exception {
        Memory.putLong(late, ~2L);
        Thread network =
                new Thread(
                        () -> {
                            long startNs = System.nanoTime();
                            while (System.nanoTime() - startNs < 1_000_000) {
                                Thread.onSpinWait();
                            }
                            Memory.putLongRelease(null, late, 2);
                        });
        network.start();
        chunk.verify();
        assertThat(chunk.onHeap().getLong(0, 1)).isEqualTo(2);
        network.join();
    }

    @Test
    void shouldRejectBytesThatNeverArrive() {
        Memory.putLong(late, ~2L);
        assertThatExceptionOfType(ChunkFormatException.class)
                .isThrownBy(chunk::verify)
                .withMessageContaining("Chunk checksum does not match its bytes");
        assertThatExceptionOfType(ChunkFormatException.class).isThrownBy(chunk::onHeap);
    }
}
