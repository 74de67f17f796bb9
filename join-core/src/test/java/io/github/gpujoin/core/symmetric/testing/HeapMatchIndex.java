// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric.testing;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchIndex;
import io.github.gpujoin.core.symmetric.MatchIndexFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The definition of a {@link MatchIndex}: sets of ids on the heap. Fails the test if it is used
 * against its contract.
 */
public final class HeapMatchIndex implements MatchIndex {

    /** Creates such indexes. */
    public static final class Factory implements MatchIndexFactory {

        private static final long serialVersionUID = 1L;

        @Override
        public String deviceName() {
            return "heap";
        }

        @Override
        public MatchIndex create(List<Boolean> removesRows, MemoryReservations hostMemory) {
            return new HeapMatchIndex(removesRows);
        }

        @Override
        public EngineUnavailableException multiJoinUnsupported(int inputs) {
            return new EngineUnavailableException(
                    EngineUnavailableException.Scope.DEVICE, "inputs=" + inputs, null);
        }
    }

    private final List<Boolean> removesRows;
    private final List<Map<Long, Set<Integer>>> rows = List.of(new HashMap<>(), new HashMap<>());
    private final List<Set<Integer>> all = List.of(new LinkedHashSet<>(), new LinkedHashSet<>());
    private final int[] lastIds = {-1, -1};
    private List<List<Integer>> found = List.of();
    private int row = -1;

    /**
     * @param removesRows for each input whether rows leave it
     */
    public HeapMatchIndex(List<Boolean> removesRows) {
        this.removesRows = List.copyOf(removesRows);
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }

    @Override
    public void reserve(int input, int lastId) {
        lastIds[input] = Math.max(lastIds[input], lastId);
    }

    @Override
    public void add(int input, long[] keys, int[] ids, int count) {
        for (int i = 0; i < count; i++) {
            if (ids[i] != 0) {
                require(ids[i] - 1 <= lastIds[input], "id was not reserved: " + (ids[i] - 1));
                require(all.get(input).add(ids[i]), "row is added twice: id=" + (ids[i] - 1));
                rows.get(input).computeIfAbsent(keys[i], key -> new LinkedHashSet<>()).add(ids[i]);
            }
        }
    }

    @Override
    public void remove(int input, long[] keys, int[] ids, int count) {
        require(removesRows.get(input), "rows never leave the input: input=" + input);
        for (int i = 0; i < count; i++) {
            if (ids[i] != 0) {
                Set<Integer> ofKey = rows.get(input).getOrDefault(keys[i], Set.of());
                require(ofKey.contains(ids[i]), "row is not there: id=" + (ids[i] - 1));
                ofKey.remove(ids[i]);
                all.get(input).remove(ids[i]);
            }
        }
    }

    @Override
    public void probe(int input, long[] keys, int[] ids, int count, boolean adds) {
        List<List<Integer>> matches = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            matches.add(
                    ids[i] == 0
                            ? List.of()
                            : List.copyOf(rows.get(1 - input).getOrDefault(keys[i], Set.of())));
        }
        found = matches;
        row = -1;
        if (adds) {
            require(!removesRows.get(input), "rows leave the input: input=" + input);
            add(input, keys, ids, count);
        }
    }

    @Override
    public int matches(int of) {
        require(of >= row, "rows are read in order: row=" + of);
        row = of;
        return found.get(row).size();
    }

    @Override
    public int match(int number) {
        return found.get(row).get(number) - 1;
    }

    @Override
    public long memoryBytes() {
        return 0;
    }

    @Override
    public void close() {}
}
