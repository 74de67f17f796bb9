package io.github.gpujoin.flink.exchange.ring;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.util.SerializedValue;

/** The coordinator of a sending operator, as one of its subtasks sees it; any thread. */
interface Coordinator {

    /** Tells which number this attempt will ask by. */
    void tell(WriterReady ready) throws IOException;

    /** Asks; the answer may take any time. */
    CompletableFuture<CoordinationResponse> ask(AddressRequest request) throws IOException;

    /**
     * The one in the JobMaster.
     *
     * @param operator whose coordinator it is
     */
    static Coordinator remote(OperatorID operator, TaskOperatorEventGateway gateway) {
        return new Coordinator() {
            @Override
            public void tell(WriterReady ready) throws IOException {
                gateway.sendOperatorEventToCoordinator(operator, new SerializedValue<>(ready));
            }

            @Override
            public CompletableFuture<CoordinationResponse> ask(AddressRequest request)
                    throws IOException {
                return gateway.sendRequestToCoordinator(operator, new SerializedValue<>(request));
            }
        };
    }
}
