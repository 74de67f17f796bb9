// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.util.SerializedValue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Announcements of checkpoints from a coordinator to a subtask. */
class AnnouncedCheckpointsTest {

    private final CheckpointAnnouncements announcements = new CheckpointAnnouncements();

    private final TaskOperatorEventGateway gateway =
            new TaskOperatorEventGateway() {
                @Override
                public void sendOperatorEventToCoordinator(
                        OperatorID operator, SerializedValue<OperatorEvent> event) {
                    throw new AssertionError("Unexpected event");
                }

                @Override
                public CompletableFuture<CoordinationResponse> sendRequestToCoordinator(
                        OperatorID operator, SerializedValue<CoordinationRequest> request) {
                    try {
                        return announcements.request(
                                (CheckpointRequest)
                                        request.deserializeValue(getClass().getClassLoader()));
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                }
            };

    private final AnnouncedCheckpoints watch = watch();

    private AnnouncedCheckpoints watch() {
        return new AnnouncedCheckpoints(gateway, new OperatorID(), 0);
    }

    @BeforeEach
    void start() {
        watch.start();
    }

    @AfterEach
    void close() {
        watch.close();
    }

    @Test
    void shouldAnnounceACheckpointUntilItsSnapshot() {
        assertThat(watch.isAnnounced(0)).isFalse();
        announcements.begun(1);
        assertThat(watch.isAnnounced(0)).isTrue();
        watch.ended(1);
        assertThat(watch.isAnnounced(0)).isFalse();
        announcements.ended(1);
        announcements.begun(2);
        assertThat(watch.isAnnounced(0)).isTrue();
    }

    @Test
    void shouldMeasureTimeFromTheFirstPendingCheckpoint() throws Exception {
        announcements.begun(1);
        assertThat(watch.isAnnounced(60_000)).isFalse();
        TimeUnit.MILLISECONDS.sleep(60);
        announcements.begun(2);
        assertThat(watch.isAnnounced(50)).isTrue();
        watch.ended(2);
        assertThat(watch.isAnnounced(50)).isFalse();
        announcements.begun(3);
        assertThat(watch.isAnnounced(10_000)).isFalse();
        assertThat(watch.isAnnounced(0)).isTrue();
    }

    @Test
    void shouldIgnoreACheckpointWhoseBarrierArrivedFirst() {
        watch.ended(1);
        announcements.begun(1);
        assertThat(watch.isAnnounced(0)).isFalse();
    }

    @Test
    void shouldAnswerALateRequest() {
        announcements.begun(3);
        try (AnnouncedCheckpoints late = watch()) {
            late.start();
            assertThat(late.isAnnounced(0)).isTrue();
        }
    }

    @Test
    void shouldNotAnnounceACompletedCheckpoint() {
        announcements.begun(3);
        announcements.ended(3);
        try (AnnouncedCheckpoints late = watch()) {
            late.start();
            assertThat(late.isAnnounced(0)).isFalse();
        }
    }

    @Test
    void shouldDropTheCheckpointThatAFailureAborts() {
        announcements.begun(3);
        announcements.reset(0);
        try (AnnouncedCheckpoints restarted = watch()) {
            restarted.start();
            assertThat(restarted.isAnnounced(0)).isFalse();
            announcements.begun(4);
            assertThat(restarted.isAnnounced(0)).isTrue();
        }
    }
}
