// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.InFlightProbe;

/** Defers probes whose build rows have no tables. */
interface ProbeDeferral {

    /** Defers nothing, since all build rows always have tables. */
    ProbeDeferral NONE =
            new ProbeDeferral() {
                @Override
                public boolean acceptsMixedPartitions() {
                    return true;
                }

                @Override
                public boolean defer(InFlightProbe probe) {
                    return false;
                }

                @Override
                public void deferNext() {}

                @Override
                public void endInput() {}

                @Override
                public int orderOf(int partition) {
                    return 0;
                }
            };

    /**
     * Whether an arriving chunk of several partitions can be joined in one piece. If so, it follows
     * all probes of the log.
     */
    boolean acceptsMixedPartitions();

    /**
     * Defers an arriving chunk if its build rows have no tables.
     *
     * @return whether it did; if not, the chunk follows all probes of its partition in the log
     */
    boolean defer(InFlightProbe probe) throws Exception;

    /**
     * Defers the log's next chunks, up to one that is due or whose build rows have tables. At the
     * end of the input, resumes all chunks behind the last one.
     */
    void deferNext() throws Exception;

    /** Resumes all deferred probes, including the log's; no facts follow. */
    void endInput();

    /** Number of the order to which a partition belongs; each order is completed in sequence. */
    int orderOf(int partition);
}
