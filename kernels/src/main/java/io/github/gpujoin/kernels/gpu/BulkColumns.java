// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.CudaDriver;

/** Launches the kernels that read columns of runs, and number rows. */
final class BulkColumns {

    private static final int THREADS = 256;

    private BulkColumns() {}

    /**
     * Queues the reading of a column, in the width of the column.
     *
     * @param target address of {@code count} values for the device
     */
    static void gather(
            CudaDriver driver,
            BulkRunLayout.Source source,
            BulkBatch.Rows rows,
            long count,
            long target) {
        launch(driver, "gpujoin_bulk_gather_", source, rows, count, target);
    }

    /** Does the same with values of 64 bits. */
    static void widen(
            CudaDriver driver,
            BulkRunLayout.Source source,
            BulkBatch.Rows rows,
            long count,
            long target) {
        launch(driver, "gpujoin_bulk_widen_", source, rows, count, target);
    }

    /**
     * Queues the writing of row numbers from 0 on.
     *
     * @param widthBytes of a number: 4 or 8
     * @param target address of {@code count} numbers for the device
     */
    static void number(CudaDriver driver, int widthBytes, long count, long target) {
        driver.launch(
                "gpujoin_bulk_number_" + Byte.SIZE * widthBytes,
                blocks(count),
                THREADS,
                count,
                target);
    }

    private static int blocks(long count) {
        return (int) ((count + THREADS - 1) / THREADS);
    }

    private static void launch(
            CudaDriver driver,
            String kernel,
            BulkRunLayout.Source source,
            BulkBatch.Rows rows,
            long count,
            long target) {
        driver.launchWithSharedMemory(
                kernel + Byte.SIZE * source.widthBytes(),
                blocks(count),
                THREADS,
                0,
                new long[] {rows.runs(), source.offset(), source.strideBytes()},
                rows.numberWords(),
                new long[] {count},
                new long[] {target});
    }
}
