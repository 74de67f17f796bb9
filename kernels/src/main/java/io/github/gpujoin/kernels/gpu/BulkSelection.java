// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** Device memory for the numbers of marked rows, and the kernel that selects them. */
final class BulkSelection {

    /** The same number as in {@code bulk.cu}. */
    private static final int THREADS = 256;

    /** More do not read marks faster. */
    private static final int MAX_BLOCKS = 4096;

    private final BulkDevice device;
    private final long batchRows;
    private final boolean needsNumbers;
    private final long counter;
    private final long numbers;

    /**
     * @param needsNumbers whether to write row numbers; otherwise rows are only counted
     */
    BulkSelection(BulkDevice device, BulkAllocator memory, long batchRows, boolean needsNumbers) {
        this.device = device;
        this.batchRows = batchRows;
        this.needsNumbers = needsNumbers;
        this.counter = memory.allocate(Long.BYTES);
        this.numbers = needsNumbers ? memory.allocate(Integer.BYTES * batchRows) : 0;
    }

    /** Returns the bytes of a selection. */
    static long lengthBytes(long batchRows, boolean needsNumbers) {
        long numbersBytes = needsNumbers ? Integer.BYTES * batchRows : 0;
        return BulkArena.ALIGNMENT_BYTES + BulkArena.alignedBytes(numbersBytes);
    }

    /** Returns the maximum of rows among which a call selects. */
    long batchRows() {
        return batchRows;
    }

    /**
     * Selects the rows with a mark among some.
     *
     * @param marks device address of a byte, 0 or 1, for each row of the table
     * @return the number of selected rows
     */
    long select(long marks, boolean wanted, long first, long count) {
        int blocks = (int) Math.min(MAX_BLOCKS, (count + THREADS - 1) / THREADS);
        device.run(
                () -> {
                    device.driver().fillDevice(counter, (byte) 0, Long.BYTES);
                    device.driver()
                            .launch(
                                    "gpujoin_bulk_select",
                                    blocks,
                                    THREADS,
                                    marks,
                                    wanted ? 1 : 0,
                                    first,
                                    count,
                                    numbers,
                                    counter);
                });
        return device.read(counter);
    }

    /** Returns the selected rows. */
    BulkBatch.Rows rows(long runs) {
        return needsNumbers
                ? new BulkBatch.Rows(runs, numbers, 0, Integer.BYTES)
                : BulkBatch.Rows.from(runs, 0);
    }
}
