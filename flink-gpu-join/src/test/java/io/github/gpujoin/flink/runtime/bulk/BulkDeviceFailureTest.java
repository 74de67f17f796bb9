// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.bulk;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.bulk.CpuRadixJoinFactory;
import io.github.gpujoin.flink.engine.BulkJoinOpener;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import io.github.gpujoin.kernels.gpu.FailingBulkDevice;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A restarted task of batch mode returns each result once, whichever call to the driver of a device
 * is the first to fail.
 */
@ExtendWith(RegionLeakExtension.class)
class BulkDeviceFailureTest {

    private static final int BUILD_ROWS = 20;

    private static final int FEW_ROWS = 40;

    /** So many that a device returns them in several copies. */
    private static final int MANY_ROWS = 300_000;

    /**
     * A run of the operator.
     *
     * @param results which Flink discards if the attempt failed
     * @param loadCalls driver calls until the inputs end
     */
    private record Attempt(List<String> results, int loadCalls, boolean hasFailed) {}

    private static final List<String> FEW_RESULTS = expected(FEW_ROWS);
    private static final List<String> MANY_RESULTS = expected(MANY_ROWS);

    private static List<String> expected(int probeRows) {
        return IntStream.range(0, probeRows)
                .mapToObj(n -> n + "|" + (n < BUILD_ROWS ? n : null))
                .sorted()
                .toList();
    }

    @ParameterizedTest(name = "with {0} devices")
    @ValueSource(ints = {1, 2})
    void shouldJoinOnTheCpuInTheNextAttempt(int devices) throws Exception {
        int calls;
        try (FailingBulkDevice device = new FailingBulkDevice(devices, Integer.MAX_VALUE)) {
            run(0, device, FEW_ROWS);
            calls = device.calls();
        }
        int failures = 0;
        for (int goodCalls = 0; goodCalls < calls; goodCalls++) {
            failures += restarted(devices, goodCalls, FEW_ROWS).hasFailed() ? 1 : 0;
        }
        // The CPU joins in the first attempt if a call fails while the join is opened.
        assertThat(failures).isBetween(20, calls - 1);
    }

    @Test
    void shouldRepeatNoResultOfAFailedAttempt() throws Exception {
        int good;
        int bad;
        try (FailingBulkDevice device = new FailingBulkDevice(1, Integer.MAX_VALUE)) {
            bad = run(0, device, MANY_ROWS).loadCalls();
            good = device.calls();
        }
        // The last call whose failure matters. Later ones free memory.
        Attempt last = null;
        while (bad < good - 1) {
            int goodCalls = (bad + good) / 2;
            Attempt attempt = restarted(1, goodCalls, MANY_ROWS);
            if (attempt.hasFailed()) {
                last = attempt;
                bad = goodCalls;
            } else {
                good = goodCalls;
            }
        }
        assertThat(last).isNotNull();
        assertThat(last.results()).isNotEmpty();
    }

    /** Checks the results of the last of at most two attempts, and returns the first one. */
    private static Attempt restarted(int devices, int goodCalls, int probeRows) throws Exception {
        try (FailingBulkDevice device = new FailingBulkDevice(devices, goodCalls)) {
            Attempt first = run(0, device, probeRows);
            Attempt last = first.hasFailed() ? run(1, device, probeRows) : first;
            assertThat(last.hasFailed()).as("goodCalls=%d", goodCalls).isFalse();
            List<String> expected = probeRows == FEW_ROWS ? FEW_RESULTS : MANY_RESULTS;
            assertThat(last.results().stream().sorted().toList().equals(expected))
                    .as("results are as expected: goodCalls=%d", goodCalls)
                    .isTrue();
            return first;
        }
    }

    private static Attempt run(int attempt, FailingBulkDevice device, int probeRows)
            throws Exception {
        BulkJoinHarness harness =
                BulkJoinHarness.leftJoin(
                        attempt,
                        new BulkJoinOpener(
                                List.of(device, new CpuRadixJoinFactory(1)),
                                false,
                                1,
                                Long.MAX_VALUE));
        boolean hasFailed = false;
        int loadCalls = 0;
        try (harness) {
            harness.open();
            harness.load(BUILD_ROWS, probeRows);
            loadCalls = device.calls();
            harness.join().endInput(1);
            harness.join().endInput(2);
        } catch (GpuUnavailableException e) {
            hasFailed = true;
        }
        assertThat(harness.freeBytes()).isEqualTo(BulkJoinHarness.MEMORY_BYTES);
        assertThat(BulkJoinOpener.processBytes()).isZero();
        return new Attempt(harness.results(), loadCalls, hasFailed);
    }
}
