package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.layout.ChunkDescriptor;
import java.util.stream.LongStream;

/** Build bytes of each radix partition that comes here. Not thread-safe. */
final class PartitionedRows {

    private final int firstPartition;
    private final long[] bytes;

    PartitionedRows(HybridOptions options) {
        this.firstPartition = options.firstPartition();
        this.bytes = new long[options.partitions()];
    }

    int partitions() {
        return bytes.length;
    }

    /**
     * A partition counted from the first that comes here.
     *
     * @param partition of a chunk; where there is only one, it need not say so
     * @throws IllegalArgumentException where the partition does not come here
     */
    int index(int partition) {
        int index = partition - firstPartition;
        if (partition == ChunkDescriptor.UNPARTITIONED && bytes.length == 1) {
            return 0;
        }
        if (index < 0 || index >= bytes.length) {
            throw new IllegalArgumentException(
                    "a chunk is of a partition that comes here: partition="
                            + partition
                            + ", firstPartition="
                            + firstPartition
                            + ", partitions="
                            + bytes.length);
        }
        return index;
    }

    void add(int index, long more) {
        bytes[index] += more;
    }

    long bytes(int index) {
        return bytes[index];
    }

    /** Bytes of some partitions. */
    long bytes(int first, int end) {
        return LongStream.of(bytes).skip(first).limit(end - first).sum();
    }

    long total() {
        return bytes(0, bytes.length);
    }

    long largest() {
        return LongStream.of(bytes).max().orElse(0);
    }
}
