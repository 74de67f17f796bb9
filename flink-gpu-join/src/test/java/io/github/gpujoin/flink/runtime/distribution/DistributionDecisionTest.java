// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.flink.api.explain.Distribution;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two subtasks of the log, and packers, of a dimension with a limit of 100 bytes. */
class DistributionDecisionTest {

    private static final int LIMIT = 100;
    private static final int PARALLELISM = 2;
    private static final long CHECKPOINT = 7;

    private DistributionDecision decision = decision("dimension");

    private static DistributionDecision decision(String name) {
        return new DistributionDecision(new MeasuredDimension("join", 0, name, LIMIT));
    }

    private CompletableFuture<CoordinationResponse> report(
            int subtask, int attempt, long bytes, boolean complete) {
        return decision.ask(new SizeReport(subtask, attempt, bytes, complete), PARALLELISM);
    }

    private static Distribution of(CompletableFuture<CoordinationResponse> answer) {
        return DistributionDecision.of(answer.join());
    }

    private CompletableFuture<CoordinationResponse> packer(int subtask) {
        return packer(subtask, DistributionClient.NO_CHECKPOINT);
    }

    private CompletableFuture<CoordinationResponse> packer(int subtask, long passedCheckpoint) {
        return decision.ask(new DistributionRequest(subtask, 0, passedCheckpoint));
    }

    private void restore(DistributionDecision from) {
        decision.restore(CHECKPOINT, from.snapshot(CHECKPOINT));
    }

    @Test
    void shouldReplicateOnceAllOfItIsMeasured() {
        CompletableFuture<CoordinationResponse> packer = packer(0);
        CompletableFuture<CoordinationResponse> first = report(0, 0, 60, true);
        assertThat(first).isNotDone();
        CompletableFuture<CoordinationResponse> second = report(1, 0, 40, false);
        assertThat(second).isNotDone();
        assertThat(packer).isNotDone();
        CompletableFuture<CoordinationResponse> last = report(1, 0, 40, true);
        assertThat(of(first)).isEqualTo(Distribution.REPLICATED);
        assertThat(of(second)).isEqualTo(Distribution.MEASURED);
        assertThat(of(last)).isEqualTo(Distribution.REPLICATED);
        assertThat(of(packer)).isEqualTo(Distribution.REPLICATED);
        assertThat(of(packer(1))).isEqualTo(Distribution.REPLICATED);
    }

    /** It would hold facts that depend on the decision, but not the decision. */
    @Test
    void shouldTellPackersOnceNoCheckpointWithoutTheDecisionIsUnderWay() {
        CompletableFuture<CoordinationResponse> packer = packer(0);
        decision.snapshot(CHECKPOINT);
        decision.snapshot(CHECKPOINT + 1);
        report(0, 0, 1, true);
        assertThat(of(report(1, 0, 1, true))).isEqualTo(Distribution.REPLICATED);
        decision.snapshot(CHECKPOINT + 2);
        decision.checkpointEnded(CHECKPOINT + 1);
        assertThat(packer).isNotDone();
        decision.checkpointEnded(CHECKPOINT);
        assertThat(of(packer)).isEqualTo(Distribution.REPLICATED);
    }

    /** Flink does not report that a savepoint is complete. */
    @Test
    void shouldTellPackersThatHavePassedEachCheckpointWithoutTheDecision() {
        decision.snapshot(CHECKPOINT);
        decision.snapshot(CHECKPOINT + 1);
        CompletableFuture<CoordinationResponse> first = packer(0, CHECKPOINT + 1);
        CompletableFuture<CoordinationResponse> second = packer(1, CHECKPOINT);
        report(0, 0, 1, true);
        report(1, 0, 1, true);
        assertThat(of(first)).isEqualTo(Distribution.REPLICATED);
        assertThat(second).isNotDone();
        CompletableFuture<CoordinationResponse> again = packer(1, CHECKPOINT + 2);
        assertThat(of(second)).isEqualTo(Distribution.MEASURED);
        assertThat(of(again)).isEqualTo(Distribution.REPLICATED);
    }

    @Test
    void shouldPartitionAsSoonAsItIsKnownToBeTooLarge() {
        CompletableFuture<CoordinationResponse> packer = packer(0);
        report(0, 0, 60, false);
        assertThat(of(report(1, 0, 41, false))).isEqualTo(Distribution.PARTITIONED);
        assertThat(of(report(0, 0, 60, true))).isEqualTo(Distribution.PARTITIONED);
        assertThat(of(packer)).isEqualTo(Distribution.PARTITIONED);
    }

    @Test
    void shouldCountWhatASubtaskMeasuredInItsLastAttemptAlone() {
        report(0, 0, 60, true);
        report(1, 0, 30, false);
        decision.reset(0);
        decision.reset(1);
        report(1, 1, 0, true);
        CompletableFuture<CoordinationResponse> question = report(0, 1, 10, false);
        assertThat(of(report(0, 0, 1_000, true))).isEqualTo(Distribution.MEASURED);
        assertThat(question).isNotDone();
        assertThat(of(report(0, 1, 10, true))).isEqualTo(Distribution.REPLICATED);
    }

