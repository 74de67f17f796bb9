// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.filter.KeyFilter;
import io.github.gpujoin.core.filter.KeyFilterBuilder;
import io.github.gpujoin.core.filter.KeyPiece;
import io.github.gpujoin.flink.filter.FilterRequest.Announce;
import io.github.gpujoin.flink.filter.FilterRequest.Ask;
import io.github.gpujoin.flink.filter.FilterRequest.Confirm;
import io.github.gpujoin.flink.filter.FilterRequest.Fetch;
import io.github.gpujoin.flink.filter.FilterRequest.Offer;
import io.github.gpujoin.flink.filter.FilterRequest.Put;
import io.github.gpujoin.flink.filter.FilterResponse.Status;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.util.InstantiationUtil;
import org.apache.flink.util.clock.ManualClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two subtasks of a join in processes "a" and "b", and tasks that send them facts. */
class FilterExchangeTest extends FilterExchangeScenario {

    private final ManualClock clock = new ManualClock();
    private final FilterExchange exchange =
            new FilterExchange(plan(MAX_BYTES), Runnable::run, WAIT_MS, clock);

    private CompletableFuture<FilterResponse> send(FilterRequest request) {
        return exchange.handle(request, SUBTASKS);
    }

    /** Returns an answer that needed no wait. */
    private static FilterResponse answered(CompletableFuture<FilterResponse> answer) {
        assertThat(answer).isCompletedWithValueMatching(FilterResponse::isOk);
        return answer.join();
    }

    private CompletableFuture<FilterResponse> announce(
            int subtask, int attempt, String process, ExecutionAttemptID... senders) {
        return send(new Announce(id(join, subtask, attempt), process, Set.of(senders)));
    }

    /** Starts both subtasks, and returns their generation. Each reads from both packers. */
    private String generation(int attempt) {
        for (int subtask = 0; subtask < SUBTASKS; subtask++) {
            exchange.started(subtask, id(join, subtask, attempt));
        }
        announce(0, attempt, "a", packer(0, attempt), packer(1, attempt));
        return announce(1, attempt, "b").join().generation();
    }

    private CompletableFuture<FilterResponse> offer(String generation, String process) {
        return send(new Offer(generation, process, Map.of(WHOLE, 512L), Map.of(PARTS, 512L)));
    }

    private void put(String generation, String process, int dimension, KeyFilterBuilder keys) {
        List<KeyPiece> pieces = keys.pieces(512).toList();
        for (int i = 0; i < pieces.size(); i++) {
            boolean isLast = i == pieces.size() - 1;
            Put put = new Put(generation, process, dimension, i, isLast, pieces.get(i));
            send(put);
            // An answer was lost.
            send(put);
        }
    }

    private CompletableFuture<FilterResponse> ask(ExecutionAttemptID task, String process) {
        return send(new Ask(task, process));
    }

