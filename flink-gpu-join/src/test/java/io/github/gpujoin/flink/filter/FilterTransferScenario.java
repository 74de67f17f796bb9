// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.core.filter.KeyFilter;
import io.github.gpujoin.core.filter.KeyFilterBuilder;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.filter.FilterRequest.Ask;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.executiongraph.ExecutionGraphID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.jobgraph.IntermediateDataSetID;
import org.apache.flink.runtime.jobgraph.IntermediateResultPartitionID;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.rpc.exceptions.RecipientUnreachableException;
import org.apache.flink.runtime.scheduler.strategy.ExecutionVertexID;
import org.apache.flink.util.clock.ManualClock;
import org.junit.jupiter.api.AfterEach;

/** Both ends of filters with a coordinator between them. */
abstract class FilterTransferScenario {

    static final int MAX_BYTES = 1 << 20;
    static final int WHOLE = 0;
    static final int PARTS = 1;

    final FilterPlan plan =
            new FilterPlan(
                    UUID.randomUUID().toString(),
                    new OperatorID(),
                    List.of(
                            new FilteringDimension(WHOLE, "whole", 3, Distribution.REPLICATED),
                            new FilteringDimension(PARTS, "parts", 4, Distribution.PARTITIONED)),
                    MAX_BYTES,
                    List.of());

    final ExecutionGraphID graph = new ExecutionGraphID();
    final JobVertexID joinVertex = new JobVertexID();
    final JobVertexID packerVertex = new JobVertexID();
    final IntermediateDataSetID data = new IntermediateDataSetID();
    final FilterExchange exchange = new FilterExchange(plan, Runnable::run);
    final List<FilterRequest> requests = new CopyOnWriteArrayList<>();
    final List<AutoCloseable> opened = new ArrayList<>();
    int subtasks;
    int packers;
    int attemptNumber;
    long confirmMs = FilterPublisher.CONFIRM_MS;
    final ManualClock clock = new ManualClock();

    /** What a task receives instead of an answer. */
    UnaryOperator<FilterResponse> answer = UnaryOperator.identity();

    /** Requests that do not reach the coordinator. */
    Predicate<FilterRequest> isLost = request -> false;

    private final FakeGateway gateway = new FakeGateway(plan.operator(), this::answer);

    private CompletableFuture<FilterResponse> answer(FilterRequest request) {
        requests.add(request);
        return isLost.test(request)
                ? CompletableFuture.failedFuture(
                        new RecipientUnreachableException("task", "job", "test"))
                : exchange.handle(request, subtasks)
                        .thenApply(sent -> request instanceof Ask ? answer.apply(sent) : sent);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    ExecutionAttemptID attempt(JobVertexID vertex, int subtask) {
        return new ExecutionAttemptID(graph, new ExecutionVertexID(vertex, subtask), attemptNumber);
    }

    ResultPartitionID partition(int packer) {
        return new ResultPartitionID(
                new IntermediateResultPartitionID(data, packer), attempt(packerVertex, packer));
    }

    /** Opens the subtasks of the join, each of which reads from all packers. */
    List<FilterPublisher> publishers(int packerCount, String... processes) {
        subtasks = processes.length;
        List<FilterPublisher> publishers = new ArrayList<>();
        for (int subtask = 0; subtask < processes.length; subtask++) {
            publishers.add(publisher(subtask, processes[subtask], packerCount));
        }
        return publishers;
    }

    FilterPublisher publisher(int subtask, String process, int packerCount) {
        ExecutionAttemptID attempt = attempt(joinVertex, subtask);
        exchange.started(subtask, attempt);
        FilterPublisher publisher =
                new FilterPublisher(
                        plan,
                        new FilterTask(process, attempt, gateway, clock),
                        IntStream.range(0, packerCount).mapToObj(this::partition).toList(),
                        confirmMs);
        opened.add(publisher);
        return publisher;
    }

    FilterSubscription packer(String process) {
        int packer = packers++;
        return packer(process, packer, List.of(partition(packer)));
    }

    FilterSubscription packer(String process, int packer, List<ResultPartitionID> partitions) {
        FilterTask task = new FilterTask(process, attempt(packerVertex, packer), gateway, clock);
        FilterSubscription subscription = new FilterSubscription(plan, task, partitions);
        opened.add(subscription);
        return subscription;
    }

    static KeyFilterBuilder keys(LongStream keys) {
        KeyFilterBuilder builder = new KeyFilterBuilder(MAX_BYTES);
        keys.forEach(builder::add);
        return builder;
    }

    static void publish(FilterPublisher publisher, long part) {
        publisher.publish(
                new TreeMap<>(
                        Map.of(
                                WHOLE,
                                keys(LongStream.range(0, 100)),
                                PARTS,
                                keys(LongStream.of(part)))),
                dimension -> false);
    }

    static KeyFilter of(FilterSubscription packer, String dimension) {
        return packer.known().stream()
                .filter(filter -> filter.dimension().equals(dimension))
                .findFirst()
                .orElseThrow()
                .keys();
    }

    <R> List<R> sent(Class<R> type) {
        return requests.stream().filter(type::isInstance).map(type::cast).toList();
    }
}
