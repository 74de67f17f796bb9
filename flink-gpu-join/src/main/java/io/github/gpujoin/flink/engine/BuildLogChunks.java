package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.checkpoint.BuildLog;
import io.github.gpujoin.hybrid.BuildChunks;
import java.util.function.ObjIntConsumer;
import org.apache.flink.util.FlinkRuntimeException;

/** The build log in state, as an engine reads it. */
record BuildLogChunks(BuildLog log) implements BuildChunks {

    @Override
    public void forEachReplicated(ObjIntConsumer<Chunk> chunkOfDimension) {
        try {
            log.replayReplicated(chunk -> chunkOfDimension.accept(chunk, chunk.dimension()));
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

    @Override
    public Chunk get(int partition, long index) {
        try {
            return log.get(partition, index);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw unreadable(e);
        }
    }

    private static FlinkRuntimeException unreadable(Exception e) {
        return new FlinkRuntimeException("the build log cannot be read", e);
    }
}
