// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.flink.exchange.ring.WriterAddresses.Target;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.CoordinatorStore;
import org.jspecify.annotations.Nullable;

/**
 * Connects the ends of a join's rings, in the JobMaster. Subtasks of the join announce their
 * addresses; sending subtasks request them. Once all addresses are known, the rendezvous answers
 * each request with tokens of the requesting attempt.
 *
 * <p>An announcement is valid until its subtask fails or is reset, so no answer contains an address
 * of an earlier attempt. Runs in the JobMaster's main thread.
 */
final class Rendezvous {

    private record Reader(int attempt, ReaderAddress address) {}

    private record WriterId(OperatorID operator, int subtask) {}

    /** An attempt that may request addresses, and its latest request. */
    private static final class Writer {

        private final int attempt;
        private final UUID number;
        private CompletableFuture<CoordinationResponse> answer =
                CompletableFuture.completedFuture(null);

        Writer(int attempt, UUID number) {
            this.attempt = attempt;
            this.number = number;
        }
    }

    private final UUID job;
    private final Map<Integer, Reader> readers = new TreeMap<>();
    private final Map<WriterId, Writer> writers = new LinkedHashMap<>();
    private int readerCount;

    Rendezvous(UUID job) {
        this.job = job;
    }

    /** Returns the rendezvous of a join, which the first call creates. */
    static Rendezvous of(CoordinatorStore store, JobID job, String join) {
        String key = "gpu-join rings: " + join;
        store.putIfAbsent(key, new Rendezvous(uuid(job)));
        return (Rendezvous) store.get(key);
    }

    /** Returns the identifier of a job in handshakes. */
    static UUID uuid(JobID job) {
        return new UUID(job.getUpperPart(), job.getLowerPart());
    }

    /**
     * Records the address of a subtask of the join, and answers requests once all are known.
     *
     * @param count subtasks of the join
     */
    void announce(int subtask, int attempt, ReaderAddress address, int count) {
        readerCount = count;
        readers.put(subtask, new Reader(attempt, address));
        writers.values().forEach(this::answer);
    }

    /** Drops the address of a failed attempt; that of a later attempt stays. */
    void readerFailed(int subtask, int attempt) {
        readers.computeIfPresent(
                subtask, (key, reader) -> reader.attempt() == attempt ? null : reader);
    }

    void readerReset(int subtask) {
        readers.remove(subtask);
    }

    void allReadersReset() {
        readers.clear();
    }

    void writerReady(OperatorID operator, int subtask, int attempt, UUID number) {
        writers.put(new WriterId(operator, subtask), new Writer(attempt, number));
    }

    /**
     * Answers with {@link WriterAddresses} once all are known. The answer to an unknown number is
     * {@link WriterAddresses#NONE}, at once.
     */
    CompletableFuture<CoordinationResponse> request(UUID number) {
        for (Writer writer : writers.values()) {
            if (writer.number.equals(number)) {
                // The earlier request of this attempt has timed out.
                writer.answer.complete(WriterAddresses.NONE.toResponse());
                writer.answer = new CompletableFuture<>();
                answer(writer);
                return writer.answer;
            }
        }
        return CompletableFuture.completedFuture(WriterAddresses.NONE.toResponse());
    }

    void writerFailed(OperatorID operator, int subtask, int attempt) {
        writers.computeIfPresent(
                new WriterId(operator, subtask),
                (key, writer) -> writer.attempt == attempt ? null : writer);
    }

    void writerReset(OperatorID operator, int subtask) {
        writers.remove(new WriterId(operator, subtask));
    }

    void allWritersReset(OperatorID operator) {
        writers.keySet().removeIf(writer -> writer.operator().equals(operator));
    }

    private void answer(Writer writer) {
        if (writer.answer.isDone() || readers.isEmpty() || readers.size() < readerCount) {
            return;
        }
        List<Target> targets = new ArrayList<>();
        for (Reader reader : readers.values()) {
            ReaderAddress address = reader.address();
            targets.add(
                    new Target(
                            forAttempt(address.own(), writer),
                            forAttempt(address.shared(), writer)));
        }
        writer.answer.complete(new WriterAddresses(targets).toResponse());
    }

    private @Nullable Endpoint forAttempt(@Nullable Endpoint endpoint, Writer writer) {
        return endpoint == null ? null : endpoint.forAttempt(job, writer.attempt);
    }
}
