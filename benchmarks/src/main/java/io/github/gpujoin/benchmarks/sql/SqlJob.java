// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.sql;

import java.util.List;
import org.apache.flink.table.api.TableEnvironment;

/**
 * A query over events.
 *
 * @param query name in reports, such as {@code q20}
 * @param sql the query, over the tables that are created for it
 * @param tables creates them
 * @param logs the events of each source subtask
 * @param events events in the logs that the query's tables contain
 */
public record SqlJob(String query, String sql, Tables tables, List<EventLog> logs, long events) {

    /** Creates the tables of a run in a catalog. */
    @FunctionalInterface
    public interface Tables {

        /**
         * @param run number of the {@link SqlRun} with their events
         */
        void create(TableEnvironment tables, int run);
    }

    public SqlJob {
        logs = List.copyOf(logs);
    }
}
