// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Segments of a file of spilled tuples. */
@ExtendWith(RegionLeakExtension.class)
class SpillFileTest {

    private static final ChunkSchema TEXTS =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("text", ColumnType.STRING));
    private static final BulkJoinSpec SPEC =
            new BulkJoinSpec(
                    new BulkInput("l", TEXTS, List.of(0)),
                    new BulkInput("r", TEXTS, List.of(0)),
                    BulkJoinKind.INNER,
                    false,
                    new BulkOutput.Rows(List.of(1), List.of()));

    /** Words, and addresses of texts. */
    private static final TupleLayout LAYOUT = new TupleLayout(SPEC, JoinSide.LEFT);

    @TempDir private Path directory;

    private static PartitionStore store() {
        return new PartitionStore(1, LAYOUT.tupleBytes(), Allocator.unlimited());
    }

    /** Appends a tuple whose text has some bytes, all of which are the lowest byte of the word. */
    private static void append(PartitionStore store, long word, int textBytes) {
        long text = store.allocateOutOfLine(4L + textBytes);
        Memory.putInt(text, textBytes);
        Memory.fill(null, text + 4, textBytes, (byte) word);
        try (Region tuple = Allocator.unlimited().allocate(LAYOUT.tupleBytes())) {
            Memory.putLong(tuple.address(), word);
            Memory.putLong(tuple.address() + LAYOUT.outOfLineOffset(), text);
            store.append(0, tuple.address(), 1);
        }
    }

    private static String text(long tuple) {
        long text = Memory.getLong(tuple + LAYOUT.outOfLineOffset());
        int bytes = Memory.getInt(text);
        return bytes
                + " times "
                + IntStream.range(0, bytes)
                        .map(i -> Memory.getByte(text + 4 + i))
                        .distinct()
                        .boxed()
                        .toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 1_000, 400_000})
    void shouldReadTheTuplesThatWereSpilled(int maxTextBytes) throws Exception {
        SplittableRandom random = new SplittableRandom(maxTextBytes);
        List<String> expected = new ArrayList<>();
        try (PartitionStore store = store();
                SpillFile file = new SpillFile(directory, LAYOUT)) {
            for (int spill = 0; spill < 2; spill++) {
                for (int i = 0; i < Math.min(5_000, 50 + 3_000_000 / maxTextBytes); i++) {
                    int bytes = random.nextInt(maxTextBytes) + 1;
                    append(store, i % 100, bytes);
                    expected.add(i % 100 + ": " + bytes + " times [" + i % 100 + "]");
                }
                store.spillTo(file);
            }
            long outOfLineBytes =
                    store.segments(0).stream().mapToLong(SpillFile.Segment::outOfLineBytes).sum();
            try (Region outOfLine = Allocator.unlimited().allocate(outOfLineBytes);
                    SegmentReader reader =
                            new SegmentReader(store.longestBlockBytes(), Allocator.unlimited())) {
                List<String> probed = new ArrayList<>();
                for (SpillFile.Segment segment : store.segments(0)) {
                    reader.probe(segment, (tuples, count) -> describe(tuples, count, probed));
                }
                assertThat(probed).isEqualTo(expected);
                for (int pass = 0; pass < 2; pass++) {
                    List<String> loaded = new ArrayList<>();
                    reader.load(List.of(store), 0, outOfLine.address())
                            .forEach((tuples, count) -> describe(tuples, count, loaded));
                    assertThat(loaded).isEqualTo(expected);
                }
            }
        }
    }

    private static void describe(long tuples, int count, List<String> descriptions) {
        for (int i = 0; i < count; i++) {
            long tuple = tuples + (long) i * LAYOUT.tupleBytes();
            descriptions.add(Memory.getLong(tuple) + ": " + text(tuple));
        }
    }

    @Test
    void shouldWriteOneSegmentForEachPartitionAndSpill() throws Exception {
        try (PartitionStore store = store();
                SpillFile file = new SpillFile(directory, LAYOUT)) {
            for (int spill = 0; spill < 3; spill++) {
                IntStream.range(0, 50_000).forEach(i -> append(store, i, 20));
                store.spillTo(file);
            }
            assertThat(store.segments(0))
                    .extracting(SpillFile.Segment::count)
                    .containsExactly(50_000L, 50_000L, 50_000L);
        }
    }

    /** A channel keeps native memory as large as the largest write of its thread. */
    @Test
    void shouldWriteALongTupleInPieces() throws Exception {
        BufferPoolMXBean direct =
                ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                        .filter(pool -> pool.getName().equals("direct"))
                        .findFirst()
                        .orElseThrow();
        long beforeBytes = direct.getMemoryUsed();
        try (PartitionStore store = store();
                SpillFile file = new SpillFile(directory, LAYOUT)) {
            append(store, 1, 16 << 20);
            store.spillTo(file);
            assertThat(file.lengthBytes()).isGreaterThan(16 << 20);
        }
        assertThat(direct.getMemoryUsed() - beforeBytes).isLessThan(1 << 20);
    }
}
