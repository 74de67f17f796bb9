// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.options;

import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.GridMode;
import io.github.gpujoin.kernels.gpu.MemoryBudget;
import io.github.gpujoin.kernels.gpu.RingMemory;
import io.github.gpujoin.kernels.gpu.TableSpread;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;

/**
 * All options of the join, read from Flink's configuration when the job graph is made: config.yaml,
 * {@code -D} arguments and {@code StreamExecutionEnvironment.configure} all work.
 */
@PublicEvolving
public final class GpuJoinOptions {

    /** What the keys of all options begin with. */
    public static final String PREFIX = "gpu-join.";

    /** Engines by name. */
    @PublicEvolving
    public enum Engine {
        /** The GPU where the TaskManager has one, else the CPU. */
        AUTO,
        /** The GPU; where it cannot be used, the CPU with a warning. */
        GPU,
        /** The CPU radix join. */
        CPU,
        /** A join by hash maps of Java, slow; checks the answers of the others. */
        REFERENCE
    }

    /** How a network card accesses GPU memory. */
    @PublicEvolving
    public enum GpuDirect {
        /** It does not: rings are in host memory. */
        OFF,
        /** Through a dma-buf of the CUDA driver. */
        DMABUF,
        /** Through the kernel module nvidia-peermem. */
        PEERMEM
    }

    /** The option {@code gpu-join.engine}. */
    public static final ConfigOption<Engine> ENGINE =
            ConfigOptions.key("gpu-join.engine")
                    .enumType(Engine.class)
                    .defaultValue(Engine.AUTO)
                    .withDescription(
                            "Engine that joins: auto, gpu, cpu or reference. With auto and gpu, each"
                                    + " subtask uses a GPU of its host, and the CPU if there is none or"
                                    + " it fails. gpu warns in both cases, auto only if a GPU fails."
                                    + " In batch mode a failed GPU fails its task, and the CPU joins"
                                    + " in the next attempt. There auto is the CPU, unless the restart"
                                    + " strategy restarts as many failed tasks as the join has"
                                    + " subtasks. For regular joins auto is the CPU.");

