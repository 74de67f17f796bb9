// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

import io.github.gpujoin.core.layout.Chunk;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Joins two bounded inputs. The caller submits all chunks of both, {@linkplain #finish() finishes}
 * the inputs, and polls results, in any order.
 *
 * <pre>
 *   submit(LEFT, chunk), submit(RIGHT, chunk) ... finish()      poll() ...                close()
 *   +----------------- LOADING ------------------+--------- JOINING ----------+-- DONE --+
 * </pre>
 *
 * <p>An implementation chooses the build side itself, as both sizes are known before it joins. It
 * may use threads and devices of its own. All implementations return the same multiset of results.
 *
 * <p><b>Failure.</b> A join whose memory, device or disk does not suffice throws {@link
 * io.github.gpujoin.core.engine.EngineUnavailableException}, and is FAILED. If memory is refused,
 * that is before the first result, so that the caller can submit both inputs to another
 * implementation without repeating a result. After a later failure, the results so far are part of
 * an answer that is incomplete.
 *
 * <p>Only one thread at a time may call a join, except for {@link #state()}, {@link #plan()} and
 * {@link #stats()}.
 */
public interface BulkJoin extends AutoCloseable {

    BulkJoinSpec spec();

    BulkJoinState state();

    /**
     * Adds rows of an input, in any order of inputs and chunks. Waits while earlier chunks use all
     * threads of the join. The join keeps the rows, but not the chunk: the caller remains its user.
     *
     * <p>Threads of the join may read the chunk after this call, until {@link #finish} or {@link
     * #close} returns. A chunk in a slot is retained meanwhile, so the caller may release it at
     * once, but must not write to the slot before its last user has released it. A transient chunk
     * is copied. The array of any other chunk on the heap must not change until then.
     *
     * @throws IllegalStateException unless LOADING
     * @throws IllegalArgumentException if the schema is not that of the input
     * @throws io.github.gpujoin.core.layout.ChunkFormatException if the chunk is in a slot that has
     *     not fully arrived
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if the memory does not
     *     suffice, or a device or a file failed, for this chunk or an earlier one
     * @throws InterruptedException if the thread is interrupted while it waits; the join is FAILED
     */
    void submit(JoinSide side, Chunk chunk) throws InterruptedException;

    /**
     * Ends both inputs, reserves the memory of the join, and starts it.
     *
     * @throws IllegalStateException unless LOADING
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException as {@link #submit}
     * @throws InterruptedException if the thread is interrupted while it waits; the join is FAILED
     */
    void finish() throws InterruptedException;

    /**
     * Returns the next result. The join holds few unpolled results, and pauses until they are
     * polled. The state becomes DONE with the call that finds no further result.
     *
     * @param timeoutNs how long to wait for a result; 0 to not wait
     * @return null if no result is ready in time, or all results were polled
     * @throws IllegalStateException unless JOINING
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if a device or a file failed
     * @throws InterruptedException if the thread is interrupted while it waits; no result is lost
     */
    @Nullable BulkResult poll(long timeoutNs) throws InterruptedException;

    /**
     * Polls until the join is DONE.
     *
     * @param results receives each result
     * @throws IllegalStateException unless JOINING or DONE
     * @throws InterruptedException as {@link #poll}
     */
    default void drain(Consumer<BulkResult> results) throws InterruptedException {
        while (state() != BulkJoinState.DONE) {
            BulkResult result = poll(TimeUnit.MILLISECONDS.toNanos(100));
            if (result != null) {
                results.accept(result);
            }
        }
    }

    /**
     * Returns how the join joins its inputs, and why. Any thread may call.
     *
     * @throws IllegalStateException unless JOINING or DONE
     */
    BulkJoinPlan plan();

    BulkJoinStats stats();

    /**
     * Stops the join and frees all memory. Legal in any state; a second call has no effect. Results
     * that were polled remain valid.
     */
    @Override
    void close();
}
