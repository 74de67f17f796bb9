// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.flink.exchange.ring.RendezvousProvider.End;
import io.github.gpujoin.flink.exchange.ring.WriterAddresses.Target;
import io.github.gpujoin.rdma.session.JobSecret;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationRequestHandler;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.CoordinatorStore;
import org.apache.flink.runtime.operators.coordination.CoordinatorStoreImpl;
import org.apache.flink.runtime.operators.coordination.MockOperatorCoordinatorContext;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.util.SerializedValue;
import org.junit.jupiter.api.Test;

/** A join of two subtasks, and operators that send to it. */
class RendezvousTest {

    private static final int READERS = 2;
    private static final RuntimeException FAILURE = new IllegalStateException("Failure");

    private final CoordinatorStore store = new CoordinatorStoreImpl();
    private final OperatorCoordinator join = coordinator(End.READER, READERS);
    private final OperatorCoordinator facts = coordinator(End.WRITER, 3);
    private final OperatorCoordinator dimension = coordinator(End.WRITER, 1);

    private OperatorCoordinator coordinator(End end, int parallelism) {
        OperatorID operator = new OperatorID();
        OperatorCoordinator.Context context =
                new MockOperatorCoordinatorContext(operator, parallelism) {
                    @Override
                    public CoordinatorStore getCoordinatorStore() {
                        return store;
                    }
                };
        return new RendezvousProvider(operator, "join", end).create(context);
    }

    private static ReaderAddress address(int port) {
        return new ReaderAddress(new Endpoint("127.0.0.1", port, JobSecret.random().bytes()), null);
    }

    private void announce(int subtask, int attempt, ReaderAddress address) throws Exception {
        join.handleEventFromOperator(subtask, attempt, address);
    }

    /** Announces an attempt, and returns the number of its requests. */
    private static UUID ready(OperatorCoordinator writers, int subtask, int attempt)
            throws Exception {
        UUID number = UUID.randomUUID();
        writers.handleEventFromOperator(subtask, attempt, new WriterReady(number));
        return number;
    }

    private static CompletableFuture<CoordinationResponse> request(
            OperatorCoordinator writers, UUID number) {
        return ((CoordinationRequestHandler) writers)
                .handleCoordinationRequest(new AddressRequest(number));
    }

    private static List<Target> targets(CompletableFuture<CoordinationResponse> answer)
            throws IOException {
        assertThat(answer).isDone();
        return WriterAddresses.of(answer.join()).targets();
    }

    private static List<Integer> ports(CompletableFuture<CoordinationResponse> answer)
            throws IOException {
        return targets(answer).stream().map(target -> target.own().port()).toList();
    }

    @Test
    void shouldAnswerAllWritersOnceAllSubtasksOfTheJoinAreKnown() throws Exception {
        CompletableFuture<CoordinationResponse> toFacts = request(facts, ready(facts, 0, 0));
        CompletableFuture<CoordinationResponse> toDimension =
                request(dimension, ready(dimension, 0, 0));
        announce(1, 0, address(101));
        assertThat(toFacts).isNotDone();
        announce(0, 0, address(100));
        assertThat(ports(toFacts)).containsExactly(100, 101);
        assertThat(ports(toDimension)).containsExactly(100, 101);
    }

    @Test
    void shouldAnswerALateRequest() throws Exception {
        announce(0, 0, address(100));
        announce(1, 0, address(101));
        assertThat(ports(request(facts, ready(facts, 2, 0)))).containsExactly(100, 101);
    }

    @Test
    void shouldAnswerAnUnknownNumberWithoutAddresses() throws Exception {
        announce(0, 0, address(100));
        announce(1, 0, address(101));
        ready(facts, 0, 0);
        assertThat(ports(request(facts, UUID.randomUUID()))).isEmpty();
    }

    @Test
    void shouldEndAnEarlierRequestOfTheSameAttempt() throws Exception {
        UUID number = ready(facts, 0, 0);
        CompletableFuture<CoordinationResponse> earlier = request(facts, number);
        CompletableFuture<CoordinationResponse> later = request(facts, number);
        assertThat(ports(earlier)).isEmpty();
        announce(0, 0, address(100));
        announce(1, 0, address(101));
        assertThat(ports(later)).containsExactly(100, 101);
    }

