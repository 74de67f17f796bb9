// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.flink.state.PendingLog.PendingRows;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Chunks that wait to be joined, and other elements that must follow their results, in the order of
 * arrival. Of the elements behind the last chunk there is one of each kind, so that the queue grows
 * by chunks only.
 */
final class ArrivalQueue {

    /**
     * A chunk, or another element.
     *
     * @param rows null for another element
     * @param kind of the other element: a later one of the same kind replaces it
     * @param emit emits the other element
     */
    record Arrival(@Nullable PendingRows rows, @Nullable Object kind, @Nullable Runnable emit) {}

    private final Deque<Arrival> arrivals = new ArrayDeque<>();
    private long bytes;
    private int chunkCount;

    void add(PendingRows rows) {
        arrivals.add(new Arrival(rows, null, null));
        bytes += rows.chunk().lengthBytes();
        chunkCount++;
    }

    /** Adds an element that is not a record. */
    void add(Object kind, Runnable emit) {
        Iterator<Arrival> last = arrivals.descendingIterator();
        while (last.hasNext()) {
            Arrival arrival = last.next();
            if (arrival.rows != null) {
                break;
            }
            if (kind.equals(arrival.kind)) {
                last.remove();
                break;
            }
        }
        arrivals.add(new Arrival(null, kind, emit));
    }

    boolean isEmpty() {
        return arrivals.isEmpty();
    }

    /** Returns the first arrival, or null. */
    @Nullable Arrival peek() {
        return arrivals.peek();
    }

    /** Replaces the rows of the first arrival by the same chunk with other rows to emit. */
    void replaceFirst(PendingRows rows) {
        arrivals.removeFirst();
        arrivals.addFirst(new Arrival(rows, null, null));
    }

    /** Removes the first arrival. */
    void remove() {
        PendingRows rows = arrivals.remove().rows;
        if (rows != null) {
            bytes -= rows.chunk().lengthBytes();
            chunkCount--;
        }
    }

    /** Returns the bytes of the waiting chunks. */
    long bytes() {
        return bytes;
    }

    /** Returns the number of waiting chunks. */
    int chunkCount() {
        return chunkCount;
    }

    /** Returns the waiting chunks, from the first on. */
    List<PendingRows> rows() {
        return arrivals.stream().map(Arrival::rows).filter(Objects::nonNull).toList();
    }
}
