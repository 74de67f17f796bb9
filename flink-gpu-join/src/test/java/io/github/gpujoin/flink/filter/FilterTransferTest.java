// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.filter.KeyFilter;
import io.github.gpujoin.core.filter.KeyFilterBuilder;
import io.github.gpujoin.core.filter.RowPruner;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.filter.FilterRequest.Announce;
import io.github.gpujoin.flink.filter.FilterRequest.Ask;
import io.github.gpujoin.flink.filter.FilterRequest.Fetch;
import io.github.gpujoin.flink.filter.FilterRequest.Offer;
import io.github.gpujoin.flink.filter.FilterRequest.Put;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
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
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.runtime.rpc.exceptions.RecipientUnreachableException;
import org.apache.flink.runtime.scheduler.strategy.ExecutionVertexID;
import org.apache.flink.util.SerializedValue;
import org.apache.flink.util.clock.ManualClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Both ends of filters with a coordinator between them. */
class FilterTransferTest {

    private static final int MAX_BYTES = 1 << 20;
    private static final int WHOLE = 0;
    private static final int PARTS = 1;

    private final FilterPlan plan =
            new FilterPlan(
                    UUID.randomUUID().toString(),
                    new OperatorID(),
                    List.of(
                            new FilteringDimension(WHOLE, "whole", 3, Distribution.REPLICATED),
                            new FilteringDimension(PARTS, "parts", 4, Distribution.PARTITIONED)),
                    MAX_BYTES,
                    List.of());

    private final ExecutionGraphID graph = new ExecutionGraphID();
    private final JobVertexID joinVertex = new JobVertexID();
    private final JobVertexID packerVertex = new JobVertexID();
    private final IntermediateDataSetID data = new IntermediateDataSetID();
    private final FilterExchange exchange = new FilterExchange(plan, Runnable::run);
    private final List<FilterRequest> requests = new ArrayList<>();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private int subtasks;
    private int packers;
    private int attemptNumber;
    private final ManualClock clock = new ManualClock();

    /** What a task receives instead of an answer. */
    private UnaryOperator<FilterResponse> answer = UnaryOperator.identity();

    /** Requests that do not reach the coordinator. */
    private Predicate<FilterRequest> isLost = request -> false;

    /** Reaches the coordinator at once. */
    private final TaskOperatorEventGateway gateway =
            new TaskOperatorEventGateway() {
                @Override
                public void sendOperatorEventToCoordinator(
                        OperatorID operator, SerializedValue<OperatorEvent> event) {
                    throw new UnsupportedOperationException();
                }

                @Override
                public CompletableFuture<CoordinationResponse> sendRequestToCoordinator(
                        OperatorID operator, SerializedValue<CoordinationRequest> request) {
                    assertThat(operator).isEqualTo(plan.operator());
                    try {
                        FilterRequest received =
                                (FilterRequest)
                                        request.deserializeValue(getClass().getClassLoader());
                        requests.add(received);
                        if (isLost.test(received)) {
                            throw new RecipientUnreachableException("task", "job", "test");
                        }
                        return exchange.handle(received, subtasks)
                                .thenApply(
                                        sent -> received instanceof Ask ? answer.apply(sent) : sent)
                                .thenApply(FilterResponse::toResponse);
                    } catch (Exception e) {
                        return CompletableFuture.failedFuture(e);
                    }
                }
            };

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    private ExecutionAttemptID attempt(JobVertexID vertex, int subtask) {
        return new ExecutionAttemptID(graph, new ExecutionVertexID(vertex, subtask), attemptNumber);
    }

    private ResultPartitionID partition(int packer) {
        return new ResultPartitionID(
                new IntermediateResultPartitionID(data, packer), attempt(packerVertex, packer));
    }

    /** Opens the subtasks of the join, each of which reads from all packers. */
    private List<FilterPublisher> publishers(int packerCount, String... processes) {
        subtasks = processes.length;
        List<FilterPublisher> publishers = new ArrayList<>();
        for (int subtask = 0; subtask < processes.length; subtask++) {
            publishers.add(publisher(subtask, processes[subtask], packerCount));
        }
        return publishers;
    }

