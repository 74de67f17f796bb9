// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.rdma.session.SessionListener.Limits;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HandshakeRateLimiterTest {

    private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int PER_SECOND = 200;
    private static final int BURST = 8;

    private final HandshakeRateLimiter rateLimiter = new HandshakeRateLimiter(PER_SECOND, BURST);

    @ParameterizedTest(name = "clock from {0}")
    @ValueSource(longs = {0, Long.MAX_VALUE - 1000, Long.MIN_VALUE, -5})
    void shouldPermitABurstAndThenOneHandshakePerInterval(long startNs) {
        assertThat(begun(startNs, 100)).isEqualTo(BURST);
        assertThat(begun(startNs + 4 * MS, 100)).isZero();
        assertThat(begun(startNs + 5 * MS, 100)).isEqualTo(1);
        assertThat(begun(startNs + 100_000 * MS, 100)).as("after a long pause").isEqualTo(BURST);
    }

    @Test
    void shouldNotCountWritersThatAuthenticate() {
        for (int i = 0; i < 1000; i++) {
            assertThat(rateLimiter.isPermitted(0)).isTrue();
            rateLimiter.start(0);
            rateLimiter.refund();
        }
        assertThat(begun(0, 100)).isEqualTo(BURST);
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4})
    void shouldKeepItsRateUnderAnyLoad(long seed) {
        Random random = new Random(seed);
        int begun = 0;
        long nowNs = 0;
        while (nowNs < 20_000 * MS) {
            nowNs += random.nextLong(3 * MS);
            begun += begun(nowNs, random.nextInt(20));
        }
        assertThat(begun).isBetween(19 * PER_SECOND, 20 * PER_SECOND + BURST + 1);
    }

    @Test
    void shouldRejectLimitsThatAdmitNoWriter() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Limits(0, 1))
                .withMessage(
                        "Limits admit no writer: maxPendingCount=0, maxPerSecond=1. Both must be at least 1.");
        assertThatIllegalArgumentException().isThrownBy(() -> new Limits(1, 0));
    }

    private int begun(long nowNs, int tries) {
        int begun = 0;
        for (int i = 0; i < tries && rateLimiter.isPermitted(nowNs); i++) {
            rateLimiter.start(nowNs);
            begun++;
        }
        return begun;
    }
}