    @Test
    void shouldCreateATokenPerAttemptAndSubtask() throws Exception {
        announce(0, 0, address(100));
        announce(1, 0, address(101));
        List<Target> first = targets(request(facts, ready(facts, 0, 0)));
        facts.executionAttemptFailed(0, 0, FAILURE);
        List<Target> second = targets(request(facts, ready(facts, 0, 1)));
        assertThat(first.get(0).own().key()).isNotEqualTo(second.get(0).own().key());
        assertThat(first.get(0).own().key()).isNotEqualTo(first.get(1).own().key());
    }

    @Test
    void shouldNotReturnTheAddressOfAFailedAttempt() throws Exception {
        announce(0, 0, address(100));
        announce(1, 0, address(101));
        join.executionAttemptFailed(1, 0, FAILURE);
        join.subtaskReset(1, 7);
        CompletableFuture<CoordinationResponse> answer = request(facts, ready(facts, 0, 1));
        assertThat(answer).isNotDone();
        announce(1, 1, address(201));
        assertThat(ports(answer)).containsExactly(100, 201);
    }

    @Test
    void shouldKeepTheLaterAttemptIfAnEarlierOneFailsLate() throws Exception {
        announce(0, 1, address(100));
        announce(1, 1, address(101));
        join.executionAttemptFailed(0, 0, FAILURE);
        UUID number = ready(facts, 0, 1);
        facts.executionAttemptFailed(0, 0, FAILURE);
        assertThat(ports(request(facts, number))).containsExactly(100, 101);
    }

    @Test
    void shouldDropAllAddressesAndRequestsWhenTheJobIsReset() throws Exception {
        CompletableFuture<CoordinationResponse> ofTheOldAttempt =
                request(facts, ready(facts, 0, 0));
        announce(0, 0, address(100));
        join.resetToCheckpoint(7, new byte[0]);
        facts.resetToCheckpoint(7, new byte[0]);
        announce(1, 1, address(201));
        announce(0, 1, address(200));
        assertThat(ofTheOldAttempt).isNotDone();
        assertThat(ports(request(facts, ready(facts, 0, 1)))).containsExactly(200, 201);
    }

    @Test
    void shouldNotAnswerAResetWriter() throws Exception {
        UUID number = ready(facts, 0, 0);
        facts.subtaskReset(0, 7);
        announce(0, 0, address(100));
        announce(1, 0, address(101));
        assertThat(ports(request(facts, number))).isEmpty();
    }

    @Test
    void shouldWriteEmptySnapshots() throws Exception {
        CompletableFuture<byte[]> state = new CompletableFuture<>();
        join.checkpointCoordinator(1, state);
        assertThat(state).isCompletedWithValueMatching(bytes -> bytes.length == 0);
    }

    @Test
    void shouldRejectUnknownMessages() {
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () ->
                                join.handleEventFromOperator(
                                        0, 0, new WriterReady(UUID.randomUUID())))
                .withMessageContaining(
                        "Unknown message to the coordinator of a join's rings: message=");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> facts.handleEventFromOperator(0, 0, address(1)));
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () ->
                                ((CoordinationRequestHandler) facts)
                                        .handleCoordinationRequest(new CoordinationRequest() {}));
    }

    @Test
    void shouldSerializeMessagesAndHideSecrets() throws IOException, ClassNotFoundException {
        ReaderAddress address = address(100);
        ReaderAddress read =
                new SerializedValue<>(address).deserializeValue(getClass().getClassLoader());
        assertThat(read.own().key()).isEqualTo(address.own().key());
        assertThat(address).hasToString("ReaderAddress[own=127.0.0.1:100, shared=null]");
        WriterAddresses addresses = new WriterAddresses(List.of(new Target(null, address.own())));
        assertThat(addresses).hasToString("[Target[own=null, shared=127.0.0.1:100]]");
        assertThat(WriterAddresses.of(addresses.toResponse()).targets().get(0).shared().key())
                .isEqualTo(address.own().key());
        UUID number = UUID.randomUUID();
        assertThat(new WriterReady(number).toString()).doesNotContain(number.toString());
        assertThat(new AddressRequest(number).toString()).doesNotContain(number.toString());
    }

    @Test
    void shouldEncodeResponsesInFlinksClasses() {
        CoordinationResponse response = WriterAddresses.NONE.toResponse();
        assertThat(response.getClass().getName()).startsWith("org.apache.flink.");
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> WriterAddresses.of(new CoordinationResponse() {}))
                .withMessageContaining("Response contains no addresses");
    }
}
