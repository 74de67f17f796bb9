// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Needs no device. */
class DecodingMemoryTest {

    private static final int BLOCKS = 3;
    private static final long COLUMN_BYTES = BLOCKS * PlanDescriptor.DECODED_COLUMN_BYTES;

    private final RefusingDriver driver = new RefusingDriver();

    @AfterEach
    void shouldHaveFreedAllDeviceMemory() {
        driver.endProcess();
        assertThat(Buffers.openCount()).isZero();
    }

    @Test
    void shouldAllocateOnceForEachNumberOfColumnsUntilItIsClosed() {
        DeviceMemory device = new DeviceMemory(driver);
        DecodingMemory decoding =
                new DecodingMemory(device.buffers(MemoryBudget.byMachine()), BLOCKS);
        long address;
        try (Buffers engine = device.buffers(MemoryBudget.byMachine())) {
            address = decoding.address(2, engine);
            assertThat(decoding.address(5, engine)).isNotEqualTo(address);
        }
        try (Buffers later = device.buffers(new MemoryBudget(0, 0))) {
            assertThat(decoding.address(2, later)).isEqualTo(address);
        }
        assertThat(driver.deviceBytes()).isEqualTo(7 * COLUMN_BYTES);
        decoding.close();
        assertThat(driver.deviceBytes()).isZero();
        try (Buffers last = device.buffers(MemoryBudget.byMachine());
                decoding) {
            decoding.address(1, last);
            assertThat(driver.deviceBytes()).isEqualTo(COLUMN_BYTES);
        }
        assertThat(driver.deviceBytes()).isZero();
    }

    @Test
    void shouldRefuseAnEngineWhoseBudgetItExceedsAndServeALaterOne() {
        DeviceMemory device = new DeviceMemory(driver);
        try (Buffers rich = device.buffers(MemoryBudget.byMachine());
                Buffers poor = device.buffers(new MemoryBudget(2 * COLUMN_BYTES - 1, 0));
                DecodingMemory decoding = new DecodingMemory(rich.sibling(), BLOCKS)) {
            assertThatExceptionOfType(GpuUnavailableException.class)
                    .isThrownBy(() -> decoding.address(2, poor));
            assertThat(decoding.address(2, rich)).isNotZero();
        }
    }

    @Test
    void shouldNotAllocateMoreForAFork() {
        assertThat(forkBytes(true)).isEqualTo(forkBytes(false));
    }

    private long forkBytes(boolean encodes) {
        ChunkSchema schema = ChunkSchema.of(Column.of("key", ColumnType.INT64));
        JoinSpec spec =
                new JoinSpec(schema, List.of(new DimensionSpec("d", schema, 0, 0, JoinKind.INNER)));
        GpuOptions options = GpuOptions.defaults().withSlots(2, 64).withEncodeSegments(encodes);
        DeviceLease lease = new DeviceLease(new RefusingDriver(), options);
        try (GpuJoinEngine engine = new GpuJoinEngine(spec, options, lease)) {
            engine.submitBuild(0, TestChunks.of(schema, 0, List.<Object[]>of(new Object[] {1L})));
            engine.finishBuild();
            long bytes = engine.memoryUse().deviceBytes();
            try (GpuJoinEngine fork = engine.fork()) {
                return fork.memoryUse().deviceBytes() - bytes;
            }
        }
    }
}
