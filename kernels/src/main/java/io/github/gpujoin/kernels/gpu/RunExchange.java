// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.JoinSide;
import java.util.ArrayList;
import java.util.List;

/**
 * Moves the rows of one input to the devices that join their keys.
 *
 * <pre>
 *  pinned run -> area of a device -> inbox of each device -> storage of each device
 *             copy               stores to peers          append
 * </pre>
 *
 * <p>A tile of 4096 rows is stored in runs of thousands of rows, so that stores fill the link. An
 * inbox has room for all rows of an area, so no distribution of keys can fail for lack of room. The
 * devices take turns, because all of them use the same inboxes. Not thread-safe.
 */
final class RunExchange {

    private static final int MOST_AREA_RUNS = 32;

    /** Share of the available memory for areas and inboxes of both inputs. */
    private static final int MEMORY_SHARE = 16;

    /** Two areas and an inbox, for each input. */
    private static final int BUFFERS = 2 * (RunAreas.AREAS + 1);

    private static final class Member {

        final DeviceBulkEngine engine;
        final RunAreas areas;
        final RunDivision division;
        final List<Long> inbox = new ArrayList<>();
        long ownedRows;

        Member(
                DeviceBulkEngine engine,
                BulkMemory memory,
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
    private final List<Member> members = new ArrayList<>();

    /**
     * Reserves the memory.
     *
     * @param memories owner of the memory of each device, freed after {@link #finish}
     */
    RunExchange(JoinSide side, List<DeviceBulkEngine> engines, List<BulkMemory> memories) {
        this.side = side;
        BulkRunLayout layout = engines.get(0).layout(side);
        int areaRuns = areaRuns(engines, layout);
        for (int m = 0; m < engines.size(); m++) {
            int sender = m;
            members.add(
                    new Member(
                            engines.get(m),
                            memories.get(m),
                            layout,
                            areaRuns,
                            engines.size(),
                            (runs, rows) -> exchangePart(sender, runs, rows)));
        }
    }

    private static int areaRuns(List<DeviceBulkEngine> engines, BulkRunLayout layout) {
        long bytes =
                engines.stream()
                        .mapToLong(engine -> engine.device().availableBytes())
                        .min()
                        .orElseThrow();
        long runs = bytes / ((long) MEMORY_SHARE * BUFFERS * layout.lengthBytes());
        return (int) Math.max(1, Math.min(MOST_AREA_RUNS, runs));
    }

    /** Adds a run, which is full unless it is the last one, by the bus of a device. */
    DeviceCopy add(int member, long pinnedRun, int rows) throws InterruptedException {
        return members.get(member).areas.add(pinnedRun, rows);
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

    /** Moves what is left. */
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
