package io.github.gpujoin.flink.transport;

import io.github.gpujoin.flink.transport.WriterAddresses.Target;
import io.github.gpujoin.rdma.session.JobSecret;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.CoordinatorStore;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator.SubtaskGateway;

/**
 * Where the ends of a join's rings find each other, in the JobMaster: subtasks of the join announce
 * their addresses, sending subtasks are told them once all are known, each with tokens of its own
 * attempt.
 *
 * <p>What was announced counts until the subtask that announced it fails or is reset, so nobody is
 * told an address of an earlier attempt. All calls come in the JobMaster's main thread.
 */
final class Rendezvous {

    private record Reader(int attempt, ReaderAddress address) {}

    private record WriterId(OperatorID operator, int subtask) {}

    private final UUID job;
    private final Map<Integer, Reader> readers = new TreeMap<>();
    private final Map<WriterId, SubtaskGateway> writers = new LinkedHashMap<>();
    private int readerCount;

    Rendezvous(UUID job) {
        this.job = job;
    }

    /** The one of a join, made where it is not there yet. */
    static Rendezvous of(CoordinatorStore store, JobID job, String join) {
        String key = "gpu-join rings: " + join;
        store.putIfAbsent(key, new Rendezvous(uuid(job)));
        return (Rendezvous) store.get(key);
    }

    /** Name of a job in handshakes. */
    static UUID uuid(JobID job) {
        return new UUID(job.getUpperPart(), job.getLowerPart());
    }

    /**
     * @param count subtasks of the join
     */
    void announce(int subtask, int attempt, ReaderAddress address, int count) {
        readerCount = count;
        readers.put(subtask, new Reader(attempt, address));
        writers.values().forEach(this::tell);
    }

    /** Forgets what that attempt announced. */
    void readerFailed(int subtask, int attempt) {
        readers.computeIfPresent(
                subtask, (key, reader) -> reader.attempt() == attempt ? null : reader);
    }

    void readerReset(int subtask) {
        readers.remove(subtask);
    }

    void allReadersReset() {
        readers.clear();
    }

    void writerReady(OperatorID operator, SubtaskGateway gateway) {
        writers.put(new WriterId(operator, gateway.getSubtask()), gateway);
        tell(gateway);
    }

    void writerFailed(OperatorID operator, int subtask, int attempt) {
        writers.computeIfPresent(
                new WriterId(operator, subtask),
                (key, gateway) ->
                        gateway.getExecution().getAttemptNumber() == attempt ? null : gateway);
    }

    void writerReset(OperatorID operator, int subtask) {
        writers.remove(new WriterId(operator, subtask));
    }

    void allWritersReset(OperatorID operator) {
        writers.keySet().removeIf(writer -> writer.operator().equals(operator));
    }

    private void tell(SubtaskGateway writer) {
        if (readers.isEmpty() || readers.size() < readerCount) {
            return;
        }
        int attempt = writer.getExecution().getAttemptNumber();
        List<Target> targets = new ArrayList<>();
        for (Reader reader : readers.values()) {
            ReaderAddress address = reader.address();
            byte[] token = new JobSecret(address.secret()).token(job, attempt).bytes();
            targets.add(new Target(address.host(), address.port(), token));
        }
        // An event that does not arrive fails its subtask, which Flink sees to.
        writer.sendEvent(new WriterAddresses(targets));
    }
}
