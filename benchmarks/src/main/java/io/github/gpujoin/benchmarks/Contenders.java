package io.github.gpujoin.benchmarks;

import io.github.gpujoin.benchmarks.flink.PeerJobs;
import io.github.gpujoin.benchmarks.flink.SqlPeerJobs;
import io.github.gpujoin.benchmarks.flink.StarJoinJobs;
import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.local.DuckDbContender;
import io.github.gpujoin.benchmarks.local.EngineContender;
import io.github.gpujoin.benchmarks.workload.Tuples;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** All contenders by name, in the order of reports. */
final class Contenders {

    /** Makes a contender for some tuples and threads. */
    interface Maker {
        Contender make(Tuples tuples, int threads) throws Exception;
    }

    private static final Map<String, Maker> MAKERS = makers();

    private Contenders() {}

    private static Map<String, Maker> makers() {
        Map<String, Maker> makers = new LinkedHashMap<>();
        makers.put("ours-engine", EngineContender::new);
        makers.put("ours-flink-columnar", StarJoinJobs::columnar);
        makers.put("ours-flink-pojo", StarJoinJobs::pojo);
        makers.put("ours-flink-changing", StarJoinJobs::changing);
        makers.put("ours-flink-versioned", StarJoinJobs::versioned);
        makers.put("flink-keyed-datastream", PeerJobs::keyedDataStream);
        makers.put("flink-broadcast-state", PeerJobs::broadcastState);
        makers.put("flink-sql-lookup", SqlPeerJobs::lookup);
        makers.put("flink-sql-temporal", SqlPeerJobs::temporal);
        makers.put("flink-sql-streaming", SqlPeerJobs::streaming);
        makers.put("flink-sql-batch", SqlPeerJobs::batch);
        makers.put("duckdb", DuckDbContender::new);
        return makers;
    }

    static Set<String> names() {
        return MAKERS.keySet();
    }

    /** The maker of a name, one of {@link #names()}. */
    static Maker maker(String name) {
        return MAKERS.get(name);
    }

    /** Names in the order of reports; all of them where none is asked for. */
    static List<String> inOrder(List<String> asked) {
        return names().stream().filter(name -> asked.isEmpty() || asked.contains(name)).toList();
    }
}
