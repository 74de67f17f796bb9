// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.ResultBatch;
import java.lang.reflect.Proxy;
import java.time.Duration;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.apache.flink.util.clock.ManualClock;
import org.junit.jupiter.api.Test;

class EnginePollsTest {

    private final ManualClock clock = new ManualClock(1);
    private final TimerGauge idle = new TimerGauge(clock);

    private int inFlight;
    private boolean awaitsDrain;

    /** An engine that never has results. */
    private final EnginePolls polls =
            new EnginePolls(
                    (JoinEngine)
                            Proxy.newProxyInstance(
                                    JoinEngine.class.getClassLoader(),
                                    new Class<?>[] {JoinEngine.class},
                                    (proxy, method, args) ->
                                            switch (method.getName()) {
                                                case "poll" -> pollFor(Duration.ofMillis(2));
                                                case "inFlightCount" -> inFlight;
                                                case "awaitsDrain" -> awaitsDrain;
                                                default ->
                                                        throw new UnsupportedOperationException(
                                                                method.getName());
                                            }),
                    idle);

    private ResultBatch pollFor(Duration time) {
        clock.advanceTime(time);
        return null;
    }

    @Test
    void shouldCountTimeBetweenPollsWithoutResultsAsIdle() {
        inFlight = 1;
        for (int i = 0; i < 3; i++) {
            assertThat(polls.poll()).isNull();
            clock.advanceTime(Duration.ofMillis(5));
        }
        polls.interrupted();
        clock.advanceTime(Duration.ofMillis(100));
        // The polls themselves may be the engine's work.
        assertThat(idle.getAccumulatedCount()).isEqualTo(15);
    }

    @Test
    void shouldNotCountTimeWithNothingInFlightAsIdle() {
        polls.poll();
        clock.advanceTime(Duration.ofMillis(5));
        polls.interrupted();
        assertThat(idle.getAccumulatedCount()).isZero();
    }

    @Test
    void shouldNotCountTimeInWhichTheEngineWaitsForTheSubtaskAsIdle() {
        inFlight = 1;
        awaitsDrain = true;
        polls.poll();
        clock.advanceTime(Duration.ofMillis(5));
        polls.interrupted();
        assertThat(idle.getAccumulatedCount()).isZero();
    }
}