    /** Facts of an earlier decision may be in the checkpoint, or will be in the next one. */
    @Test
    void shouldKeepADecision() {
        report(0, 0, 101, false);
        DistributionDecision before = decision;
        decision = decision("dimension");
        restore(before);
        assertThat(of(report(0, 0, 0, true))).isEqualTo(Distribution.PARTITIONED);
        decision.reset(0);
        decision.resetReports();
        assertThat(of(report(0, 1, 0, false))).isEqualTo(Distribution.PARTITIONED);
    }

    /** A drain completes a dimension; if it fails, the job reads the rest of its rows. */
    @Test
    void shouldMeasureAnewIfTheRegionRestartsFromACheckpointBeforeTheDecision() {
        decision.snapshot(CHECKPOINT);
        report(0, 0, 1, true);
        report(1, 0, 1, true);
        decision.snapshot(CHECKPOINT + 1);
        resetRegion(CHECKPOINT);
        assertThat(of(report(0, 1, 101, false))).isEqualTo(Distribution.PARTITIONED);
        decision.snapshot(CHECKPOINT + 2);
        resetRegion(CHECKPOINT + 2);
        assertThat(of(report(0, 2, 1, true))).isEqualTo(Distribution.PARTITIONED);
    }

    private void resetRegion(long checkpoint) {
        for (int subtask = 0; subtask < PARALLELISM; subtask++) {
            decision.reset(subtask);
            decision.regionReset(checkpoint);
        }
    }

    @Test
    void shouldGoOnMeasuringIfACheckpointHasNoDecision() {
        DistributionDecision before = decision("dimension");
        report(0, 0, 101, false);
        restore(before);
        decision.resetReports();
        report(0, 1, 1, true);
        assertThat(of(report(1, 1, 1, true))).isEqualTo(Distribution.REPLICATED);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 7})
    void shouldRefuseACutStateByName(int length) {
        byte[] cut = Arrays.copyOf(decision.snapshot(CHECKPOINT), length);
        assertThatExceptionOfType(SuppressRestartsException.class)
                .isThrownBy(() -> decision("dimension").restore(CHECKPOINT, cut))
                .havingCause()
                .withMessage(
                        "The snapshot is damaged: state=coordinator of the distribution, the state is"
                                + " cut: bytes=%d.\nRestore an earlier snapshot.",
                        length);
    }

    @Test
    void shouldSuppressRestartsIfTheDistributionIsUnknown() {
        byte[] state = decision.snapshot(CHECKPOINT);
        state[7] = 9;
        assertThatExceptionOfType(SuppressRestartsException.class)
                .isThrownBy(() -> decision.restore(CHECKPOINT, state))
                .havingCause()
                .withMessageContaining("the distribution is unknown: code=9");
    }

    @Test
    void shouldMeasureAnewIfTheJobStartsOverWithoutACheckpoint() {
        report(0, 0, 101, false);
        decision.restore(OperatorCoordinator.NO_CHECKPOINT, null);
        decision.resetReports();
        assertThat(report(0, 1, 1, true)).isNotDone();
    }

    /** Flink drops the state of the packers' coordinator once all facts were read. */
    @Test
    void shouldKeepADecisionThatOneCoordinatorHas() {
        report(0, 0, 101, false);
        byte[] state = decision.snapshot(CHECKPOINT);
        decision = decision("dimension");
        decision.restore(CHECKPOINT, null);
        decision.restore(CHECKPOINT, state);
        assertThat(of(report(0, 0, 0, true))).isEqualTo(Distribution.PARTITIONED);
        decision = decision("dimension");
        decision.restore(CHECKPOINT, state);
        decision.restore(CHECKPOINT, null);
        assertThat(of(report(0, 0, 0, true))).isEqualTo(Distribution.PARTITIONED);
    }

    @Test
    void shouldKeepADecisionThatWasMadeBetweenTheSnapshotsOfBothCoordinators() {
        byte[] before = decision.snapshot(CHECKPOINT);
        report(0, 0, 101, false);
        byte[] after = decision.snapshot(CHECKPOINT);
        for (List<byte[]> states : List.of(List.of(before, after), List.of(after, before))) {
            decision = decision("dimension");
            states.forEach(state -> decision.restore(CHECKPOINT, state));
            assertThat(of(report(0, 0, 0, true))).isEqualTo(Distribution.PARTITIONED);
        }
    }

    /** Its facts lie anywhere, or by the keys of another dimension. */
    @Test
    void shouldReplicateAfterASnapshotOfAJobThatDidNotMeasureTheDimension() {
        decision.restore(CHECKPOINT, null);
        assertThat(of(packer(0))).isEqualTo(Distribution.REPLICATED);
        assertThat(of(report(0, 0, 101, false))).isEqualTo(Distribution.REPLICATED);
        decision = decision("dimension");
        restore(decision("other"));
        assertThat(of(report(0, 0, 101, false))).isEqualTo(Distribution.REPLICATED);
    }

    @Test
    void shouldRefuseAnUnknownFormat() {
        byte[] state = decision.snapshot(CHECKPOINT);
        state[3] = 9;
        assertThatExceptionOfType(SuppressRestartsException.class)
                .isThrownBy(() -> decision.restore(CHECKPOINT, state))
                .havingCause()
                .withMessageContaining("format 9");
    }
}
