package io.github.gpujoin.flink.config;

import java.time.Duration;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;

/**
 * All options of the join, read from Flink's configuration when the job graph is made: config.yaml,
 * {@code -D} arguments and {@code StreamExecutionEnvironment.configure} all work.
 */
public final class GpuJoinOptions {

    /** Engines by name. */
    public enum Engine {
        /** The fastest engine that runs where the job runs. */
        AUTO,
        /** The CPU radix join. */
        CPU,
        /** The obvious join, slow; for checking answers. */
        REFERENCE
    }

    public static final ConfigOption<Engine> ENGINE =
            ConfigOptions.key("gpu-join.engine")
                    .enumType(Engine.class)
                    .defaultValue(Engine.AUTO)
                    .withDescription("Engine that joins: auto, cpu or reference.");

    public static final ConfigOption<MemorySize> CHUNK_BYTES =
            ConfigOptions.key("gpu-join.chunk-bytes")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(1).divide(8))
                    .withDescription(
                            "Payload at which a chunk is sealed and sent, 1 byte to 16 MiB."
                                    + " Small chunks answer sooner, large ones cost less a row.");

    public static final ConfigOption<Duration> FLUSH_INTERVAL =
            ConfigOptions.key("gpu-join.flush-interval")
                    .durationType()
                    .defaultValue(Duration.ofMillis(100))
                    .withDescription(
                            "Time after which a chunk is sent though it is not full, at least 1 ms.");

    public static final ConfigOption<MemorySize> REPLICATE_MAX_BYTES =
            ConfigOptions.key("gpu-join.replicate-max-bytes")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(64))
                    .withDescription(
                            "Dimensions expected to be larger are partitioned over the subtasks"
                                    + " rather than replicated to each.");

    private static final long MAX_CHUNK_BYTES = 16L << 20;

    private GpuJoinOptions() {}

    /** {@link #CHUNK_BYTES} within its bounds. */
    public static int chunkBytes(ReadableConfig config) {
        long bytes = config.get(CHUNK_BYTES).getBytes();
        if (bytes < 1 || bytes > MAX_CHUNK_BYTES) {
            throw new IllegalConfigurationException(
                    "a chunk has 1 byte to 16 MiB: %s=%s bytes", CHUNK_BYTES.key(), bytes);
        }
        return (int) bytes;
    }

    /** {@link #FLUSH_INTERVAL} within its bounds, in milliseconds. */
    public static long flushIntervalMs(ReadableConfig config) {
        long ms = config.get(FLUSH_INTERVAL).toMillis();
        if (ms < 1) {
            throw new IllegalConfigurationException(
                    "a chunk waits at least 1 ms: %s=%s ms", FLUSH_INTERVAL.key(), ms);
        }
        return ms;
    }
}
