package io.github.gpujoin.flink.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.flink.transport.RendezvousProvider.End;
import io.github.gpujoin.flink.transport.WriterAddresses.Target;
import io.github.gpujoin.rdma.session.JobSecret;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.CoordinatorStore;
import org.apache.flink.runtime.operators.coordination.CoordinatorStoreImpl;
import org.apache.flink.runtime.operators.coordination.EventReceivingTasks;
import org.apache.flink.runtime.operators.coordination.MockOperatorCoordinatorContext;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.util.SerializedValue;
import org.junit.jupiter.api.Test;

/** A join of two subtasks, and operators that send to it. */
class RendezvousTest {

    private static final int READERS = 2;
    private static final RuntimeException FAILURE = new IllegalStateException("a failure");

    private final CoordinatorStore store = new CoordinatorStoreImpl();
    private final OperatorCoordinator join = coordinator(End.READER, READERS);
    private final OperatorCoordinator facts = coordinator(End.WRITER, 3);
    private final OperatorCoordinator dimension = coordinator(End.WRITER, 1);
    private final EventReceivingTasks factTasks = EventReceivingTasks.createForRunningTasks();
    private final EventReceivingTasks dimensionTasks = EventReceivingTasks.createForRunningTasks();

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
        return new ReaderAddress("127.0.0.1", port, JobSecret.random().bytes());
    }

    private void announce(int subtask, int attempt, ReaderAddress address) throws Exception {
        join.handleEventFromOperator(subtask, attempt, address);
    }

    private void factsReady(int subtask, int attempt) {
        facts.executionAttemptReady(
                subtask, attempt, factTasks.createGatewayForSubtask(subtask, attempt));
    }

    private List<Target> told(int subtask) {
        List<OperatorEvent> events = factTasks.getSentEventsForSubtask(subtask);
        return events.isEmpty()
                ? List.of()
                : ((WriterAddresses) events.get(events.size() - 1)).targets();
    }

    private static List<Integer> ports(List<Target> targets) {
        return targets.stream().map(Target::port).toList();
    }

    @Test
    void shouldTellAllWritersOnceAllSubtasksOfTheJoinAreKnown() throws Exception {
        factsReady(0, 0);
        dimension.executionAttemptReady(0, 0, dimensionTasks.createGatewayForSubtask(0, 0));
        announce(1, 0, address(101));
        assertThat(factTasks.getNumberOfSentEvents()).isZero();
        announce(0, 0, address(100));
        assertThat(ports(told(0))).containsExactly(100, 101);
        assertThat(dimensionTasks.getNumberOfSentEvents()).isEqualTo(1);
    }

    @Test
    void shouldTellAWriterThatStartsLater() throws Exception {
        announce(0, 0, address(100));
        announce(1, 0, address(101));
        factsReady(2, 0);
        assertThat(ports(told(2))).containsExactly(100, 101);
    }

    @Test
    void shouldGiveEachAttemptATokenOfItsOwnForEachSubtask() throws Exception {
        announce(0, 0, address(100));
        announce(1, 0, address(101));
        factsReady(0, 0);
        List<Target> first = told(0);
        facts.executionAttemptFailed(0, 0, FAILURE);
        factsReady(0, 1);
        List<Target> second = told(0);
        assertThat(first.get(0).token()).isNotEqualTo(second.get(0).token());
        assertThat(first.get(0).token()).isNotEqualTo(first.get(1).token());
    }

    @Test
    void shouldTellNoAddressOfAnAttemptThatFailed() throws Exception {
        announce(0, 0, address(100));
        announce(1, 0, address(101));
        join.executionAttemptFailed(1, 0, FAILURE);
        join.subtaskReset(1, 7);
        factsReady(0, 1);
        assertThat(factTasks.getNumberOfSentEvents()).isZero();
        announce(1, 1, address(201));
        assertThat(ports(told(0))).containsExactly(100, 201);
    }

    @Test
    void shouldKeepTheAddressOfALaterAttemptWhenAnEarlierOneFailsLate() throws Exception {
        announce(0, 1, address(100));
        announce(1, 1, address(101));
        join.executionAttemptFailed(0, 0, FAILURE);
        factsReady(0, 1);
        facts.executionAttemptFailed(0, 0, FAILURE);
        announce(0, 1, address(300));
        assertThat(ports(told(0))).containsExactly(300, 101);
    }

    @Test
    void shouldForgetAllWhenTheWholeJobIsReset() throws Exception {
        factsReady(0, 0);
        announce(0, 0, address(100));
        join.resetToCheckpoint(7, new byte[0]);
        facts.resetToCheckpoint(7, new byte[0]);
        announce(1, 1, address(201));
        announce(0, 1, address(200));
        assertThat(factTasks.getNumberOfSentEvents()).as("events to the old attempt").isZero();
        factsReady(0, 1);
        assertThat(ports(told(0))).containsExactly(200, 201);
    }

    @Test
    void shouldNotTellAWriterThatWasReset() throws Exception {
        factsReady(0, 0);
        facts.subtaskReset(0, 7);
        announce(0, 0, address(100));
        announce(1, 0, address(101));
        assertThat(factTasks.getNumberOfSentEvents()).isZero();
    }

    @Test
    void shouldHaveNothingToCheckpoint() throws Exception {
        CompletableFuture<byte[]> state = new CompletableFuture<>();
        join.checkpointCoordinator(1, state);
        assertThat(state).isCompletedWithValueMatching(bytes -> bytes.length == 0);
    }

    @Test
    void shouldRefuseOtherEvents() {
        OperatorEvent event = new WriterAddresses(List.of());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> join.handleEventFromOperator(0, 0, event))
                .withMessageContaining("only the join announces, and addresses alone");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> facts.handleEventFromOperator(0, 0, address(1)));
    }

    @Test
    void shouldSendEventsThatCanBeReadAndNameNoSecret() throws IOException, ClassNotFoundException {
        ReaderAddress address = address(100);
        ReaderAddress read =
                new SerializedValue<>(address).deserializeValue(getClass().getClassLoader());
        assertThat(read.secret()).isEqualTo(address.secret());
        assertThat(address).hasToString("127.0.0.1:100");
        WriterAddresses addresses =
                new WriterAddresses(List.of(new Target("host", 1, address.secret())));
        assertThat(addresses).hasToString("[host:1]");
        assertThat(
                        new SerializedValue<>(addresses)
                                .deserializeValue(getClass().getClassLoader())
                                .targets()
                                .get(0)
                                .token())
                .isEqualTo(address.secret());
    }
}
