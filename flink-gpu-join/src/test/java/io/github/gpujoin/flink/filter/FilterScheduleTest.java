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
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.util.InstantiationUtil;
import org.apache.flink.util.clock.ManualClock;
import org.junit.jupiter.api.Test;

/** Random schedules of the messages of a join in processes "a" and "b", and of its failures. */
class FilterScheduleTest extends FilterExchangeScenario {

    private static final int SILENCE_MS = (int) FilterGeneration.SILENCE_MS;

    /**
     * Random schedules of messages, repetitions, failures and restarts. Each attempt has other
     * keys, so that a filter of another attempt would lack some.
     */
    @Test
    void shouldNeverLackAKeyOfTheAttemptThatReadsTheFacts() throws Exception {
        int fetched = 0;
        for (long seed = 0; seed < 300; seed++) {
            fetched += new Schedule(seed).run();
        }
        assertThat(fetched).as("filters that arrived").isGreaterThan(300);
    }

    /** Nothing fails if Flink releases a process whose subtasks have finished. */
    @Test
    void shouldNotLetTasksWaitForAProcessThatIsReleased() throws Exception {
        for (long seed = 0; seed < 300; seed++) {
            new Schedule(seed).release();
        }
    }

    /** Messages of all attempts of two subtasks and two packers, in any order. */
    private final class Schedule {

        private final Random random;
        private final String name;
        private final ManualClock clock = new ManualClock();
        private final FilterExchange scheduled =
                new FilterExchange(plan(1 << 12), Runnable::run, WAIT_MS, clock);
        private final Map<Integer, String> generations = new HashMap<>();
        private int attempt;
        private int fetched;

        Schedule(long seed) {
            this.random = new Random(seed);
            this.name = "seed " + seed;
        }

        private FilterResponse now(FilterRequest request) {
            return scheduled.handle(request, SUBTASKS).getNow(FilterResponse.AGAIN);
        }

        private LongStream keys(int of, String process) {
            long shift = process.equals("a") ? 0 : 40;
            return new Random(of).longs(30).map(key -> key % 1_000_000 + shift);
        }

        int run() throws Exception {
            for (int step = 0; step < 400; step++) {
                step(random.nextInt(100) < 90 ? attempt : random.nextInt(attempt + 1));
            }
            return fetched;
        }

        /** Starts a generation, of which one process sends nothing after some messages. */
        void release() throws Exception {
            for (int subtask = 0; subtask < SUBTASKS; subtask++) {
                scheduled.started(subtask, id(join, subtask, attempt));
            }
            announce(0, attempt, "a");
            announce(1, attempt, "b");
            announce(0, attempt, "a");
            String generation = generations.get(attempt);
            boolean isFirst = random.nextBoolean();
            String released = isFirst ? "a" : "b";
            String other = isFirst ? "b" : "a";
            List<Runnable> sent = new ArrayList<>();
            if (random.nextBoolean()) {
                sent.add(() -> now(new Confirm(generation, released)));
            }
            if (random.nextBoolean()) {
                sent.add(() -> offer(generation, released));
                sent.add(() -> now(new Put(generation, released, PARTS, 0, false, piece())));
            }
            sent.add(() -> now(new Confirm(generation, other)));
            sent.add(() -> offer(generation, other));
            sent.add(() -> ask(0));
            Collections.shuffle(sent, random);
            sent.forEach(Runnable::run);
            put(attempt, generation, other, WHOLE);
            put(attempt, generation, other, PARTS);
            assertThat(ask(0).status()).as(name).isEqualTo(Status.AGAIN);

            clock.advanceTime(Duration.ofMillis(SILENCE_MS));
            offer(generation, other);

            for (int task = 0; task < 2; task++) {
                assertThat(ask(task).isOk()).as(name).isTrue();
                askAndFetch(attempt, packer(task, attempt));
            }
        }

        private KeyPiece piece() {
            return FilterExchangeScenario.keys(1 << 12, LongStream.of(1))
                    .pieces(1 << 11)
                    .findFirst()
                    .orElseThrow();
        }

        private FilterResponse offer(String generation, String process) {
            return now(new Offer(generation, process, Map.of(WHOLE, 8L), Map.of(PARTS, 8L)));
        }

        private FilterResponse ask(int task) {
            return now(new Ask(packer(task, attempt), "c"));
        }

        private void step(int of) throws Exception {
            int subtask = random.nextInt(SUBTASKS);
            String process = subtask == 0 ? "a" : "b";
            String generation = generations.getOrDefault(of, "none");
            switch (random.nextInt(43)) {
                case 0 -> restart(subtask);
                case 1, 2, 3, 4, 5, 6, 7 -> scheduled.started(subtask, id(join, subtask, attempt));
                case 8, 9, 10, 11, 12, 13, 14, 15 -> announce(subtask, of, process);
                case 16, 17, 18, 19, 20, 21 -> offer(generation, process);
                case 22, 23, 24, 25, 26, 27, 28 -> put(of, generation, process, PARTS);
                case 29, 30, 31, 32 -> put(of, generation, process, WHOLE);
                case 33 -> now(new Confirm(generation, process));
                case 34 -> clock.advanceTime(Duration.ofMillis(random.nextInt(SILENCE_MS)));
                default -> askAndFetch(of, packer(random.nextInt(2), of));
            }
        }

        private void announce(int subtask, int of, String process) {
            Set<ExecutionAttemptID> senders = Set.of(packer(0, of), packer(1, of));
            FilterResponse response = now(new Announce(id(join, subtask, of), process, senders));
            if (response.isOk()) {
                generations.put(of, response.generation());
            }
        }

        private void restart(int failed) {
            if (random.nextBoolean()) {
                scheduled.ended(failed, attempt);
            }
            attempt++;
            if (random.nextBoolean()) {
                scheduled.resetAll();
            } else {
                scheduled.reset(0);
                scheduled.reset(1);
            }
        }

        private void put(int of, String generation, String process, int dimension) {
            String whose = dimension == WHOLE ? "a" : process;
            KeyFilterBuilder keys = FilterExchangeScenario.keys(1 << 12, keys(of, whose));
            List<KeyPiece> pieces = keys.pieces(1 << 11).toList();
            for (int i = 0; i < pieces.size(); i++) {
                boolean isLast = i == pieces.size() - 1;
                now(new Put(generation, process, dimension, i, isLast, pieces.get(i)));
            }
        }

        private void askAndFetch(int of, ExecutionAttemptID task) throws Exception {
            FilterResponse listed = now(new Ask(task, "c"));
            for (int dimension : FilterRequest.dimensions(listed.dimensions())) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                FilterResponse piece;
                do {
                    piece = now(new Fetch(listed.generation(), dimension, bytes.size()));
                    assertThat(piece.isOk()).as(name).isTrue();
                    bytes.writeBytes(piece.bytes());
                } while (piece.bytes().length > 0);
                KeyFilter filter =
                        InstantiationUtil.deserializeObject(
                                bytes.toByteArray(), getClass().getClassLoader());
                assertThat(keys(of, "a")).as(name).allMatch(filter::mayAccept);
                if (dimension == PARTS) {
                    assertThat(keys(of, "b")).as(name).allMatch(filter::mayAccept);
                }
                fetched++;
            }
        }
    }
}
