// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The steps of a bulk join, one after another. Not thread-safe. */
@FunctionalInterface
interface BulkSteps {

    /**
     * Starts the next step, and returns its results, of which the caller has read those of the step
     * before. After an interrupt, a further call continues.
     *
     * @return null if there is no further step
     */
    @Nullable List<BulkBatches> next() throws InterruptedException;
}