    private FilterPublisher publisher(int subtask, String process, int packerCount) {
        ExecutionAttemptID attempt = attempt(joinVertex, subtask);
        exchange.started(subtask, attempt);
        FilterPublisher publisher =
                new FilterPublisher(
                        plan,
                        new FilterTask(process, attempt, gateway, clock),
                        IntStream.range(0, packerCount).mapToObj(this::partition).toList());
        opened.add(publisher);
        return publisher;
    }

    private FilterSubscription packer(String process) {
        int packer = packers++;
        FilterTask task = new FilterTask(process, attempt(packerVertex, packer), gateway, clock);
        FilterSubscription subscription =
                new FilterSubscription(plan, task, List.of(partition(packer)));
        opened.add(subscription);
        return subscription;
    }

    private static KeyFilterBuilder keys(LongStream keys) {
        KeyFilterBuilder builder = new KeyFilterBuilder(MAX_BYTES);
        keys.forEach(builder::add);
        return builder;
    }

    private static void publish(FilterPublisher publisher, long part) {
        publisher.publish(
                new TreeMap<>(
                        Map.of(
                                WHOLE,
                                keys(LongStream.range(0, 100)),
                                PARTS,
                                keys(LongStream.of(part)))),
                dimension -> false);
    }

    private static KeyFilter of(FilterSubscription packer, String dimension) {
        return packer.known().stream()
                .filter(filter -> filter.dimension().equals(dimension))
                .findFirst()
                .orElseThrow()
                .keys();
    }

    private <R> List<R> sent(Class<R> type) {
        return requests.stream().filter(type::isInstance).map(type::cast).toList();
    }

    @Test
    void shouldMergePartsByReferenceIfAllSubtasksAreInOneProcess() {
        FilterSubscription packer = packer("a");
        List<FilterPublisher> join = publishers(1, "a", "a", "a");
        assertThat(packer.areExpected()).isTrue();
        for (int subtask = 0; subtask < 3; subtask++) {
            assertThat(packer.areExpected()).isTrue();
            publish(join.get(subtask), 10 + subtask);
            assertThat(of(packer, "whole").mayAccept(99)).isTrue();
        }

        assertThat(packer.areExpected()).isFalse();
        assertThat(LongStream.range(0, 100).filter(of(packer, "parts")::mayAccept))
                .containsExactly(10L, 11L, 12L);
        assertThat(sent(Put.class)).isEmpty();
        assertThat(sent(Fetch.class)).isEmpty();
    }

    @Test
    void shouldSendAndFetchOnceForEachProcess() {
        List<FilterSubscription> remote = List.of(packer("c"), packer("c"), packer("d"));
        List<FilterPublisher> join = publishers(3, "a", "b", "b");
        for (int subtask = 0; subtask < 3; subtask++) {
            publish(join.get(subtask), 10 + subtask);
        }

        for (FilterSubscription packer : remote) {
            assertThat(packer.areExpected()).isFalse();
            assertThat(LongStream.range(0, 200).filter(of(packer, "whole")::mayAccept))
                    .hasSize(100);
            assertThat(LongStream.range(0, 200).filter(of(packer, "parts")::mayAccept))
                    .containsExactly(10L, 11L, 12L);
        }
        assertThat(sent(Put.class)).extracting(Put::dimension).containsOnlyOnce(WHOLE);
        assertThat(sent(Put.class))
                .filteredOn(put -> put.dimension() == PARTS)
                .extracting(Put::process)
                .containsExactlyInAnyOrder("a", "b");
        assertThat(sent(Fetch.class))
                .as("dimensions x (piece, end) x processes")
                .hasSize(2 * 2 * 2);
    }

