// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Closing;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.PagedMemory;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * What one thread of a {@link CpuRadixJoin} uses: its partitions of both inputs, a table, and a
 * writer of results. One thread at a time, except for {@link #memoryBytes()} and {@link
 * #spilledBytes()}.
 */
final class RadixLane implements AutoCloseable {

    /**
     * A lane compares its memory with its share after each slice, so that the variable-width values
     * of a slice must be a small part of the share. Smaller slices are slower to partition.
     */
    private static final int SLICES_OF_SHARE = 8;

    private static final int MIN_SLICE_BYTES = 512 << 10;

    private final BulkJoinSpec spec;
    private final RadixJoinOptions options;
    private final Allocator allocator;
    private final long shareBytes;
    private final long sliceBytes;
    private final Map<JoinSide, RadixPartitioner> partitioners = new EnumMap<>(JoinSide.class);
    private final Map<JoinSide, SpillFile> files = new EnumMap<>(JoinSide.class);

    /** Memory of the writer. */
    private final PagedMemory memory;

    private @Nullable PartitionTable table;
    private @Nullable SegmentReader segments;
    private @Nullable ResultWriter writer;
    private volatile long memoryBytes;
    private volatile long spilledBytes;

    /**
     * @param shareBytes of memory for partitions, beyond which they are spilled if there is a
     *     directory
     */
    RadixLane(BulkJoinSpec spec, RadixJoinOptions options, long shareBytes, Allocator allocator) {
        this.spec = spec;
        this.options = options;
        this.allocator = allocator;
        this.shareBytes = shareBytes;
        this.sliceBytes = Math.max(MIN_SLICE_BYTES, shareBytes / SLICES_OF_SHARE);
        this.memory = new PagedMemory(allocator);
        for (JoinSide side : JoinSide.values()) {
            partitioners.put(
                    side, new RadixPartitioner(spec, side, options.partitions(), allocator));
        }
    }

    /**
     * Adds the rows of a chunk to the partitions.
     *
     * @throws InterruptedException if the thread is interrupted; some rows may be added then
     */
    void append(JoinSide side, Chunk chunk) throws InterruptedException {
        RadixPartitioner partitioner = partitioners.get(side);
        int rows;
        for (int row = 0; row < chunk.rowCount(); row += rows) {
            Blocks.checkInterrupt();
            rows = partitioner.sliceRows(chunk, row, sliceBytes);
            partitioner.append(chunk, row, rows);
            countMemory();
            if (memoryBytes > shareBytes && options.spillDirectory() != null) {
                spill();
            }
        }
    }

    /** Returns the bytes of tuples in files. */
    long spilledBytes() {
        return spilledBytes;
    }

    /**
     * Writes all tuples to files, and frees their memory.
     *
     * @throws EngineUnavailableException if a file cannot be written
     * @throws InterruptedException if the thread is interrupted; the files are closed then
     */
    void spill() throws InterruptedException {
        for (JoinSide side : JoinSide.values()) {
            RadixPartitioner partitioner = partitioners.get(side);
            SpillFile file =
                    files.computeIfAbsent(
                            side,
                            s -> new SpillFile(options.spillDirectory(), partitioner.layout()));
            partitioner.store().spillTo(file);
        }
        spilledBytes = files.values().stream().mapToLong(SpillFile::lengthBytes).sum();
        countMemory();
    }

    PartitionStore store(JoinSide side) {
        return partitioners.get(side).store();
    }

    Map<JoinSide, TupleLayout> layouts() {
        Map<JoinSide, TupleLayout> layouts = new EnumMap<>(JoinSide.class);
        partitioners.forEach((side, partitioner) -> layouts.put(side, partitioner.layout()));
        return layouts;
    }

    /** Returns the bytes of the buffers that a lane needs to partition. */
    long bufferBytes() {
        return partitioners.values().stream().mapToLong(RadixPartitioner::bufferBytes).sum();
    }

    /**
     * Frees the buffers of the partitions, and allocates those of results.
     *
     * @throws MemoryRefusedException if there is too little memory
     */
    void openWriter(ResultWriter.Receiver receiver) {
        partitioners.values().forEach(RadixPartitioner::freeBuffer);
        writer = writer(receiver);
        countMemory();
    }

    /**
     * Allocates memory to join partitions.
     *
     * @throws MemoryRefusedException if there is too little; call {@link #unreserve} then
     */
    void reserve(long tableBytes, int blockBytes) {
        table = new PartitionTable(spec.kind(), tableBytes, allocator);
        segments = new SegmentReader(blockBytes, allocator);
        countMemory();
    }

    private ResultWriter writer(ResultWriter.Receiver receiver) {
        if (spec.output() instanceof BulkOutput.Groups groups) {
            return new GroupWriter(groups, layouts(), memory, receiver);
        }
        return spec.output() instanceof BulkOutput.Rows
                ? new RowWriter(spec, layouts(), options.resultChunkBytes(), receiver)
                : new CountWriter(receiver);
    }

    /**
     * Joins partitions until none is left.
     *
     * @param stores of each input, of all lanes
     * @param partitions that no lane has claimed, in several queues, the first one first
     */
    void join(Map<JoinSide, List<PartitionStore>> stores, List<Queue<Integer>> partitions)
            throws InterruptedException {
        PartitionJoin join =
                new PartitionJoin(spec, stores, layouts(), table, segments, new MatchSink(writer));
        for (Queue<Integer> queue : partitions) {
            for (Integer p = queue.poll(); p != null; p = queue.poll()) {
                Blocks.checkInterrupt();
                if (p == options.partitions()) {
                    join.addUnmatched(p);
                } else {
                    join.join(p);
                }
            }
        }
        writer.finish();
    }

    private void countMemory() {
        long bytes = memory.lengthBytes();
        for (RadixPartitioner partitioner : partitioners.values()) {
            bytes += partitioner.memoryBytes();
        }
        bytes += table == null ? 0 : table.lengthBytes();
        bytes += segments == null ? 0 : segments.lengthBytes();
        memoryBytes = bytes;
    }

    /** Returns the memory of this lane, in bytes. */
    long memoryBytes() {
        return memoryBytes;
    }

    /** Frees what {@link #reserve} allocated. */
    void unreserve() {
        if (table != null) {
            table.close();
            table = null;
        }
        if (segments != null) {
            segments.close();
            segments = null;
        }
        countMemory();
    }

    /**
     * Frees all memory, and closes all files even if one cannot be closed.
     *
     * @throws java.io.UncheckedIOException if a file cannot be closed
     */
    @Override
    public void close() {
        unreserve();
        memory.close();
        partitioners.values().forEach(RadixPartitioner::close);
        countMemory();
        Closing.all(files.values(), SpillFile::close);
    }
}
