// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

/**
 * The rows of two inputs by key, in the memory of a device. It finds the rows of one input that
 * have the keys of a whole chunk of the other one. A row is an id of the caller; the caller keeps
 * its values.
 *
 * <p>Calls take effect in order, but may return before the device has executed them. Arrays may be
 * reused after a call. Not thread-safe.
 *
 * <p>After an exception the index only accepts {@link #close} and {@link #memoryBytes}.
 */
public interface MatchIndex extends AutoCloseable {

    /** The largest number of ids of an input. */
    int MAX_IDS = 1 << 30;

    /**
     * Makes room for the ids of an input.
     *
     * @param lastId the largest id from now on; -1 for none
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if there is no memory, or
     *     the device is lost
     */
    void reserve(int input, int lastId);

    /**
     * Adds rows to an input.
     *
     * @param keys of the rows
     * @param ids id + 1 of a row that is not in the index, each at most once; 0 to skip a row
     * @param count of rows
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if there is no memory, or
     *     the device is lost
     */
    void add(int input, long[] keys, int[] ids, int count);

    /**
     * Removes rows of an input.
     *
     * @param keys under which the rows are in the index
     * @param ids id + 1 of a row, each at most once; 0 to skip a row
     * @param count of rows
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if there is no memory, or
     *     the device is lost
     */
    void remove(int input, long[] keys, int[] ids, int count);

    /**
     * Starts to find the rows of the other input that have the keys of some rows.
     *
     * @param input of the rows that are looked up
     * @param keys of the rows
     * @param ids id + 1 of a row; 0 for a row with a null key, which has no match
     * @param count of rows
     * @param adds whether the rows are also added to their input, which rows never leave
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if there is no memory, or
     *     the device is lost
     */
    void probe(int input, long[] keys, int[] ids, int count, boolean adds);

    /**
     * Waits for the matches of a row of the last {@link #probe}. All of them are then in host
     * memory, for {@link #match}. Matches of earlier rows may be dropped.
     *
     * @param row never less than in an earlier call for the same probe
     * @return the number of matches
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if there is no memory, the
     *     device is lost, or the key has too many rows for it
     */
    int matches(int row);

    /**
     * Returns the id of a match of the row of the last call of {@link #matches}. Never fails.
     *
     * @param number from 0 to the number of matches - 1, in no defined order of rows
     */
    int match(int number);

    /** Returns the bytes of device memory and of host memory. */
    long memoryBytes();

    /** Frees all memory. A second call has no effect. */
    @Override
    void close();
}