    @Test
    void shouldFetchTheUnionOnlyWhereTheJoinRuns() {
        FilterSubscription first = packer("a");
        FilterSubscription second = packer("b");
        List<FilterPublisher> join = publishers(2, "a", "b");
        publish(join.get(0), 10);
        assertThat(of(first, "whole").mayAccept(5)).isTrue();
        assertThat(second.known()).isEmpty();
        publish(join.get(1), 11);

        for (FilterSubscription packer : List.of(first, second)) {
            assertThat(packer.areExpected()).isFalse();
            assertThat(packer.known()).hasSize(2);
            assertThat(of(packer, "parts").mayAccept(10)).isTrue();
            assertThat(of(packer, "parts").mayAccept(11)).isTrue();
        }
        assertThat(sent(Put.class)).extracting(Put::dimension).containsOnly(PARTS);
    }

    /** It had no facts. Its keys are needed by the others. */
    @Test
    void shouldKeepTheKeysOfASubtaskThatFinishesBeforeTheOthersStart() {
        FilterSubscription packer = packer("c");
        subtasks = 2;
        FilterPublisher first = publisher(0, "a", 1);
        publish(first, 10);
        first.finish();
        first.close();
        assertThat(packer.areExpected()).isTrue();

        publish(publisher(1, "a", 1), 11);

        assertThat(packer.areExpected()).isFalse();
        assertThat(of(packer, "parts").mayAccept(10)).isTrue();
        assertThat(of(packer, "parts").mayAccept(11)).isTrue();
    }

    @Test
    void shouldExpectNothingOfDimensionsWithoutKeys() {
        FilterSubscription local = packer("a");
        FilterSubscription remote = packer("b");
        publishers(2, "a").get(0).publish(Map.of(), dimension -> false);

        assertThat(local.areExpected()).isFalse();
        assertThat(remote.areExpected()).isFalse();
        assertThat(remote.known()).isEmpty();
    }

    @Test
    void shouldMoveFiltersOfManyPieces() {
        FilterSubscription packer = packer("b");
        Set<Long> all = new HashSet<>(new Random(3).longs(100_000).boxed().toList());
        publishers(1, "a")
                .get(0)
                .publish(
                        Map.of(PARTS, keys(all.stream().mapToLong(Long::longValue))),
                        dimension -> false);

        assertThat(all).allMatch(of(packer, "parts")::mayAccept);
        assertThat(sent(Put.class)).hasSize(MAX_BYTES / FilterGeneration.PIECE_BYTES);
        assertThat(packer.areExpected()).isFalse();
    }

    /** Loses the first request of a type. */
    private void loseFirst(Class<? extends FilterRequest> type) {
        isLost = request -> type.isInstance(request) && sent(type).size() == 1;
    }

    private static void awaitFilters(FilterSubscription packer) throws InterruptedException {
        while (packer.areExpected()) {
            Thread.sleep(1);
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Announce.class, Offer.class, Put.class, Ask.class, Fetch.class})
    @Timeout(20)
    void shouldRepeatARequestThatIsLost(Class<? extends FilterRequest> type) throws Exception {
        loseFirst(type);
        FilterSubscription packer = packer("b");
        publish(publishers(1, "a").get(0), 10);
        assertThat(packer.areExpected()).isTrue();

        awaitFilters(packer);

        assertThat(packer.known()).hasSize(2);
        assertThat(of(packer, "parts").mayAccept(10)).isTrue();
    }

    @Test
    @Timeout(20)
    void shouldStopASourceForMinutesAtMostIfTheCoordinatorIsSilent() throws Exception {
        AtomicBoolean isAway = new AtomicBoolean(true);
        isLost = request -> request instanceof Ask && isAway.get();
        FilterSubscription packer = packer("b");
        publish(publishers(1, "a").get(0), 10);
        clock.advanceTime(FilterClient.SILENCE_MS - 1, TimeUnit.MILLISECONDS);
        assertThat(packer.areExpected()).isTrue();
        clock.advanceTime(1, TimeUnit.MILLISECONDS);
        assertThat(packer.areExpected()).isFalse();
        assertThat(packer.known()).isEmpty();

        isAway.set(false);

        while (packer.known().isEmpty()) {
            Thread.sleep(1);
        }
        assertThat(packer.known()).as("adopted late").hasSize(2);
    }

