// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.filter.KeyFilterBuilder;
import io.github.gpujoin.core.filter.RowPruner;
import io.github.gpujoin.flink.filter.FilterRequest.Announce;
import io.github.gpujoin.flink.filter.FilterRequest.Ask;
import io.github.gpujoin.flink.filter.FilterRequest.Confirm;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.testutils.logging.LoggerAuditingExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.event.Level;

/** What reaches the tasks that send facts, and how often it moves. */
class FilterTransferTest extends FilterTransferScenario {

    @RegisterExtension
    private final LoggerAuditingExtension log =
            new LoggerAuditingExtension(FilterSubscription.class, Level.INFO);

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

    private int confirmations(String process) {
        return (int)
                sent(Confirm.class).stream()
                        .filter(confirm -> confirm.process().equals(process))
                        .count();
    }

    private void awaitConfirmations(String process, int count) throws InterruptedException {
        int before = confirmations(process);
        while (confirmations(process) < before + count) {
            Thread.sleep(1);
        }
    }

    @Test
    @Timeout(20)
    void shouldConfirmUntilTheProcessOffersItsKeys() throws Exception {
        confirmMs = 1;
        List<FilterPublisher> join = publishers(1, "a", "a", "b");
        awaitConfirmations("a", 5);
        publish(join.get(0), 10);
        awaitConfirmations("a", 5);
        publish(join.get(1), 11);
        assertThat(sent(Offer.class)).extracting(Offer::process).containsExactly("a");
        int sent = confirmations("a");

        awaitConfirmations("b", 50);

        assertThat(confirmations("a")).as("one may be in flight").isLessThanOrEqualTo(sent + 1);
    }

    @Test
    @Timeout(20)
    void shouldConfirmUntilTheGenerationEnds() throws Exception {
        confirmMs = 1;
        publishers(1, "a", "b");
        awaitConfirmations("a", 5);
        exchange.reset(0);
        int sent = confirmations("a");

        attemptNumber++;
        publishers(1, "b", "c");
        awaitConfirmations("c", 50);

        assertThat(confirmations("a")).as("one was refused").isLessThanOrEqualTo(sent + 2);
    }

    @Test
    void shouldConfirmOnceForAllSubtasksOfAProcess() {
        publishers(1, "a", "b", "a", "a");

        assertThat(sent(Confirm.class))
                .extracting(Confirm::process)
                .containsExactlyInAnyOrder("a", "b");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void shouldHaveNoFilterOfPartsThatCannotBeMerged(int subtask) {
        FilterSubscription local = packer("a");
        FilterSubscription remote = packer("b");
        List<FilterPublisher> join = publishers(2, "a", "a", "a");
        for (int i = 0; i < 3; i++) {
            // Of another geometry than the others.
            KeyFilterBuilder part = new KeyFilterBuilder(i == subtask ? MAX_BYTES / 2 : MAX_BYTES);
            new Random(i).longs(200_000).forEach(part::add);
            join.get(i).publish(Map.of(PARTS, part), dimension -> false);
        }

        for (FilterSubscription packer : List.of(local, remote)) {
            assertThat(packer.areExpected()).isFalse();
            assertThat(packer.known()).isEmpty();
        }
        assertThat(sent(Offer.class)).singleElement().extracting(Offer::parts).isEqualTo(Map.of());
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
        FilterSubscription packer = packer("a", 0, partitions);
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
    void shouldCountAndLogFiltersThatAreTooLargeForNarrowFacts() {
        FilterSubscription packer = packer("a");
        publish(publishers(1, "a").get(0), 10);
        long wholeBytes = of(packer, "whole").lengthBytes();
        assertThat(of(packer, "parts").lengthBytes()).isLessThan(wholeBytes);
        assertThat(packer.testedCount()).as("before the first facts").isEqualTo(2);

        for (int look = 0; look < 3; look++) {
            packer.pruner(64, 1, wholeBytes - 1);
            packer.pruner(64, 1, Long.MAX_VALUE);
        }
        assertThat(packer.testedCount()).as("of wide facts").isEqualTo(2);
        packer.pruner(64, 1, wholeBytes - 1);

        assertThat(packer.testedCount()).as("of narrow facts").isOne();
        assertThat(log.getMessages())
                .containsExactly(
                        "Filter is too large for narrow facts: dimension=whole, filterBytes=%d, maxBytes=%d"
                                .formatted(wholeBytes, wholeBytes - 1));
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