    /** The option {@code gpu-join.chunk-bytes}. */
    public static final ConfigOption<MemorySize> CHUNK_BYTES =
            ConfigOptions.key("gpu-join.chunk-bytes")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(1).divide(8))
                    .withDescription(
                            "Payload at which a chunk is sealed and sent. Small chunks answer"
                                    + " sooner, large ones cost less a row.");

    /** The option {@code gpu-join.flush-interval}. */
    public static final ConfigOption<Duration> FLUSH_INTERVAL =
            ConfigOptions.key("gpu-join.flush-interval")
                    .durationType()
                    .defaultValue(Duration.ofMillis(100))
                    .withDescription("Time after which a chunk is sent though it is not full.");

    /** The option {@code gpu-join.bad-records}. */
    public static final ConfigOption<BadRecords> BAD_RECORDS =
            ConfigOptions.key("gpu-join.bad-records")
                    .enumType(BadRecords.class)
                    .defaultValue(BadRecords.FAIL)
                    .withDescription(
                            "What happens to a record whose filter or key function throws an"
                                    + " exception, or whose fields contradict their types: fail, the"
                                    + " job fails with the reason, or skip, the record is dropped and"
                                    + " counted by the metric badRecords. A join with a sink for bad"
                                    + " records sends them there instead, with the reason.");

    /** The option {@code gpu-join.allow-changed-functions}. */
    public static final ConfigOption<Boolean> ALLOW_CHANGED_FUNCTIONS =
            ConfigOptions.key("gpu-join.allow-changed-functions")
                    .booleanType()
                    .defaultValue(false)
                    .withDescription(
                            "Whether a join may restore state that was written with another key"
                                    + " selector of the probe side, another condition or another"
                                    + " filter of a dimension. Set it if the new function selects what"
                                    + " the old one did, as after a change of the compiler.");

    /** The option {@code gpu-join.late-dimension-rows}. */
    public static final ConfigOption<LateDimensionRows> LATE_DIMENSION_ROWS =
            ConfigOptions.key("gpu-join.late-dimension-rows")
                    .enumType(LateDimensionRows.class)
                    .defaultValue(LateDimensionRows.FAIL)
                    .withDescription(
                            "What happens to a row of a dimension that arrives after the dimension's"
                                    + " completeAtWatermark passed: fail, the job fails and names the"
                                    + " dimension, or drop, the row is dropped and counted by the"
                                    + " metric lateDimensionRows. Rows of a dimension with lateRows"
                                    + " go to that stream instead.");

    /** The option {@code gpu-join.fact-filters}. */
    public static final ConfigOption<Boolean> FACT_FILTERS =
            ConfigOptions.key("gpu-join.fact-filters")
                    .booleanType()
                    .defaultValue(true)
                    .withDescription(
                            "Whether the keys of complete dimensions filter the facts in sources and"
                                    + " packers, and predicates of columns in sources. A filter that"
                                    + " keeps most facts is suspended and sampled again later.");

    /** The option {@code gpu-join.fact-filter-max-bytes}. */
    public static final ConfigOption<MemorySize> FACT_FILTER_MAX_BYTES =
            ConfigOptions.key("gpu-join.fact-filter-max-bytes")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(4))
                    .withDescription(
                            "Heap that one dimension's filter of facts uses at most in each subtask. A"
                                    + " dimension whose keys need more has no filter: one byte filters"
                                    + " eight keys of a dense range, else at most two. Filters for other"
                                    + " TaskManagers pass the JobManager, which holds at most 16 MiB of"
                                    + " keys of a join.");

    /** The option {@code gpu-join.replicate-max-bytes}. */
    public static final ConfigOption<MemorySize> REPLICATE_MAX_BYTES =
            ConfigOptions.key("gpu-join.replicate-max-bytes")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(64))
                    .withDescription(
                            "Dimensions expected to be larger are partitioned over the subtasks"
                                    + " rather than replicated to each. The join measures one dimension"
                                    + " of unknown size while it is loaded, and partitions it if it"
                                    + " exceeds this limit. If another dimension exceeds the limit, the"
                                    + " job fails, unless that dimension is .replicated() or a"
                                    + " changelog.");

    /** The option {@code gpu-join.gpu.devices}. */
    public static final ConfigOption<String> GPU_DEVICES =
            ConfigOptions.key("gpu-join.gpu.devices")
                    .stringType()
                    .defaultValue("all")
                    .withDescription(
                            "Devices of a TaskManager that join together: \"all\" that it sees, or"
                                    + " their numbers from 0, separated by commas. Ignored if Flink's"
                                    + " external resource gpu is configured: then those that it"
                                    + " assigns.");

    /** The option {@code gpu-join.gpu.device-memory}. */
    public static final ConfigOption<MemorySize> GPU_DEVICE_MEMORY =
            ConfigOptions.key("gpu-join.gpu.device-memory")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "Device memory of each GPU that all joins of a TaskManager may take"
                                    + " together; nine tenths of what is free at first unless set.");

    /** The option {@code gpu-join.gpu.pinned-memory}. */
    public static final ConfigOption<MemorySize> GPU_PINNED_MEMORY =
            ConfigOptions.key("gpu-join.gpu.pinned-memory")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "Limit of the host memory that all joins of a TaskManager use for GPUs:"
                                    + " page-locked memory, and the variable-width columns of"
                                    + " build rows; a quarter of the machine's memory unless set."
                                    + " Jobs share the limit only if the jar is in Flink's lib/"
                                    + " folder."
                                    + " Each join also reserves this memory in its share of the"
                                    + " managed memory.");

    /** The option {@code gpu-join.gpu.kept-memory}. */
    public static final ConfigOption<MemorySize> GPU_KEPT_MEMORY =
            ConfigOptions.key("gpu-join.gpu.kept-memory")
                    .memoryType()
                    .defaultValue(new MemorySize(MemoryBudget.DEFAULT_KEPT_BYTES))
                    .withDescription(
                            "Page-locked memory that each GPU of a TaskManager keeps when a join of"
                                    + " batch mode ends, for the next one, as long as other joins use"
                                    + " the GPU. Locking new memory takes longer than the bus needs for"
                                    + " it. It is neither part of the pinned memory nor of the managed"
                                    + " memory: add what exceeds the default to"
                                    + " taskmanager.memory.task.off-heap.size.");

    /** The option {@code gpu-join.gpu.bulk-threads}. */
    public static final ConfigOption<Integer> GPU_BULK_THREADS =
            ConfigOptions.key("gpu-join.gpu.bulk-threads")
                    .intType()
                    .noDefaultValue()
                    .withDescription(
                            "Threads of each subtask's join in batch mode that copy rows to and from"
                                    + " page-locked memory; 8 copy as fast as a bus of 55 GB/s. A join on"
                                    + " several devices has as many for each of them, up to the number"
                                    + " of processors. With 0 the subtask's own thread copies. As many"
                                    + " as there are processors, but at most 8, unless set.");

    /** The option {@code gpu-join.gpu.ring-memory}. */
    public static final ConfigOption<RingMemory> GPU_RING_MEMORY =
            ConfigOptions.key("gpu-join.gpu.ring-memory")
                    .enumType(RingMemory.class)
                    .defaultValue(GpuOptions.defaults().ringMemory())
                    .withDescription(
                            "Where the GPU reads facts from: host, over the bus from pinned memory as"
                                    + " they are written, or device, where the driver copies them to"
                                    + " in batches, and which takes device memory.");

    /** The option {@code gpu-join.gpu.grid}. */
    public static final ConfigOption<GridMode> GPU_GRID =
            ConfigOptions.key("gpu-join.gpu.grid")
                    .enumType(GridMode.class)
                    .defaultValue(GpuOptions.defaults().gridMode())
                    .withDescription(
                            "How thread blocks are assigned to partitions of the facts, the same for"
                                    + " all joins of a TaskManager: adaptive, any block any partition;"
                                    + " histogram, in proportion to build rows and then to recent"
                                    + " bytes of facts; or static, equal numbers. The last two are"
                                    + " for comparison.");

    /** The option {@code gpu-join.gpu.spread}. */
    public static final ConfigOption<TableSpread> GPU_SPREAD =
            ConfigOptions.key("gpu-join.gpu.spread")
                    .enumType(TableSpread.class)
                    .defaultValue(GpuOptions.defaults().spread())
                    .withDescription(
                            "How tables are spread over several devices: replicated, whole on each;"
                                    + " sharded, a part on each, if the devices can access each other's"
                                    + " memory; or by_size, replicated if they fit each device, else"
                                    + " sharded, else placed: a .partitioned() dimension that fits"
                                    + " neither way is divided into groups, each on one device."
                                    + " With by_size, tables of changelogs are sharded.");

    /** The option {@code gpu-join.gpu.weight}. */
    public static final ConfigOption<Double> GPU_WEIGHT =
            ConfigOptions.key("gpu-join.gpu.weight")
                    .doubleType()
                    .defaultValue(GpuOptions.defaults().share().weight())
                    .withDescription(
                            "Share of a join in the bus of a GPU, relative to other joins of the"
                                    + " TaskManager, while several have facts waiting. A join of weight"
                                    + " 2 joins twice the bytes of one of weight 1, whatever their"
                                    + " parallelisms. A lone join has the whole bus. Joins of"
                                    + " different jobs use one GPU together only if the jar is in"
                                    + " Flink's lib/ folder.");

    /** The option {@code gpu-join.gpu.peer-access}. */
    public static final ConfigOption<Boolean> GPU_PEER_ACCESS =
            ConfigOptions.key("gpu-join.gpu.peer-access")
                    .booleanType()
                    .defaultValue(GpuOptions.defaults().peerAccess())
                    .withDescription(
                            "Whether GPUs access each other's memory, if NVLink or PCI Express"
                                    + " connects them. Without it, each GPU receives all build rows"
                                    + " over its own bus, and tables are not sharded. Turn it off"
                                    + " where a hypervisor or an IOMMU breaks the access.");

    /** The option {@code gpu-join.gpu.encode-facts}. */
    public static final ConfigOption<Boolean> GPU_ENCODE_FACTS =
            ConfigOptions.key("gpu-join.gpu.encode-facts")
                    .booleanType()
                    .defaultValue(GpuOptions.defaults().encodeSegments())
                    .withDescription(
                            "Whether key, filter and group columns of facts are encoded before they"
                                    + " cross the bus of the GPU. This costs the joining thread 2 to"
                                    + " 10 ns for each value, and pays where the bus is the bound: a"
                                    + " slow bus, or many subtasks for each GPU.");

    /** The option {@code gpu-join.gpu.stall-timeout}. */
    public static final ConfigOption<Duration> GPU_STALL_TIMEOUT =
            ConfigOptions.key("gpu-join.gpu.stall-timeout")
                    .durationType()
                    .defaultValue(Duration.ofNanos(GpuOptions.defaults().stallTimeoutNs()))
                    .withDescription(
                            "Time without progress after which a GPU counts as failed and the CPU"
                                    + " joins.");

    /** The option {@code gpu-join.cpu.memory}. */
    public static final ConfigOption<MemorySize> CPU_MEMORY =
            ConfigOptions.key("gpu-join.cpu.memory")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "Most managed memory that the tables of a join may take in each slot; all"
                                    + " that Flink plans for the join's operator unless set (the share"
                                    + " of OPERATOR in taskmanager.memory.managed.consumer-weights)."
                                    + " Rows of a partitioned dimension that do not fit stay in state"
                                    + " and are joined from there, more slowly; the job's log says how"
                                    + " many. Replicated dimensions have to fit.");

    /** The option {@code gpu-join.partition-groups}. */
    public static final ConfigOption<Integer> PARTITION_GROUPS =
            ConfigOptions.key("gpu-join.partition-groups")
                    .intType()
                    .defaultValue(0)
                    .withDescription(
                            "Number of groups into which each subtask divides the partitions of a"
                                    + " partitioned dimension. A group holds at least one key group;"
                                    + " its table is on the GPU, on the host or in state. With 0 the"
                                    + " join chooses: one group if the dimension fits the fastest"
                                    + " memory, else a power of two of at least 16.");

    /** The option {@code gpu-join.spill-delay}. */
    public static final ConfigOption<Duration> SPILL_DELAY =
            ConfigOptions.key("gpu-join.spill-delay")
                    .durationType()
                    .defaultValue(Duration.ofSeconds(10))
                    .withDescription(
                            "Longest time that facts, or rows of a regular join, wait in state for"
                                    + " more where the rows that they are joined with have no"
                                    + " tables; watermarks wait as long. A short time"
                                    + " answers sooner, a long one makes tables less often.");

    /** The option {@code gpu-join.group-interval}. */
    public static final ConfigOption<Duration> GROUP_INTERVAL =
            ConfigOptions.key("gpu-join.group-interval")
                    .durationType()
                    .defaultValue(Duration.ofSeconds(1))
                    .withDescription(
                            "Least time between two emissions of a grouped join's sums before"
                                    + " watermarks, which wait for it; 0 to emit before each."
                                    + " Sums leave before every barrier in any case.");

    /** The option {@code gpu-join.metrics}. */
    public static final ConfigOption<MetricLevel> METRICS =
            ConfigOptions.key("gpu-join.metrics")
                    .enumType(MetricLevel.class)
                    .defaultValue(MetricLevel.ESSENTIAL)
                    .withDescription(
                            "Metrics that a join registers under gpuJoin: essential, or all, which"
                                    + " adds those of each dimension and of partitions.");

    /** The option {@code gpu-join.fan-out-warning}. */
    public static final ConfigOption<Integer> FAN_OUT_WARNING =
            ConfigOptions.key("gpu-join.fan-out-warning")
                    .intType()
                    .defaultValue(10_000)
                    .withDescription(
                            "Results of one fact from which on a subtask warns in its log, with the"
                                    + " fact's keys and the heavy hitters of the build side; again at"
                                    + " twice as many.");

    /** The option {@code gpu-join.transport}. */
    public static final ConfigOption<String> TRANSPORT =
            ConfigOptions.key("gpu-join.transport")
                    .stringType()
                    .defaultValue("flink")
                    .withDescription(
                            "How chunks of partitioned sides travel to the subtask of their partition:"
                                    + " flink (Flink's own channels), shm (rings in shared memory,"
                                    + " within a host) or disni (rings by RDMA). With rings the"
                                    + " edges into the join are checkpointed aligned only.");

    /** The option {@code gpu-join.encode-network}. */
    public static final ConfigOption<Boolean> ENCODE_NETWORK =
            ConfigOptions.key("gpu-join.encode-network")
                    .booleanType()
                    .defaultValue(false)
                    .withDescription(
                            "Whether chunks cross Flink's channels and rings with encoded columns."
                                    + " This costs the sender 2 to 12 ns and the receiver 1 to 6 ns"
                                    + " for each value, and pays where the network is slower than"
                                    + " about 10 Gb/s for each sending subtask. Chunks in state are"
                                    + " always encoded where that shortens them.");

    /** The option {@code gpu-join.ring.bind-address}. */
    public static final ConfigOption<String> RING_BIND_ADDRESS =
            ConfigOptions.key("gpu-join.ring.bind-address")
                    .stringType()
                    .defaultValue("127.0.0.1")
                    .withDescription(
                            "The one address of a TaskManager's host that its rings listen on, and"
                                    + " that other TaskManagers reach it by. Set in the configuration of"
                                    + " each TaskManager it comes before that of the job.");

    /** The option {@code gpu-join.ring.slots}. */
    public static final ConfigOption<Integer> RING_SLOTS =
            ConfigOptions.key("gpu-join.ring.slots")
                    .intType()
                    .defaultValue(8)
                    .withDescription(
                            "Chunks that a sending subtask may be ahead of each receiving one."
                                    + " Each takes about one and a half times the chunk size on"
                                    + " either side. A GPU that reads rings in place needs 16: they"
                                    + " reached 93 to 101 % of the limit of its bus, 8 slots 67 to"
                                    + " 84 %. That doubles the managed memory of the rings.");

    /** The option {@code gpu-join.ring.sharing}. */
    public static final ConfigOption<RingSharing> RING_SHARING =
            ConfigOptions.key("gpu-join.ring.sharing")
                    .enumType(RingSharing.class)
                    .defaultValue(RingSharing.NONE)
                    .withDescription(
                            "Whether the subtasks of a join in one TaskManager share the rings of each"
                                    + " sending subtask. With none, p senders and p receivers have"
                                    + " p * p rings; with task_manager, p for each TaskManager, and"
                                    + " small chunks travel together in one slot. auto shares, and"
                                    + " opens a ring between two subtasks where chunks are large;"
                                    + " it reserves memory for both kinds. Has no effect with"
                                    + " gpu-join.transport: flink, which has no rings.");

    /** The option {@code gpu-join.ring.max-rings}. */
    public static final ConfigOption<Integer> RING_MAX_RINGS =
            ConfigOptions.key("gpu-join.ring.max-rings")
                    .intType()
                    .defaultValue(64)
                    .withDescription(
                            "Rings into one subtask of the join, or into one TaskManager if its"
                                    + " subtasks share them: one for each subtask that sends. Each takes its slots, a thread and a socket on"
                                    + " either side. A job that needs more is refused.");

    /** The option {@code gpu-join.ring.peer-timeout}. */
    public static final ConfigOption<Duration> RING_PEER_TIMEOUT =
            ConfigOptions.key("gpu-join.ring.peer-timeout")
                    .durationType()
                    .defaultValue(Duration.ofMillis(600))
                    .withDescription(
                            "Silence after which the other end of a ring counts as cut off and is"
                                    + " connected anew; a ring that stays cut off for 30 s"
                                    + " fails its task.");

    /** The option {@code gpu-join.ring.open-timeout}. */
    public static final ConfigOption<Duration> RING_OPEN_TIMEOUT =
            ConfigOptions.key("gpu-join.ring.open-timeout")
                    .durationType()
                    .defaultValue(Duration.ofSeconds(5))
                    .withDescription(
                            "Longest time from its start that a sending subtask holds its first chunk"
                                    + " back until all its rings are open. After that, chunks go"
                                    + " through Flink's channels while a ring is not; 0 never waits.");

    /** The option {@code gpu-join.ring.allow-unencrypted-payload}. */
    public static final ConfigOption<Boolean> RING_ALLOW_UNENCRYPTED_PAYLOAD =
            ConfigOptions.key("gpu-join.ring.allow-unencrypted-payload")
                    .booleanType()
                    .defaultValue(false)
                    .withDescription(
                            "Whether rows may leave the host through a ring, which does not encrypt"
                                    + " them even where Flink's internal SSL is on. Read from the"
                                    + " TaskManager's own configuration, so a job cannot allow it.");

    /** The option {@code gpu-join.rdma.gpu-direct}. */
    public static final ConfigOption<GpuDirect> RDMA_GPU_DIRECT =
            ConfigOptions.key("gpu-join.rdma.gpu-direct")
                    .enumType(GpuDirect.class)
                    .defaultValue(GpuDirect.OFF)
                    .withDescription(
                            "How a network card writes the join's rings in GPU memory: off (they"
                                    + " lie in host memory), dmabuf or peermem. Untested on hardware."
                                    + " Needs the transport disni and a GPU in each process that joins;"
                                    + " a job that cannot have it fails and says why.");

    /** The option {@code gpu-join.sql.enabled}. */
    public static final ConfigOption<Boolean> SQL_ENABLED =
            ConfigOptions.key("gpu-join.sql.enabled")
                    .booleanType()
                    .defaultValue(true)
                    .withDescription(
                            "Whether joins of SQL statements are replaced. Takes effect with the next"
                                    + " statement, in environments with GpuJoin.enable and in clusters"
                                    + " with the planner jar.");

    /** The option {@code gpu-join.sql.star-joins}. */
    public static final ConfigOption<Boolean> SQL_STAR_JOINS =
            ConfigOptions.key("gpu-join.sql.star-joins")
                    .booleanType()
                    .defaultValue(true)
                    .withDescription(
                            "Whether a regular join of SQL with one bounded side runs as a star join:"
                                    + " rows of the other side wait until the bounded side has ended,"
                                    + " and are not kept afterwards. Otherwise, the join keeps all"
                                    + " rows of both sides, and has results from the start.");

    /** The option {@code gpu-join.sql.load-lookup-tables}. */
    public static final ConfigOption<Boolean> SQL_LOAD_LOOKUP_TABLES =
            ConfigOptions.key("gpu-join.sql.load-lookup-tables")
                    .booleanType()
                    .defaultValue(false)
                    .withDescription(
                            "Whether a lookup join of SQL in streaming mode runs as a star join that"
                                    + " reads the lookup table once, at the start of the job, if its"
                                    + " connector is a bounded source too, which only inserts rows."
                                    + " Results do not follow later changes of the table. Otherwise,"
                                    + " lookup joins stay Flink's.");

    private GpuJoinOptions() {}

    /**
     * All options, in the order of their declaration.
     *
     * @return the options
     */
    public static List<ConfigOption<?>> all() {
        List<ConfigOption<?>> options = new ArrayList<>();
        for (Field field : GpuJoinOptions.class.getFields()) {
            if (field.getType() == ConfigOption.class) {
                try {
                    options.add((ConfigOption<?>) field.get(null));
                } catch (IllegalAccessException e) {
                    throw new IllegalStateException(
                            "A public field of GpuJoinOptions cannot be read: " + e.getMessage(),
                            e);
                }
            }
        }
        return options;
    }

    /**
     * Rejects misspelt keys and unreadable values, also of options that the join at hand does not
     * use.
     *
     * @param config configuration of the job
     * @throws IllegalConfigurationException naming the option and its value
     */
    public static void check(ReadableConfig config) {
        OptionCheck check = new OptionCheck(all());
        check.requireKnownKeys(config);
        check.requireReadableValues(config);
    }

    /**
     * Whether there is an option of the key.
     *
     * @param key key to look for
     * @return whether there is one
     */
    public static boolean isKnown(String key) {
        return new OptionCheck(all()).isKnown(key);
    }

    /**
     * Names an unknown key, and the option that it resembles.
     *
     * @param key key to look for
     * @return the message
     */
    public static String unknown(String key) {
        return new OptionCheck(all()).unknown(key);
    }
}
