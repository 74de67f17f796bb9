// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.GroupCodes;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkFormatException;
import io.github.gpujoin.flink.filter.DimensionKeys;
import io.github.gpujoin.flink.state.BuildLog;
import io.github.gpujoin.hybrid.BuildChunks;
import java.util.Iterator;
import org.apache.flink.util.FlinkRuntimeException;

/**
 * The build log in state, as an engine reads it. A read fails the job if the heap has no room for
 * new texts: an engine cannot make room there.
 *
 * @param log contains texts
 * @param codes replace the texts of group columns
 * @param keys collects the keys of restored rows
 */
record BuildLogChunks(BuildLog log, GroupCodes codes, DimensionKeys keys) implements BuildChunks {

    /** Reads all chunks, as {@link BuildLog#replayReader} does. */
    FallbackJoinEngine.ChunkReader reader() throws Exception {
        BuildLog.Reader reader = log.replayReader();
        return () -> {
            Chunk chunk = reader.next();
            return chunk == null ? null : codes.encode(chunk);
        };
    }

    @Override
    public Iterator<Chunk> replicated() {
        try {
            Iterator<Chunk> logged = log.replicated();
            return new Iterator<>() {
                @Override
                public boolean hasNext() {
                    return logged.hasNext();
                }

                @Override
                public Chunk next() {
                    return codes.encode(logged.next());
                }
            };
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw unreadable(e);
        }
    }

    @Override
    public long count(int partition) {
        try {
            return log.count(partition);
        } catch (Exception e) {
            throw unreadable(e);
        }
    }

    /**
     * {@inheritDoc}
     *
     * @throws FlinkRuntimeException if the chunk is damaged; restarting from the snapshot that it
     *     was read from fails again
     */
    @Override
    public Chunk get(int partition, long index) {
        try {
            Chunk chunk = log.get(partition, index);
            keys.read(partition, index, chunk);
            return codes.encode(chunk);
        } catch (ChunkFormatException e) {
            throw new FlinkRuntimeException(
                    "Build log damaged: partition=%d, chunk=%d. Restore an earlier snapshot."
                            .formatted(partition, index),
                    e);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw unreadable(e);
        }
    }

    private static FlinkRuntimeException unreadable(Exception e) {
        return new FlinkRuntimeException(
                "The state backend failed to read the build log. Check its disk.", e);
    }
}
