// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import java.util.Arrays;

/**
 * What a table keeps of each row besides its chunk, by row id.
 *
 * <pre>
 *  int32 next       link to the row with the same key that was added before; of chains on the host
 *  int32 previous   id + 1 of the row that was added after it, 0 if the index refers to this row;
 *                   of tables from which rows are removed
 *  int32 matches    of tables whose unmatched rows are results
 *  int32 copies     of multisets: number of equal rows
 * </pre>
 *
 * <p>A link is 0, or an id + 1. Its highest bit is set if the row may have a next one, so that the
 * only row of a key needs no further read.
 */
final class RowLinks implements AutoCloseable {

    static final int MORE = Integer.MIN_VALUE;

    private static final int PAGE_SHIFT = 12;
    private static final int PAGE_MASK = (1 << PAGE_SHIFT) - 1;

    private final PagedMemory memory;
    private final int rowBytes;
    private final int nextOffset;
    private final int previousOffset;
    private final int matchesOffset;
    private final int copiesOffset;
    private long[] pages = {};
    private int pageCount;

    RowLinks(
            Allocator allocator,
            boolean hasNext,
            boolean hasPrevious,
            boolean hasMatches,
            boolean hasCopies) {
        this.memory = new PagedMemory(allocator);
        int bytes = 0;
        this.nextOffset = bytes;
        bytes += hasNext ? Integer.BYTES : 0;
        this.previousOffset = bytes;
        bytes += hasPrevious ? Integer.BYTES : 0;
        this.matchesOffset = bytes;
        bytes += hasMatches ? Integer.BYTES : 0;
        this.copiesOffset = bytes;
        bytes += hasCopies ? Integer.BYTES : 0;
        this.rowBytes = bytes;
    }

    /** Makes room for all ids up to one, or for none if it is -1. */
    void reserve(int lastId) {
        while (rowBytes > 0 && pageCount <= lastId >> PAGE_SHIFT) {
            if (pageCount == pages.length) {
                pages = Arrays.copyOf(pages, Math.max(16, 2 * pageCount));
            }
            pages[pageCount] = memory.allocate((long) rowBytes << PAGE_SHIFT);
            pageCount++;
        }
    }

    static int id(int link) {
        return (link & ~MORE) - 1;
    }

    long address(int id) {
        return pages[id >>> PAGE_SHIFT] + (long) (id & PAGE_MASK) * rowBytes;
    }

    /** Reads what is stored of a row. */
    int touch(int id) {
        return rowBytes == 0 ? 0 : Memory.getInt(address(id));
    }

    int next(int id) {
        return Memory.getInt(address(id) + nextOffset);
    }

    void setNext(int id, int link) {
        Memory.putInt(address(id) + nextOffset, link);
    }

    int previous(int id) {
        return Memory.getInt(address(id) + previousOffset);
    }

    void setPrevious(int id, int previous) {
        Memory.putInt(address(id) + previousOffset, previous);
    }

    int matches(int id) {
        return Memory.getInt(address(id) + matchesOffset);
    }

    void setMatches(int id, int matches) {
        Memory.putInt(address(id) + matchesOffset, matches);
    }

    int copies(int id) {
        return Memory.getInt(address(id) + copiesOffset);
    }

    void setCopies(int id, int copies) {
        Memory.putInt(address(id) + copiesOffset, copies);
    }

    void copy(int from, int to) {
        if (rowBytes > 0) {
            Memory.copy(null, address(from), null, address(to), rowBytes);
        }
    }

    @Override
    public void close() {
        memory.close();
    }
}
