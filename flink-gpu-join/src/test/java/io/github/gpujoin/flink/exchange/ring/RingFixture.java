// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.api.options.RingSharing;
import io.github.gpujoin.flink.exchange.ring.WriterAddresses.Target;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.executiongraph.ExecutionGraphID;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.scheduler.strategy.ExecutionVertexID;
import org.jspecify.annotations.Nullable;

/** Chunks and options for tests of rings. */
final class RingFixture {

    /** Timeout of operations that need milliseconds on an idle machine. */
    static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);

    static final int PARTITIONS = 128;
    static final ChunkSchema SCHEMA = ChunkSchema.of(Column.of("number", ColumnType.INT64));

    private static final JobVertexID SENDERS = new JobVertexID();

    private RingFixture() {}

    /** Returns a chunk of facts with one row. */
    static Chunk chunk(int partition, long number) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 8);
        builder.putLong(0, number);
        builder.endRow();
        return builder.seal(ChunkDescriptor.FACTS, partition, 0, number);
    }

    /** Returns a chunk of facts that fills a payload. */
    static Chunk longChunk(int payloadBytes) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, payloadBytes);
        while (!builder.isFull()) {
            builder.putLong(0, builder.rowCount());
            builder.endRow();
        }
        return builder.seal(ChunkDescriptor.FACTS, 0, 0, 0);
    }

    static long number(Chunk chunk) {
        return chunk.getLong(0, 0);
    }

    /** Returns a coordinator that answers each request with the targets. */
    static Coordinator coordinator(Supplier<List<Target>> targets) {
        return new Coordinator() {
            @Override
            public void announce(WriterReady ready) {}

            @Override
            public CompletableFuture<CoordinationResponse> requestAddresses(
                    AddressRequest request) {
                return CompletableFuture.completedFuture(
                        new WriterAddresses(targets.get()).toResponse());
            }
        };
    }

    /**
     * Returns options of rings of 4 slots, whose peers may connect late. If the network loses
     * slots, a short peer timeout detects that soon; otherwise it is long, so that a pause of this
     * process is no loss.
     */
    static RingOptions options(String transport) {
        return options(transport, Duration.ofNanos(TIMEOUT_NS));
    }

    static RingOptions options(String transport, Duration openTimeout) {
        return options(transport, openTimeout, RingSharing.NONE);
    }

    static RingOptions options(String transport, RingSharing sharing) {
        return options(transport, Duration.ofNanos(TIMEOUT_NS), sharing);
    }

    private static RingOptions options(
            String transport, Duration openTimeout, RingSharing sharing) {
        Configuration config = new Configuration();
        config.set(GpuJoinOptions.TRANSPORT, transport);
        config.set(GpuJoinOptions.RING_SHARING, sharing);
        config.set(GpuJoinOptions.CHUNK_BYTES, MemorySize.parse("1kb"));
        config.set(GpuJoinOptions.RING_SLOTS, 4);
        config.set(
                GpuJoinOptions.RING_PEER_TIMEOUT,
                Duration.ofMillis(transport.equals("in-process") ? 200 : 5_000));
        config.set(GpuJoinOptions.RING_OPEN_TIMEOUT, openTimeout);
        return RingOptions.of(config, "join", PARTITIONS);
    }

    /** Reservations without a limit. */
    static final RingReservations UNLIMITED =
            new RingReservations() {
                @Override
                public AutoCloseable reserve(long lengthBytes) {
                    return () -> {};
                }

                @Override
                public AutoCloseable tryReserve(long lengthBytes) {
                    return reserve(lengthBytes);
                }
            };

    /** Returns the first attempts of sending subtasks in a new execution of a job. */
    static List<ExecutionAttemptID> writers(int count) {
        return writers(count, new ExecutionGraphID(), 0);
    }

    static List<ExecutionAttemptID> writers(int count, ExecutionGraphID execution, int attempt) {
        return IntStream.range(0, count)
                .mapToObj(
                        subtask ->
                                new ExecutionAttemptID(
                                        execution,
                                        new ExecutionVertexID(SENDERS, subtask),
                                        attempt))
                .toList();
    }

    /** Returns a subtask of the TaskManager {@code "process"}. */
    static RingTask task(JobID job, int subtask, int attempt, Configuration taskManager) {
        return new RingTask(job, "task", subtask, attempt, "process", taskManager);
    }

    /** Returns the target of an address for one attempt of a writer. */
    static Target target(ReaderAddress address, JobID job, int attempt) {
        return new Target(
                forAttempt(address.own(), job, attempt),
                forAttempt(address.shared(), job, attempt));
    }

    private static @Nullable Endpoint forAttempt(
            @Nullable Endpoint endpoint, JobID job, int attempt) {
        return endpoint == null ? null : endpoint.forAttempt(Rendezvous.uuid(job), attempt);
    }
}
