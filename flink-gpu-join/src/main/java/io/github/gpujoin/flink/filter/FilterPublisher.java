// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.core.filter.KeyFilterBuilder;
import io.github.gpujoin.core.filter.KeyPiece;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.filter.FilterRequest.Announce;
import io.github.gpujoin.flink.filter.FilterRequest.Confirm;
import io.github.gpujoin.flink.filter.FilterRequest.Offer;
import io.github.gpujoin.flink.filter.FilterRequest.Put;
import io.github.gpujoin.flink.filter.ProcessKeys.Keys;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntPredicate;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes the keys of the complete dimensions of one subtask of the join: of whole dimensions by
 * reference, and with those of the other subtasks of the process to the {@link FilterCoordinator}.
 *
 * <p>Used by the task's thread; answers of the coordinator arrive in other threads.
 */
public final class FilterPublisher implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(FilterPublisher.class);

    /** A process that loads is heard several times before the coordinator takes it for gone. */
    static final long CONFIRM_MS = 10_000;

    private final FilterPlan plan;
    private final ExecutionAttemptID attempt;
    private final String process;
    private final PublishedFilters published;
    private final FilterClient client;
    private final long confirmMs;

    /** Completes after the process has begun to confirm. */
    private final CompletableFuture<FilterResponse> announced;

    private boolean isFinished;

    /** Guarded by this. */
    private boolean isClosed;

    /**
     * Announces the subtask.
     *
     * @param task of the subtask
     * @param senders result partitions of the tasks that send facts to the subtask
     */
    public FilterPublisher(FilterPlan plan, Environment task, List<ResultPartitionID> senders) {
        this(plan, FilterTask.of(task), senders, CONFIRM_MS);
    }

    /**
     * @param confirmMs time between two messages that the process will offer its keys
     */
    FilterPublisher(
            FilterPlan plan, FilterTask task, List<ResultPartitionID> senders, long confirmMs) {
        this.confirmMs = confirmMs;
        this.plan = plan;
        this.attempt = task.attempt();
        this.process = task.process();
        this.published = new PublishedFilters(process, plan.join(), senders);
        this.client = new FilterClient(task, plan.operator());
        CompletableFuture<FilterResponse> answer =
                plan.dimensions().isEmpty()
                        ? CompletableFuture.completedFuture(FilterResponse.OVER)
                        : client.send(
                                new Announce(task.attempt(), process, attempts(task, senders)));
        this.announced =
                answer.thenApply(
                        response -> {
                            startConfirming(response);
                            return response;
                        });
    }

    private void startConfirming(FilterResponse response) {
        ProcessKeys keys = response.isOk() ? processKeys(response.generation()) : null;
        if (keys != null && keys.startConfirming()) {
            confirm(response.generation(), keys);
        }
    }

    /** Repeats that the process will offer its keys, until it does or one of its subtasks fails. */
    private void confirm(String generation, ProcessKeys keys) {
        if (keys.areAwaited()) {
            client.send(new Confirm(generation, process))
                    .thenAccept(
                            answer -> {
                                if (answer.isOk()) {
                                    FilterClient.later(confirmMs, () -> confirm(generation, keys));
                                }
                            });
        }
    }

    /** Several senders send to all subtasks, so that only subtask 0 lists them. */
    private static Set<ExecutionAttemptID> attempts(
            FilterTask task, List<ResultPartitionID> senders) {
        Set<ExecutionAttemptID> attempts = new HashSet<>();
        senders.forEach(sender -> attempts.add(sender.getProducerId()));
        boolean isListed = attempts.size() == 1 || task.attempt().getSubtaskIndex() == 0;
        return isListed ? attempts : Set.of();
    }

    /**
     * Publishes the keys of complete dimensions. To be called once at most.
     *
     * @param keys by dimension, without dimensions of which keys are missing
     * @param isPartitioned whether the subtask received only its partitions of a dimension
     */
    public void publish(Map<Integer, KeyFilterBuilder> keys, IntPredicate isPartitioned) {
        if (plan.dimensions().isEmpty()) {
            return;
        }
        Keys own = new Keys(new TreeMap<>(), new TreeMap<>());
        for (FilteringDimension dimension : plan.dimensions()) {
            int d = dimension.number();
            if (keys.containsKey(d)) {
                boolean isPart =
                        dimension.distribution() == Distribution.PARTITIONED
                                || isPartitioned.test(d);
                (isPart ? own.parts() : own.whole()).put(d, keys.get(d));
            }
        }
        List<DimensionFilter> filters = DimensionFilter.of(plan, own.whole());
        LOG.info(
                "Keys of complete dimensions filter facts: {}, partitioned={}",
                filters,
                own.parts().keySet());
        published.publish(filters, own.parts().isEmpty());
        announced.thenAccept(response -> contribute(response, own));
    }

    private void contribute(FilterResponse response, Keys own) {
        ProcessKeys processKeys = response.isOk() ? processKeys(response.generation()) : null;
        if (processKeys == null) {
            return;
        }
        Keys complete;
        try {
            complete = processKeys.add(attempt, response, own, published);
        } catch (Throwable e) {
            // The future would hide even an OutOfMemoryError, and others would wait for the keys.
            LOG.warn("Cannot publish the keys of a process, so that they do not filter facts.", e);
            complete = Keys.NONE;
        }
        if (complete != null) {
            offer(response.generation(), complete);
        }
    }

    /** Returns null after {@link #close}, which drops the keys of the process. */
    private synchronized @Nullable ProcessKeys processKeys(String generation) {
        return isClosed ? null : ProcessKeys.of(process, generation, plan);
    }

    private void offer(String generation, Keys keys) {
        Offer offer =
                new Offer(generation, process, Keys.bytes(keys.whole()), Keys.bytes(keys.parts()));
        client.send(offer)
                .thenAccept(
                        answer -> {
                            if (answer.dimensions() != 0) {
                                send(generation, keys, answer.dimensions())
                                        .thenRun(() -> offer(generation, keys));
                            }
                        });
    }

    private CompletableFuture<Void> send(String generation, Keys keys, long dimensions) {
        CompletableFuture<Void> sent = CompletableFuture.completedFuture(null);
        for (int dimension : FilterRequest.dimensions(dimensions)) {
            KeyFilterBuilder whole = keys.whole().get(dimension);
            KeyFilterBuilder of = whole == null ? keys.parts().get(dimension) : whole;
            sent =
                    sent.thenCompose(
                                    done ->
                                            send(
                                                    generation,
                                                    dimension,
                                                    0,
                                                    of.pieces(FilterGeneration.PIECE_BYTES)
                                                            .iterator()))
                            .exceptionallyCompose(
                                    failure -> giveUp(generation, dimension, failure));
        }
        return sent;
    }

    /** Sends the pieces one after another, so that few are in the JobManager's queue. */
    private CompletableFuture<Void> send(
            String generation, int dimension, int index, Iterator<KeyPiece> pieces) {
        KeyPiece piece = pieces.next();
        boolean isLast = !pieces.hasNext();
        return client.send(new Put(generation, process, dimension, index, isLast, piece))
                .thenCompose(
                        answer -> {
                            if (!answer.isOk()) {
                                return giveUp(generation, dimension, null);
                            }
                            return isLast
                                    ? CompletableFuture.completedFuture(null)
                                    : send(generation, dimension, index + 1, pieces);
                        });
    }

    /** Tells the coordinator that keys are missing, so that nobody waits for them. */
    private CompletableFuture<Void> giveUp(
            String generation, int dimension, @Nullable Throwable failure) {
        LOG.info("Keys are not sent to the coordinator: dimension={}", dimension, failure);
        return client.send(new Put(generation, process, dimension, 0, true, null))
                .thenApply(answer -> null);
    }

    /** Records that the subtask ends regularly. Others may still need its keys. */
    public void finish() {
        isFinished = true;
    }

    @Override
    public void close() {
        published.close();
        if (isFinished) {
            client.closeOnSilence();
        } else {
            client.close();
            synchronized (this) {
                isClosed = true;
            }
            announced.thenAccept(response -> ProcessKeys.drop(process, response.generation()));
        }
    }
}