    /** The JobManager gave up their TaskManager, which cancels them later. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void shouldMergeTheKeysOfAnAttemptWhoseForerunnersEndLate(int openedSubtasks) {
        List<FilterPublisher> earlier = publishers(1, "a", "a");
        publish(earlier.get(0), 5);
        exchange.reset(0);
        exchange.reset(1);
        attemptNumber++;
        List<FilterPublisher> join = new ArrayList<>();
        for (int subtask = 0; subtask < 2; subtask++) {
            if (openedSubtasks == subtask) {
                closeAll(earlier);
            }
            join.add(publisher(subtask, "a", 1));
        }
        FilterSubscription packer = packer("a");
        publish(join.get(0), 10);
        if (openedSubtasks == 2) {
            closeAll(earlier);
        }
        publish(join.get(1), 11);

        assertThat(packer.areExpected()).isFalse();
        assertThat(LongStream.range(0, 100).filter(of(packer, "parts")::mayAccept))
                .containsExactly(10L, 11L);
        assertThat(sent(Offer.class)).hasSize(1);
        assertThat(ProcessKeys.incomplete("a")).isZero();
    }

    private static void closeAll(List<FilterPublisher> publishers) {
        publishers.forEach(FilterPublisher::close);
    }

    @Test
    void shouldCountTheKeysOfASubtaskOnce() {
        List<FilterPublisher> join = publishers(1, "a", "a");
        publish(join.get(0), 10);
        publish(join.get(0), 10);
        assertThat(sent(Offer.class)).isEmpty();

        publish(join.get(1), 11);

        assertThat(sent(Offer.class)).hasSize(1);
    }

    @Test
    void shouldDropTheKeysOfAProcessThatFails() {
        List<FilterPublisher> join = publishers(1, "a", "a");
        publish(join.get(0), 10);
        assertThat(ProcessKeys.incomplete("a")).isOne();

        closeAll(join);

        assertThat(ProcessKeys.incomplete("a")).isZero();
        publish(join.get(1), 11);
        assertThat(ProcessKeys.incomplete("a")).as("after the end").isZero();
    }

    /** A source thread learns of all filters while the task's thread looks for some. */
    @Test
    void shouldTestAllFiltersThatArriveDuringALook() {
        subtasks = 2;
        List<Runnable> duringALook = new ArrayList<>();
        ResultPartitionID partition = partition(0);
        List<ResultPartitionID> partitions =
                new AbstractList<>() {
                    @Override
                    public ResultPartitionID get(int index) {
                        List<Runnable> now = List.copyOf(duringALook);
                        duringALook.clear();
                        now.forEach(Runnable::run);
                        return partition;
                    }

                    @Override
                    public int size() {
                        return 1;
                    }
                };
        FilterSubscription packer =
                new FilterSubscription(
                        plan,
                        new FilterTask("a", attempt(packerVertex, 0), gateway, clock),
                        partitions);
        opened.add(packer);
        List<FilterPublisher> join = publishers(1, "a", "b");
        publish(join.get(0), 10);
        duringALook.add(
                () -> {
                    publish(join.get(1), 11);
                    assertThat(packer.known()).hasSize(2);
                });
        packer.pruner(1, 1, Long.MAX_VALUE);
        assertThat(duringALook).isEmpty();

        RowPruner pruner = null;
        for (int row = 0; row < 100; row++) {
            pruner = packer.pruner(1, 1, Long.MAX_VALUE);
        }

        Set<Integer> tested = new HashSet<>();
        pruner.select(
                (column, condition, rows, count) -> {
                    tested.add(column);
                    return count;
                },
                new int[1],
                1);
        assertThat(tested).containsExactlyInAnyOrder(3, 4);
    }

    @Test
    void shouldExpectNothingIfAFilterCannotBeFetched() {
        FilterSubscription packer = packer("b");
        answer = FilterTransferTest::withUnknownDimension;
        publish(publishers(1, "a").get(0), 10);

        assertThat(packer.areExpected()).isFalse();
        assertThat(packer.known()).isEmpty();
    }

    private static FilterResponse withUnknownDimension(FilterResponse response) {
        return response.dimensions() == 0
                ? response
                : FilterResponse.ofDimensions(response.generation(), 1L << 40);
    }
}
