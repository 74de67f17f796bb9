// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.layout.Chunk;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.apache.flink.util.IOUtils;

/**
 * The chunks in slots that this subtask uses, from their arrival until their results are emitted or
 * a copy is in state. Chunks on the heap need no release.
 *
 * <p>Used by the task's mailbox thread.
 */
final class HeldChunks implements AutoCloseable {

    /** By identity: equal chunks may be in different slots. */
    private final Set<Chunk> held = Collections.newSetFromMap(new IdentityHashMap<>());

    /** Keeps a chunk, whose use by the caller becomes one by this object. */
    void hold(Chunk chunk) {
        if (chunk.slot() != null) {
            held.add(chunk);
        }
    }

    /** Releases a chunk, unless that has happened. */
    void release(Chunk chunk) {
        if (chunk.slot() != null && held.remove(chunk)) {
            chunk.release();
        }
    }

    /** Releases all chunks. The engine must be closed, since it may still read them. */
    @Override
    public void close() throws Exception {
        List<AutoCloseable> releases = new ArrayList<>();
        held.forEach(chunk -> releases.add(chunk::release));
        held.clear();
        IOUtils.closeAll(releases);
    }
}
