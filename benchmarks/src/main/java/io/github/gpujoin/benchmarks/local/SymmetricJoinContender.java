// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.local;

import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.Measurement;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.SymmetricJoinFactory;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A symmetric join of the tuples on one thread. The time is from the first chunk to the last
 * result, all read and both payloads added up.
 */
public final class SymmetricJoinContender implements Contender {

    /** In which order the tuples arrive. */
    public enum Arrival {
        /** Chunks of both inputs, in proportion to their number. */
        INTERLEAVED,
        /** All build tuples, which are loaded before the time begins, then the probe tuples. */
        BUILD_FIRST
    }

    private static final int BUILD = 0;
    private static final int PROBE = 1;

    private final Tuples tuples;
    private final Arrival arrival;
    private final SymmetricJoinFactory joins;
    private JoinAnswer expected = JoinAnswer.NOTHING;

    // The tuples, as far as they have a match before them.
    private long count;
    private long sum;

    public SymmetricJoinContender(Tuples tuples, Arrival arrival, SymmetricJoinFactory joins) {
        this.tuples = tuples;
        this.arrival = arrival;
        this.joins = joins;
    }

    @Override
    public String name() {
        return joins.joinName();
    }

    @Override
    public void prepare() {
        expected = tuples.expected(tuples.probe().size());
    }

    private static SymmetricInput input(String name, ChunkSchema schema) {
        return new SymmetricInput(
                name,
                schema,
                TupleSchemas.KEY,
                SymmetricInput.NONE,
                SymmetricInput.NONE,
                SymmetricInput.NONE,
                RowIdentity.APPEND_ONLY,
                List.of(),
                SymmetricInput.FOREVER);
    }

    @Override
    public Measurement run() {
        SymmetricJoinSpec spec =
                new SymmetricJoinSpec(
                        input("build", TupleSchemas.BUILD),
                        input("probe", TupleSchemas.PROBE),
                        BulkJoinKind.INNER);
        List<Chunk> loaded = arrival == Arrival.BUILD_FIRST ? tuples.build() : List.of();
        List<Chunk> build = arrival == Arrival.BUILD_FIRST ? List.of() : tuples.build();
        count = 0;
        sum = 0;
        try (SymmetricJoin join =
                joins.create(spec, MatchCondition.ALWAYS, MemoryReservations.unlimited(), null)) {
            loaded.forEach(chunk -> join.load(BUILD, chunk, 0));
            join.finishLoad(0);
            long startNs = System.nanoTime();
            join(join, build, tuples.probe());
            long elapsedNs = System.nanoTime() - startNs;
            return new Measurement(
                    Tuples.rowCount(build) + Tuples.rowCount(tuples.probe()),
                    elapsedNs,
                    new JoinAnswer(count, sum),
                    expected,
                    Map.of("memory_bytes", join.stats().memoryBytes()));
        }
    }

    private void join(SymmetricJoin join, List<Chunk> build, List<Chunk> probe) {
        int builds = 0;
        int probes = 0;
        while (builds < build.size() || probes < probe.size()) {
            boolean isBuild = (long) builds * probe.size() < (long) (probes + 1) * build.size();
            if (builds < build.size() && isBuild) {
                join.submit(BUILD, build.get(builds++), 0, 0);
            } else {
                join.submit(PROBE, probe.get(probes++), 0, 0);
            }
            readResults(join);
        }
    }

    private void readResults(SymmetricJoin join) {
        while (join.inFlightCount() > 0) {
            SymmetricBatch batch = join.poll();
            if (batch != null) {
                count += batch.resultCount();
                for (int result = 0; result < batch.resultCount(); result++) {
                    sum += payload(batch.chunk(BUILD, result), batch.row(BUILD, result));
                    sum += payload(batch.chunk(PROBE, result), batch.row(PROBE, result));
                }
            }
        }
    }

    private static long payload(@Nullable Chunk chunk, int row) {
        return chunk == null ? 0 : chunk.getLong(TupleSchemas.PAYLOAD, row);
    }
}
