// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.flink.PeerJobs;
import io.github.gpujoin.benchmarks.flink.SqlPeerJobs;
import io.github.gpujoin.benchmarks.flink.StarJoinJobs;
import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.local.DuckDbContender;
import io.github.gpujoin.benchmarks.local.EngineContender;
import io.github.gpujoin.benchmarks.workload.Tuples;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** All contenders by name, in the order of reports. */
final class Contenders {

    /** Makes a contender for some tuples and threads. */
    interface Maker {
        Contender make(Tuples tuples, int threads) throws Exception;
    }

    /** Makes a contender for some tuples, threads and key groups. */
    interface PartitionedMaker {
        Contender make(Tuples tuples, int threads, int keyGroups) throws Exception;
    }

    private static final Map<String, Maker> MAKERS = makers();

    /** Contenders whose rate depends on the number of key groups; they run on demand alone. */
    private static final Map<String, PartitionedMaker> PARTITIONED = partitioned();

    private Contenders() {}

    private static Map<String, Maker> makers() {
        Map<String, Maker> makers = new LinkedHashMap<>();
        makers.put("ours-engine", EngineContender::new);
        makers.put("ours-flink-columnar", StarJoinJobs::columnar);
        makers.put("ours-flink-pojo", StarJoinJobs::pojo);
        makers.put("ours-flink-changing", StarJoinJobs::changing);
        makers.put("ours-flink-versioned", StarJoinJobs::versioned);
        makers.put("ours-flink-regular", StarJoinJobs::regular);
        makers.put("ours-sql-streaming", SqlPeerJobs::replacedStreaming);
        makers.put("flink-keyed-datastream", PeerJobs::keyedDataStream);
        makers.put("flink-broadcast-state", PeerJobs::broadcastState);
        makers.put("flink-sql-lookup", SqlPeerJobs::lookup);
        makers.put("flink-sql-temporal", SqlPeerJobs::temporal);
        makers.put("flink-sql-streaming", SqlPeerJobs::streaming);
        makers.put("flink-sql-batch", SqlPeerJobs::batch);
        makers.put("duckdb", DuckDbContender::new);
        return makers;
    }

    private static Map<String, PartitionedMaker> partitioned() {
        Map<String, PartitionedMaker> makers = new LinkedHashMap<>();
        makers.put("ours-flink-partitioned", StarJoinJobs::partitioned);
        makers.put("ours-flink-partitioned-pojo", StarJoinJobs::partitionedPojo);
        return makers;
    }

    static Set<String> names() {
        Set<String> names = new LinkedHashSet<>(MAKERS.keySet());
        names.addAll(PARTITIONED.keySet());
        return names;
    }

    /**
     * Makers in the order of reports.
     *
     * @param asked names; all if empty
     * @param keyGroups a contender that depends on their number is made for each
     */
    static List<Maker> makers(List<String> asked, List<Integer> keyGroups) {
        List<Maker> makers = new ArrayList<>();
        for (String name : names()) {
            if (!asked.isEmpty() && !asked.contains(name)) {
                continue;
            }
            if (MAKERS.containsKey(name)) {
                makers.add(MAKERS.get(name));
                continue;
            }
            for (int groups : keyGroups) {
                makers.add(
                        (tuples, threads) -> PARTITIONED.get(name).make(tuples, threads, groups));
            }
        }
        return makers;
    }
}
