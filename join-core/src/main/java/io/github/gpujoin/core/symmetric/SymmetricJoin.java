// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

import io.github.gpujoin.core.layout.Chunk;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Joins two or more inputs that all go on. Each row of a submitted chunk probes the tables of the
 * other inputs, and then changes the table of its own. Rows of a chunk take effect in order, and
 * chunks in the order of their submission, so that the results are those of a join that reads row
 * by row.
 *
 * <pre>
 *   load(input, chunk) ... finishLoad()    submit(input, chunk) poll() ... poll()      close()
 *   +----------- LOADING ------------+------------------- JOINING -------------------+
 * </pre>
 *
 * <p><b>Results</b> of a {@link SymmetricJoinSpec} are those of Flink's regular join, kinds of
 * change included. {@link MultiJoinSpec} defines those of more inputs.
 *
 * <ul>
 *   <li>Inner join: a pair has the kind of the row that was submitted.
 *   <li>A row of an outer side without a match: INSERT or DELETE, with the other side null. When
 *       its first match is added, this result is retracted by a DELETE before the pair is emitted.
 *       When its last match is retracted, the row is inserted again after the pair is retracted.
 *   <li>Pairs of outer joins: an added row inserts them. A retracted row of an outer side deletes
 *       them; one of the inner side retracts them with its own kind.
 *   <li>Semi and anti join: a left row has its own kind when it is submitted. A right row that is
 *       the first match or the last one returns the left row: with the kind of the right row from a
 *       semi join, with DELETE or INSERT from an anti join.
 * </ul>
 *
 * <p>The results of a row are adjacent, and the rows are in order. The matches of one row come in
 * any order.
 *
 * <p>A retraction is joined with its own values, also if the row is not in the table: its results
 * may be downstream although it has expired. {@link SymmetricJoinStats} counts such rows. Additions
 * that replace a row retract no result, since the input then has a key that downstream operators
 * update by.
 *
 * <p>Rows with a null key are in no table. They match nothing, so no later row refers to them.
 *
 * <p><b>Time to live.</b> A row expires when its time to live has passed since it was added. It
 * then matches nothing, no result is retracted, and its matches still count as matched by it.
 *
 * <p>Tables are caches: the caller keeps the chunks, and loads them again after a failure. Only one
 * thread at a time may call a join.
 */
public interface SymmetricJoin extends AutoCloseable {

    /** Returns the inputs. Other methods refer to them by index. */
    List<SymmetricInput> inputs();

    /**
     * Applies the rows of a chunk to the table of their input without results. The join keeps rows
     * by reference: the array of a chunk on the heap must not change, and a chunk in a slot or a
     * transient one is copied.
     *
     * <p>The chunks of a radix partition are loaded in the order in which they were submitted. A
     * row that had expired when a later chunk was added is not in the table to which that is
     * applied.
     *
     * @param timeMs when the rows were added, in ms of the clock of {@link #submit}
     * @throws IllegalStateException unless LOADING
     * @throws IllegalArgumentException if the schema is not that of the input, or a change column
     *     contains an unknown code
     * @throws io.github.gpujoin.core.region.MemoryRefusedException if the tables do not fit
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if a device fails or has no
     *     memory; the chunks are to be loaded by another join
     */
    void load(int input, Chunk chunk, long timeMs);

    /**
     * Ends the load and counts the matches of the loaded rows.
     *
     * @param timeMs at which rows may have expired
     * @throws IllegalStateException unless LOADING
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException as {@link #load}
     */
    void finishLoad(long timeMs);

    /**
     * Queues a chunk, which the join keeps as {@link #load} does. It joins all rows, and returns
     * the results of the rows from {@code firstRow} on. A caller that restarts loads the chunks
     * before this one, and submits it from the row that {@link SymmetricBatch#completedRows}
     * returned.
     *
     * @param timeMs processing time of the rows; never before that of an earlier call
     * @return false if the join has no room; poll and try again
     * @throws IllegalStateException unless JOINING
     * @throws IllegalArgumentException if the schema is not that of the input, a change column
     *     contains an unknown code, or {@code firstRow} is outside 0 to the row count
     */
    boolean submit(int input, Chunk chunk, int firstRow, long timeMs);

    /**
     * Returns the next results. Every chunk has at least one batch, possibly without results.
     *
     * @return null if nothing is in flight, or a device is not ready
     * @throws IllegalStateException unless JOINING
     * @throws io.github.gpujoin.core.region.MemoryRefusedException if the tables do not fit, never
     *     after a batch that ends amid the results of a row. The join is then unusable; rows that
     *     no batch completed are to be submitted to another one.
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if a device fails or has no
     *     memory, under the same conditions and with the same consequences
     */
    @Nullable SymmetricBatch poll();

    /** Returns the number of submitted chunks whose last batch was not polled. */
    int inFlightCount();

    /**
     * Removes expired rows from the tables, so that their memory is free.
     *
     * @throws IllegalStateException unless JOINING with nothing in flight
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if a device fails or has no
     *     memory. The join is then unusable.
     */
    void expire(long timeMs);

    /**
     * Copies the rows that are in a table to new chunks, from the first added to the last, so that
     * the caller can replace the chunks it keeps by fewer.
     *
     * @param partition radix partition of the rows, as in the headers of their chunks
     * @param chunks receives each chunk, on the heap, with the time at which its rows were added;
     *     their changes are INSERT
     * @throws IllegalStateException unless JOINING with nothing in flight
     */
    void copyRows(int input, int partition, Consumer<AddedRows> chunks);

    /**
     * Rows of a table.
     *
     * @param timeMs when they were added
     */
    record AddedRows(Chunk chunk, long timeMs) {}

    SymmetricJoinStats stats();

    /** Frees all memory. Legal in any state; a second call has no effect. */
    @Override
    void close();
}