    private KeyFilter fetch(String generation, int dimension) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        while (true) {
            byte[] piece = send(new Fetch(generation, dimension, bytes.size())).join().bytes();
            if (piece.length == 0) {
                return InstantiationUtil.deserializeObject(
                        bytes.toByteArray(), getClass().getClassLoader());
            }
            bytes.writeBytes(piece);
        }
    }

    private static long bits(int... dimensions) {
        long bits = 0;
        for (int dimension : dimensions) {
            bits |= 1L << dimension;
        }
        return bits;
    }

    @Test
    void shouldCollectTheKeysThatATaskInAnotherProcessNeeds() throws Exception {
        CompletableFuture<FilterResponse> asked = ask(packer(0, 0), "c");
        String generation = generation(0);
        ask(packer(1, 0), "c");
        CompletableFuture<FilterResponse> first = offer(generation, "a");
        assertThat(first).isNotDone();
        CompletableFuture<FilterResponse> second = offer(generation, "b");
        assertThat(answered(first).dimensions()).isEqualTo(bits(WHOLE, PARTS));
        assertThat(answered(second).dimensions()).isEqualTo(bits(PARTS));

        put(generation, "a", WHOLE, keys(MAX_BYTES, LongStream.range(0, 50_000)));
        put(generation, "a", PARTS, keys(MAX_BYTES, LongStream.of(5)));
        assertThat(asked).isNotDone();
        put(generation, "b", PARTS, keys(MAX_BYTES, LongStream.of(6, 900)));

        assertThat(answered(asked).dimensions()).isEqualTo(bits(WHOLE, PARTS));
        KeyFilter whole = fetch(generation, WHOLE);
        assertThat(LongStream.range(0, 50_000)).allMatch(whole::mayAccept);
        assertThat(whole.mayAccept(50_000)).isFalse();
        KeyFilter union = fetch(generation, PARTS);
        assertThat(LongStream.range(0, 1_000).filter(union::mayAccept))
                .containsExactly(5L, 6L, 900L);
        assertThat(answered(offer(generation, "a")).dimensions()).isZero();
        assertThat(answered(offer(generation, "b")).dimensions()).isZero();
    }

    @Test
    void shouldMoveNoKeysThatAllTasksHaveByReference() {
        String generation = generation(0);
        offer(generation, "a");
        CompletableFuture<FilterResponse> offered =
                send(new Offer(generation, "b", Map.of(WHOLE, 512L), Map.of()));
        CompletableFuture<FilterResponse> asked = ask(packer(0, 0), "a");
        assertThat(answered(asked).dimensions()).isZero();
        ask(packer(1, 0), "b");

        assertThat(answered(offered).dimensions()).isZero();
    }

    @Test
    void shouldMoveThePartsAloneIfEachProcessHasTheWholeDimensions() {
        String generation = generation(0);
        CompletableFuture<FilterResponse> first = offer(generation, "a");
        CompletableFuture<FilterResponse> second = offer(generation, "b");
        assertThat(second).isNotDone();

        ask(packer(0, 0), "a");

        assertThat(answered(first).dimensions()).isEqualTo(bits(PARTS));
        assertThat(answered(second).dimensions()).isEqualTo(bits(PARTS));
    }

    @Test
    void shouldRequestKeysOnceTheFirstTaskNeedsThem() {
        String generation = generation(0);
        offer(generation, "a");
        offer(generation, "b");
        ask(packer(0, 0), "a");
        put(generation, "a", PARTS, keys(MAX_BYTES, LongStream.of(1)));
        put(generation, "b", PARTS, keys(MAX_BYTES, LongStream.of(2)));
        CompletableFuture<FilterResponse> again = offer(generation, "a");
        assertThat(again).isNotDone();

        ask(packer(1, 0), "c");

        assertThat(answered(again).dimensions()).isEqualTo(bits(WHOLE));
    }

    @Test
    void shouldHaveNoFilterIfOneProcessLacksKeysOrCannotSendThem() {
        String generation = generation(0);
        CompletableFuture<FilterResponse> asked = ask(packer(0, 0), "c");
        send(new Offer(generation, "a", Map.of(WHOLE, 512L), Map.of()));
        CompletableFuture<FilterResponse> other = offer(generation, "b");
        assertThat(asked).isNotDone();
        ask(packer(1, 0), "c");
        assertThat(answered(other).dimensions()).as("parts of one process only").isZero();

        send(new Put(generation, "a", WHOLE, 0, true, null));

        assertThat(asked.join().status()).isEqualTo(Status.OK);
        assertThat(answered(asked).dimensions()).isZero();
    }

    private void advance(long ms) {
        clock.advanceTime(Duration.ofMillis(ms));
    }

    @Test
    void shouldHaveNoFilterOfAProcessThatStopsSendingItsKeys() {
        String generation = generation(0);
        ask(packer(0, 0), "c");
        offer(generation, "a");
        offer(generation, "b");
        put(generation, "a", WHOLE, keys(MAX_BYTES, LongStream.of(1)));
        put(generation, "a", PARTS, keys(MAX_BYTES, LongStream.of(1)));
        advance(FilterGeneration.SILENCE_MS - 1);
        assertThat(ask(packer(0, 0), "c")).isNotDone();

        advance(1);

        assertThat(answered(ask(packer(0, 0), "c")).dimensions()).isEqualTo(bits(WHOLE));
        put(generation, "b", PARTS, keys(MAX_BYTES, LongStream.of(2)));
        assertThat(answered(ask(packer(1, 0), "c")).dimensions()).isEqualTo(bits(WHOLE));
    }

    /** Nobody needs its keys for a long time. */
    @Test
    void shouldWaitForAProcessThatRepeatsItsOffer() {
        String generation = generation(0);
        offer(generation, "a");
        for (int i = 0; i < 3; i++) {
            advance(FilterGeneration.SILENCE_MS - 1);
            offer(generation, "a");
        }
        offer(generation, "b");

        assertThat(ask(packer(0, 0), "c")).isNotDone();
        assertThat(answered(offer(generation, "a")).dimensions()).isEqualTo(bits(WHOLE, PARTS));
    }

    @Test
    void shouldTakeWholeDimensionsFromAProcessThatIsNotReleased() {
        String generation = generation(0);
        offer(generation, "a");
        advance(FilterGeneration.SILENCE_MS);
        CompletableFuture<FilterResponse> offered = offer(generation, "b");
        CompletableFuture<FilterResponse> asked = ask(packer(0, 0), "c");
        assertThat(answered(offered).dimensions()).isEqualTo(bits(WHOLE, PARTS));

        put(generation, "b", WHOLE, keys(MAX_BYTES, LongStream.of(1)));

        assertThat(answered(asked).dimensions()).isEqualTo(bits(WHOLE));
    }

    private void confirm(String generation, String process) {
        assertThat(answered(send(new Confirm(generation, process))).dimensions()).isZero();
    }

    @Test
    void shouldWaitForALongLoadOfAProcessThatRepeatsItsConfirmation() {
        String generation = generation(0);
        for (int i = 0; i < 100; i++) {
            advance(FilterGeneration.SILENCE_MS - 1);
            offer(generation, "a");
            confirm(generation, "b");
            assertThat(ask(packer(0, 0), "c")).isNotDone();
        }

        assertThat(answered(offer(generation, "b")).dimensions()).isEqualTo(bits(PARTS));
    }

    /** Flink released it, or it was killed after its tasks had finished. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 5})
    void shouldNotWaitForAProcessThatConfirmedAndIsGone(int confirmations) {
        String generation = generation(0);
        for (int i = 0; i < confirmations; i++) {
            confirm(generation, "b");
            advance(FilterGeneration.SILENCE_MS / 2);
        }
        confirm(generation, "b");
        advance(FilterGeneration.SILENCE_MS - 1);
        offer(generation, "a");
        assertThat(ask(packer(0, 0), "c")).isNotDone();

        advance(1);

        assertThat(answered(ask(packer(0, 0), "c")).dimensions()).isZero();
        ask(packer(1, 0), "c");
        assertThat(answered(offer(generation, "a")).dimensions()).isZero();
        assertThat(answered(offer(generation, "b")).dimensions()).as("too late").isZero();
    }

    @Test
    void shouldHaveNoFilterBeyondTheMemoryOfTheJobManager() {
        FilterExchange small = new FilterExchange(plan(1 << 24), Runnable::run);
        for (int subtask = 0; subtask < SUBTASKS; subtask++) {
            small.started(subtask, id(join, subtask, 0));
        }
        small.handle(new Announce(id(join, 0, 0), "a", Set.of(packer(0, 0))), SUBTASKS);
        String generation =
                small.handle(new Announce(id(join, 1, 0), "b", Set.of()), SUBTASKS)
                        .join()
                        .generation();
        small.handle(new Ask(packer(0, 0), "c"), SUBTASKS);
        Map<Integer, Long> whole = Map.of(WHOLE, FilterGeneration.MAX_BYTES);
        Map<Integer, Long> parts = Map.of(PARTS, 1L);
        CompletableFuture<FilterResponse> first =
                small.handle(new Offer(generation, "a", whole, parts), SUBTASKS);
        CompletableFuture<FilterResponse> second =
                small.handle(new Offer(generation, "b", whole, parts), SUBTASKS);

        assertThat(answered(first).dimensions()).isEqualTo(bits(WHOLE));
        assertThat(answered(second).dimensions()).isZero();
    }

    @Test
    void shouldWaitForSubtasksThatStartLate() {
        assertThat(announce(0, 0, "a").join().status()).isEqualTo(Status.AGAIN);
        exchange.started(0, id(join, 0, 0));
        CompletableFuture<FilterResponse> first = announce(0, 0, "a", packer(0, 0));
        CompletableFuture<FilterResponse> asked = ask(packer(0, 0), "c");
        assertThat(first).isNotDone();
        exchange.started(1, id(join, 1, 0));
        assertThat(first).isNotDone();

        FilterResponse second = announce(1, 0, "a").join();

        assertThat(second.processSubtasks()).isEqualTo(2);
        assertThat(second.subtasks()).isEqualTo(SUBTASKS);
        assertThat(first.join()).isEqualTo(second);
        assertThat(asked).isNotDone();
    }

    /** So that a task can tell it from a coordinator that it cannot reach. */
    @Test
    void shouldAnswerARequestThatWaitsBeforeFlinksRpcTimesOut() {
        FilterExchange prompt = new FilterExchange(plan(MAX_BYTES), Runnable::run, 1, clock);
        prompt.started(0, id(join, 0, 0));
        Announce first = new Announce(id(join, 0, 0), "a", Set.of(packer(0, 0)));
        Ask ask = new Ask(packer(0, 0), "c");

        assertThat(prompt.handle(first, SUBTASKS).join().status()).isEqualTo(Status.AGAIN);
        assertThat(prompt.handle(ask, SUBTASKS).join().status()).isEqualTo(Status.AGAIN);
    }

    @Test
    void shouldHaveNoFilterIfKeysCannotBeMerged() {
        String generation = generation(0);
        CompletableFuture<FilterResponse> asked = ask(packer(0, 0), "c");
        offer(generation, "a");
        offer(generation, "b");
        KeyFilterBuilder other = keys(MAX_BYTES / 2, new Random(5).longs(200_000));
        KeyPiece piece = other.pieces(512).findFirst().orElseThrow();
        assertThat(asked).isNotDone();

        for (int dimension : List.of(WHOLE, PARTS)) {
            assertThat(send(new Put(generation, "a", dimension, 0, false, piece)).join().isOk())
                    .isTrue();
        }

        assertThat(answered(asked).dimensions()).isZero();
    }

    /** Tasks of their own, because the job does not chain them to the packers. */
    @Test
    void shouldNotAwaitTasksThatSendFactsAndAreNoPackers() {
        JobVertexID send = new JobVertexID();
        for (int subtask = 0; subtask < SUBTASKS; subtask++) {
            exchange.started(subtask, id(join, subtask, 0));
        }
        announce(0, 0, "a", id(send, 0, 0), id(send, 1, 0));
        String generation = announce(1, 0, "b").join().generation();
        CompletableFuture<FilterResponse> first = offer(generation, "a");
        CompletableFuture<FilterResponse> second = offer(generation, "b");
        assertThat(first).isNotDone();

        assertThat(ask(packer(1, 0), "a").join().status()).isEqualTo(Status.OVER);

        assertThat(answered(first).dimensions()).isZero();
        assertThat(answered(second).dimensions()).isZero();
    }

    /** As with a dimension that is measured: packers send to the join and to send tasks. */
    @Test
    void shouldAwaitOnlyThePackersAmongAllTasksThatSendFacts() {
        JobVertexID send = new JobVertexID();
        for (int subtask = 0; subtask < SUBTASKS; subtask++) {
            exchange.started(subtask, id(join, subtask, 0));
        }
        announce(0, 0, "a", packer(0, 0), id(send, 0, 0));
        String generation = announce(1, 0, "a", packer(1, 0), id(send, 0, 0)).join().generation();
        CompletableFuture<FilterResponse> offered = offer(generation, "a");
        ask(packer(0, 0), "a");
        assertThat(offered).isNotDone();

        ask(packer(1, 0), "a");

        assertThat(answered(offered).dimensions()).isZero();
    }

    @Test
    void shouldGiveNothingToATaskThatNoSubtaskReads() {
        generation(1);

        assertThat(ask(packer(0, 0), "c").join().status()).as("earlier").isEqualTo(Status.OVER);
        assertThat(ask(packer(0, 2), "c").join().status()).as("later").isEqualTo(Status.OVER);
    }

    @Test
    void shouldRefuseTheMessagesOfAnEndedGeneration() {
        String generation = generation(0);
        CompletableFuture<FilterResponse> asked = ask(packer(0, 0), "c");
        offer(generation, "a");
        offer(generation, "b");
        exchange.ended(1, 0);
        put(generation, "a", WHOLE, keys(MAX_BYTES, LongStream.of(1)));

        assertThat(asked).isNotDone();
        assertThat(offer(generation, "a").join().status()).isEqualTo(Status.OVER);
        assertThat(send(new Fetch(generation, WHOLE, 0)).join().status()).isEqualTo(Status.OVER);
        exchange.started(1, id(join, 1, 1));
        assertThat(announce(1, 0, "b").join().status()).isEqualTo(Status.OVER);
    }

    @Test
    void shouldIgnoreTheFailureOfAnEarlierAttemptAndARepeatedStart() {
        String generation = generation(1);
        exchange.ended(0, 0);
        exchange.started(0, id(join, 0, 1));
        offer(generation, "a");

        assertThat(offer(generation, "b").isDone()).isFalse();
    }
}
