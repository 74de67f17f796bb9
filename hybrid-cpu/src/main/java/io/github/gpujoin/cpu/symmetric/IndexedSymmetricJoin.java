// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.MatchIndex;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Joins two inputs whose chains are on a device. The device finds the rows of the other input for a
 * whole chunk: a chunk does not change the table that it probes. Everything else is as on the CPU,
 * row by row: identities, counts of matches, conditions and results.
 */
final class IndexedSymmetricJoin extends AbstractTwoInputJoin<DeviceIndex> {

    private final MatchIndex device;

    // The rows that the device looks up.
    private long[] probeKeys = {};
    private int[] probeIds = {};

    // The candidates of the row that is being joined.
    private int candidates;
    private int nextCandidate;

    /**
     * @param device an empty index, which the join closes, also if this fails
     */
    IndexedSymmetricJoin(
            SymmetricJoinSpec spec,
            MatchCondition condition,
            MatchIndex device,
            MemoryReservations hostMemory,
            @Nullable Path spillDirectory) {
        super(spec, condition, allocator -> new DeviceIndex(device, 2), hostMemory, spillDirectory);
        this.device = device;
    }

    // ------------------------------------------------------------------ load

    @Override
    void startLoading() {
        index.flush();
    }

    @Override
    protected void countMatches(long timeMs) {
        removeExpired(timeMs);
        index.flush();
        for (int input = 0; input < 2; input++) {
            if (tables[input].hasMatches) {
                own = tables[input];
                other = tables[1 - input];
                own.forEachChunk(this::countMatchesOfChunk);
            }
        }
    }

    private void countMatchesOfChunk(KeptChunk counted) {
        chunk = counted.chunk;
        kept = counted;
        probe(false);
        for (row = 0; row < chunk.rowCount(); row++) {
            if (probeIds[row] != 0) {
                int count = 0;
                int found = device.matches(row);
                for (int i = 0; i < found; i++) {
                    int id = device.match(i);
                    count += isMatch(id) ? other.copies(id) : 0;
                }
                own.links.setMatches(probeIds[row] - 1, count);
            }
        }
    }

    /** Starts to look up the rows of the chunk, those that have left the table excepted. */
    private void probe(boolean isJoined) {
        int count = chunk.rowCount();
        if (probeIds.length < count) {
            probeIds = new int[Math.max(count, 2 * probeIds.length)];
            probeKeys = new long[probeIds.length];
        }
        own.columns.readKeys(chunk, 0, count, probeKeys);
        for (int i = 0; i < count; i++) {
            boolean isProbed = isJoined ? !own.columns.hasNullKey(chunk, i) : own.isLive(kept, i);
            probeIds[i] = isProbed ? kept.id(i) + 1 : 0;
        }
        device.probe(own.number, probeKeys, probeIds, count, isJoined && isAppending);
    }

    // ------------------------------------------------------------------ chunks

    @Override
    void startProbes() {
        index.flush();
        probe(true);
    }

    @Override
    void readIndexAhead(int count) {
        if (own.input.isChangelog()) {
            readIdentitiesAhead(count);
            long sum = 0;
            for (int i = 0; i < count; i++) {
                sum += own.touchRow(identityHashes[i]);
            }
            read(sum);
        }
    }

    // ------------------------------------------------------------------ rows

    @Override
    void startCandidates() {
        candidates = device.matches(row);
        nextCandidate = 0;
    }

    @Override
    int nextCandidate() {
        return nextCandidate < candidates ? device.match(nextCandidate++) : -1;
    }

    /** The device adds the rows to the table when it looks them up. */
    @Override
    boolean appendRows() {
        byte insert = ChangeKind.INSERT.code();
        int appended = 0;
        while (row < batchEnd) {
            if (!isAmidRow) {
                results.startRow();
                boolean hasKey = probeIds[row] != 0;
                candidates = hasKey ? device.matches(row) : 0;
                nextCandidate = 0;
                appended += hasKey ? 1 : 0;
            }
            while (nextCandidate < candidates) {
                if (!hasRoom(1)) {
                    isAmidRow = true;
                    own.appended(kept, appended);
                    return false;
                }
                results.add(insert, row, device.match(nextCandidate++));
            }
            endRow();
        }
        own.appended(kept, appended);
        return true;
    }
}
