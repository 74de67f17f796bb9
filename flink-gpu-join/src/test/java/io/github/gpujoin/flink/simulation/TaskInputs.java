// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.simulation.SimulatedChannel.Barrier;
import io.github.gpujoin.flink.simulation.SimulatedChannel.EndOfData;
import io.github.gpujoin.flink.simulation.SimulatedChannel.EndOfPartition;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.streaming.runtime.io.PushingAsyncDataInput.DataOutput;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.watermarkstatus.StatusWatermarkValve;

/**
 * The input gates of a task: channels, alignment of barriers, and Flink's own valve of watermarks
 * and idleness for each input of the operator.
 */
final class TaskInputs {

    /** What a task is told of its inputs. */
    interface Listener {

        /** The task's state is due: behind all barriers if they are aligned, else the first. */
        void onSnapshot(long checkpoint, boolean unaligned) throws Exception;

        /** All barriers have arrived, and with them all data in flight. */
        void onBarriersComplete(long checkpoint);

        /**
         * An input has ended.
         *
         * @param input from 1
         */
        void onInputEnd(int input, boolean drained) throws Exception;
    }

    /** A channel as its receiver sees it. */
    static final class Channel {

        final int gate;
        final int sender;
        final SimulatedChannel queue;
        private final Side side;
        private final int indexInSide;
        private long barrier;
        private boolean dataEnded;
        private boolean ended;

        /** Data of the unaligned checkpoint in progress. */
        private List<StreamElement> inFlight = new ArrayList<>();

        private Channel(int gate, int sender, SimulatedChannel queue, Side side) {
            this.gate = gate;
            this.sender = sender;
            this.queue = queue;
            this.side = side;
            this.indexInSide = side.channels++;
        }

        List<StreamElement> inFlight() {
            return inFlight;
        }
    }

    /** One input of the operator, of one or several gates. */
    private static final class Side {

        private final int number;
        private final DataOutput<Object> output;
        private int channels;
        private int endedChannels;
        private boolean drained = true;
        private StatusWatermarkValve valve;

        private Side(int number, DataOutput<Object> output) {
            this.number = number;
            this.output = output;
        }
    }

    private final List<Channel> channels = new ArrayList<>();
    private final List<Side> sides = new ArrayList<>();
    private final boolean blocks;
    private final Listener listener;

    /** The checkpoint whose barriers arrive, 0 for none, and the last one that is over. */
    private long arriving;

    private boolean unaligned;
    private long over;

    /**
     * @param blocks whether a channel whose barrier has arrived waits for the others
     */
    TaskInputs(boolean blocks, Listener listener) {
        this.blocks = blocks;
        this.listener = listener;
    }

    /** Adds the next input of the operator. */
    void addSide(DataOutput<Object> output) {
        sides.add(new Side(sides.size() + 1, output));
    }

    void add(int gate, int side, int sender, SimulatedChannel queue) {
        channels.add(new Channel(gate, sender, queue, sides.get(side)));
    }

    void start() {
        sides.forEach(side -> side.valve = new StatusWatermarkValve(Math.max(1, side.channels)));
    }

    List<Channel> channels() {
        return channels;
    }

    /** Channels that can be read now. */
    List<Channel> readable() {
        return channels.stream().filter(this::isReadable).toList();
    }

    boolean hasReadable() {
        return channels.stream().anyMatch(this::isReadable);
    }

    /** Whether a channel has more to read than a barrier. */
    boolean hasReadableData() {
        return channels.stream()
                .anyMatch(
                        channel ->
                                isReadable(channel) && !(channel.queue.peek() instanceof Barrier));
    }

    private boolean isReadable(Channel channel) {
        boolean blocked = blocks && !unaligned && arriving != 0 && channel.barrier == arriving;
        return !channel.queue.isEmpty() && !blocked;
    }

    boolean isDataEnded() {
        return channels.stream().allMatch(channel -> channel.dataEnded);
    }

    /** Whether the end of all channels is read. */
    boolean isEnded() {
        return channels.stream().allMatch(channel -> channel.ended);
    }

    /** Whether the tasks of all channels are over, though the end is not read yet. */
    boolean areSendersEnded() {
        return channels.stream()
                .allMatch(
                        channel -> channel.ended || channel.queue.peek() instanceof EndOfPartition);
    }

    /** Takes the next element of the channel. */
    void read(Channel channel) throws Exception {
        Object next = channel.queue.remove();
        if (next instanceof StreamElement element) {
            if (unaligned && channel.barrier != arriving) {
                channel.inFlight.add(element);
            }
            accept(channel, element);
        } else if (next instanceof Barrier barrier) {
            onBarrier(channel, barrier);
        } else if (next instanceof EndOfData end) {
            channel.dataEnded = true;
            Side side = channel.side;
            side.drained &= end.drained();
            if (++side.endedChannels == side.channels) {
                listener.onInputEnd(side.number, side.drained);
            }
        } else if (next instanceof EndOfPartition) {
            channel.ended = true;
            checkComplete();
        }
    }

    private static void accept(Channel channel, StreamElement element) throws Exception {
        Side side = channel.side;
        if (element.isRecord()) {
            side.output.emitRecord(element.asRecord());
        } else if (element.isWatermark()) {
            side.valve.inputWatermark(element.asWatermark(), channel.indexInSide, side.output);
        } else {
            side.valve.inputWatermarkStatus(
                    element.asWatermarkStatus(), channel.indexInSide, side.output);
        }
    }

    // ------------------------------------------------------------------ barriers

    private void onBarrier(Channel channel, Barrier barrier) throws Exception {
        long checkpoint = barrier.checkpoint();
        if (checkpoint <= over) {
            return;
        }
        if (arriving < checkpoint) {
            arriving = checkpoint;
            unaligned = barrier.isUnaligned();
            channels.forEach(each -> each.inFlight = new ArrayList<>());
            if (unaligned) {
                listener.onSnapshot(checkpoint, true);
            }
        }
        channel.barrier = checkpoint;
        if (barrier.isUnaligned()) {
            channel.inFlight.addAll(barrier.overtaken());
        }
        checkComplete();
    }

    private void checkComplete() throws Exception {
        if (arriving == 0
                || channels.stream().anyMatch(each -> each.barrier != arriving && !each.ended)) {
            return;
        }
        long checkpoint = arriving;
        boolean wasUnaligned = unaligned;
        abort(checkpoint);
        if (!wasUnaligned) {
            listener.onSnapshot(checkpoint, false);
        }
        listener.onBarriersComplete(checkpoint);
    }

    /** Ends the alignment of the checkpoint, if it is in progress. */
    void abort(long checkpoint) {
        over = Math.max(over, checkpoint);
        if (arriving != 0 && arriving <= checkpoint) {
            arriving = 0;
            unaligned = false;
        }
    }

    /** A checkpoint that starts at this task, as all before it are finished. */
    void startHere(long checkpoint) throws Exception {
        over = Math.max(over, checkpoint);
        channels.forEach(channel -> channel.inFlight = new ArrayList<>());
        listener.onSnapshot(checkpoint, false);
        listener.onBarriersComplete(checkpoint);
    }
}
