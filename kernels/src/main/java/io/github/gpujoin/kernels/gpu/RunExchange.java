// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.JoinSide;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;

/**
 * Moves the rows of one input to the devices that join their keys.
 *
 * <pre>
 *  pinned run -> area of a device -> inbox of each device -> storage of each device
 *             copy               stores to peers          append
 * </pre>
 *
 * <p>A tile of 4096 rows is stored in runs of thousands of rows, so that stores fill the link. An
 * inbox has room for all rows of an area, so no distribution of keys can fail for lack of room.
 *
 * <p>Each device has a thread, which calls {@link #add} for it. The devices take turns with
 * kernels, because all of them use the same inboxes. Copies of the others continue meanwhile.
 */
final class RunExchange {

    private static final int MOST_AREA_RUNS = 32;

    /** Two areas and an inbox. */
    private static final int BUFFERS = RunAreas.AREAS + 1;

    private static final class Member {

        final DeviceBulkEngine engine;
        final RunAreas areas;
        final RunDivision division;
        final List<Long> inbox = new ArrayList<>();
        long ownedRows;

        Member(
                DeviceBulkEngine engine,
                BulkAllocator memory,
                BulkRunLayout layout,
                int areaRuns,
                int parts,
                RunDivision.Divide divide) {
            this.engine = engine;
            BulkDevice device = engine.device();
            this.areas = new RunAreas(device, memory, layout, areaRuns, divide);
            this.division =
                    new RunDivision(
                            device,
                            memory,
                            layout,
                            RunDivision.MEMBER_SHIFT,
                            parts,
                            areaRuns,
                            parts * areaRuns);
            long runs = memory.allocate((long) areaRuns * layout.lengthBytes());
            for (int run = 0; run < areaRuns; run++) {
                inbox.add(runs + (long) run * layout.lengthBytes());
            }
        }
    }

    private final JoinSide side;
    private final Lock turn;
    private final List<Member> members = new ArrayList<>();

    /**
     * @param memories of the devices, each with room for {@link #memoryBytes}
     * @param areaRuns of an area, from 1 to {@link #mostAreaRuns}
     * @param turn held while rows move, also by others that use the storage of any device
     */
    RunExchange(
            JoinSide side,
            List<DeviceBulkEngine> engines,
            List<? extends BulkAllocator> memories,
            int areaRuns,
            Lock turn) {
        this.side = side;
        this.turn = turn;
        for (int m = 0; m < engines.size(); m++) {
            int sender = m;
            members.add(
                    new Member(
                            engines.get(m),
                            memories.get(m),
                            engines.get(m).layout(side),
                            areaRuns,
                            engines.size(),
                            (runs, rows) -> exchangePart(sender, runs, rows)));
        }
    }

    /** Returns the device memory that an exchange of one input needs on each device. */
    static long memoryBytes(BulkRunLayout layout, int areaRuns, int devices) {
        long bufferBytes = BulkArena.alignedBytes((long) areaRuns * layout.lengthBytes());
        return BUFFERS * bufferBytes
                + RunDivision.memoryBytes(layout, devices, areaRuns, devices * areaRuns);
    }

    /**
     * Returns the runs of an area with which exchanges of some inputs fit.
     *
     * @param bytes of each device
     * @return at least 1, also if that does not fit
     */
    static int mostAreaRuns(long bytes, List<BulkRunLayout> layouts) {
        long runBytes = layouts.stream().mapToLong(BulkRunLayout::lengthBytes).sum();
        return (int) Math.max(1, Math.min(MOST_AREA_RUNS, bytes / (BUFFERS * runBytes)));
    }

    /** Adds runs by the bus of a device, as {@link RunSink#add}. */
    DeviceCopy add(int member, long pinnedRuns, int rows) throws InterruptedException {
        return members.get(member).areas.add(pinnedRuns, rows);
    }

    /** Moves rows that a device has lent, and gives their runs back. */
    void exchange(int member, DeviceRuns.Lent lent) throws InterruptedException {
        DeviceRuns owner = members.get(member).engine.storage().joinedRuns(side);
        members.get(member)
                .division
                .forEachPart(
                        lent.runs(),
                        lent.rows(),
                        (runs, rows) -> {
                            exchangePart(member, runs, rows);
                            owner.giveBack(runs);
                        });
    }

    private void exchangePart(int sender, List<Long> runs, int rows) throws InterruptedException {
        turn.lockInterruptibly();
        try {
            exchangeInTurn(sender, runs, rows);
        } finally {
            turn.unlock();
        }
    }

    private void exchangeInTurn(int sender, List<Long> runs, int rows) throws InterruptedException {
        RunDivision division = members.get(sender).division;
        List<List<Long>> targets = new ArrayList<>();
        members.forEach(member -> targets.add(member.inbox.subList(0, runs.size())));
        division.divide(runs, rows, new int[members.size()], targets);
        int[] counts = division.nextRows();
        for (int m = 0; m < members.size(); m++) {
            Member member = members.get(m);
            if (counts[m] > 0) {
                int used = (counts[m] + BulkRunLayout.RUN_ROWS - 1) / BulkRunLayout.RUN_ROWS;
                member.engine.storage().append(side, member.inbox.subList(0, used), counts[m]);
                member.ownedRows += counts[m];
            }
        }
    }

    /** Moves what is left, when the threads have ended. */
    void finish() throws InterruptedException {
        for (Member member : members) {
            member.areas.finish();
        }
    }

    /** Returns the rows that each device owns. */
    List<Long> ownedRows() {
        return members.stream().map(member -> member.ownedRows).toList();
    }
}
