// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.transport;

import io.github.gpujoin.core.region.Memory;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.Partitioner;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.jspecify.annotations.Nullable;

/**
 * Flink's own shuffle: a job that sends byte arrays from each subtask of one operator to one of the
 * next, between two TaskManagers of an embedded cluster, over its network stack and the loopback
 * interface. Records are chunks already; Flink's serializer copies them in bulk.
 *
 * <p>Flink places subtasks as it likes, so each sender is paired with a receiver of the other
 * TaskManager once all have started: no chunk takes the short way inside of one.
 */
public final class FlinkShuffleStream implements Stream {

    /** Where a chunk says which subtask sent it: after the time at which it did. */
    private static final long SENDER = Memory.BYTES + Long.BYTES;

    private static final Map<Integer, FlinkShuffleStream> OPEN = new ConcurrentHashMap<>();
    private static final AtomicInteger NEXT_ID = new AtomicInteger();

    private final int id = NEXT_ID.incrementAndGet();
    private final Arrivals arrivals = new Arrivals();
    private final Map<Integer, String> senderTaskManagers = new HashMap<>();
    private final Map<Integer, String> receiverTaskManagers = new HashMap<>();
    private final CompletableFuture<int[]> routes = new CompletableFuture<>();
    private final int channels;
    private final JobClient job;

    public FlinkShuffleStream(Shipment shipment) throws Exception {
        channels = shipment.channels();
        OPEN.put(id, this);
        Configuration settings = new Configuration();
        settings.set(TaskManagerOptions.MINI_CLUSTER_NUM_TASK_MANAGERS, 2);
        settings.set(TaskManagerOptions.NUM_TASK_SLOTS, shipment.channels());
        settings.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(256));
        settings.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(256));
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.createLocalEnvironment(shipment.channels(), settings);
        env.getConfig().enableObjectReuse();
        if (shipment.isPaced()) {
            env.setBufferTimeout(0); // Flink's setting for the least latency
        }
        env.fromSequence(0, Long.MAX_VALUE - 1)
                .slotSharingGroup("send")
                .map(new Send(id, shipment))
                .returns(PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO)
                .slotSharingGroup("send")
                .partitionCustom(new Route(id), chunk -> Memory.getInt(chunk, SENDER))
                .map(new Receive(id))
                .slotSharingGroup("receive")
                .sinkTo(new DiscardingSink<>())
                .slotSharingGroup("receive");
        job = env.executeAsync("shuffle");
    }

    @Override
    public Arrivals arrivals() {
        return arrivals;
    }

    @Override
    public void check() {
        if (job.getJobExecutionResult().isDone()) {
            throw new IllegalStateException("the job runs until it is cancelled");
        }
    }

    /** Registers where a subtask runs; the last one decides who sends to whom. */
    private synchronized void register(
            Map<Integer, String> taskManagers, RichMapFunction<?, ?> subtask) {
        // the same for all tasks of one TaskManager, and for no others
        String taskManager =
                subtask.getRuntimeContext().getMetricGroup().getAllVariables().get("<tm_id>");
        taskManagers.put(
                subtask.getRuntimeContext().getTaskInfo().getIndexOfThisSubtask(), taskManager);
        if (senderTaskManagers.size() + receiverTaskManagers.size() == 2 * channels) {
            routes.complete(pair());
        }
    }

    /** As many senders are in one TaskManager as receivers in the other: all slots are taken. */
    private int[] pair() {
        int[] receivers = new int[channels];
        Map<Integer, String> free = new HashMap<>(receiverTaskManagers);
        senderTaskManagers.forEach(
                (sender, taskManager) -> {
                    int receiver =
                            free.entrySet().stream()
                                    .filter(entry -> !entry.getValue().equals(taskManager))
                                    .findFirst()
                                    .orElseThrow()
                                    .getKey();
                    free.remove(receiver);
                    receivers[sender] = receiver;
                });
        return receivers;
    }

    @Override
    public void close() throws Exception {
        job.cancel().get(60, TimeUnit.SECONDS);
        OPEN.remove(id);
    }

    /** Fills and stamps chunks. */
    private static final class Send extends RichMapFunction<Long, byte[]> {

        private static final long serialVersionUID = 1;

        private final int id;
        private final int channels;
        private final int chunkBytes;
        private final int perSecond;
        private transient byte[] chunk;
        private transient Pace pace;

        Send(int id, Shipment shipment) {
            this.id = id;
            this.channels = shipment.channels();
            this.chunkBytes = shipment.chunkBytes();
            this.perSecond = shipment.perSecond();
        }

        @Override
        public void open(OpenContext context) {
            chunk = new byte[chunkBytes];
            new Random(id).nextBytes(chunk);
            pace = new Pace(new Shipment(channels, chunkBytes, perSecond), channels);
            Memory.putInt(chunk, SENDER, getRuntimeContext().getTaskInfo().getIndexOfThisSubtask());
            FlinkShuffleStream stream = OPEN.get(id);
            stream.register(stream.senderTaskManagers, this);
        }

        @Override
        public byte[] map(Long number) {
            while (!pace.isDue()) {
                LockSupport.parkNanos(1000);
            }
            Memory.putLong(chunk, Memory.BYTES, pace.take());
            return chunk;
        }
    }

    /** Counts what arrives. */
    private static final class Receive extends RichMapFunction<byte[], Integer> {

        private static final long serialVersionUID = 1;

        private final int id;
        private transient Arrivals arrivals;

        Receive(int id) {
            this.id = id;
        }

        @Override
        public void open(OpenContext context) {
            FlinkShuffleStream stream = OPEN.get(id);
            stream.register(stream.receiverTaskManagers, this);
            arrivals = stream.arrivals;
        }

        @Override
        public Integer map(byte[] chunk) {
            arrivals.add(chunk.length, Memory.getLong(chunk, Memory.BYTES));
            return chunk.length;
        }
    }

    /** Sends every sender's chunks to the receiver it is paired with. */
    private static final class Route implements Partitioner<Integer> {

        private static final long serialVersionUID = 1;

        private final int id;
        private transient int @Nullable [] receivers;

        Route(int id) {
            this.id = id;
        }

        @Override
        public int partition(Integer sender, int receiverCount) {
            if (receivers == null) {
                receivers = OPEN.get(id).routes.orTimeout(60, TimeUnit.SECONDS).join();
            }
            return receivers[sender];
        }
    }
}
