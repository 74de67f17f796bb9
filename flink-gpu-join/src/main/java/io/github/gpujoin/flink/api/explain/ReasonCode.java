// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.explain;

import org.apache.flink.annotation.PublicEvolving;

/**
 * Why the planner or a subtask made a choice. Explanations, logs and metrics contain it;
 * docs/troubleshooting.md lists a remedy for each.
 */
@PublicEvolving
public enum ReasonCode {
    // ------------------------------------------- replicated or partitioned
    /** The job or its configuration requests it by name. */
    ASKED("the job or its configuration requests it by name"),
    /** The dimension is expected to be within gpu-join.replicate-max-bytes. */
    WITHIN_LIMIT("the dimension is expected to be within gpu-join.replicate-max-bytes"),
    /** The dimension is expected to be over gpu-join.replicate-max-bytes. */
    OVER_LIMIT("the dimension is expected to be over gpu-join.replicate-max-bytes"),
    /**
     * Partitioned while it is loaded, then replicated if it is within gpu-join.replicate-max-bytes.
     */
    MEASURED_WHILE_LOADED(
            "partitioned while it is loaded, then replicated if it is within"
                    + " gpu-join.replicate-max-bytes"),
    /** The dimension was measured within gpu-join.replicate-max-bytes. */
    MEASURED_WITHIN_LIMIT("the dimension was measured within gpu-join.replicate-max-bytes"),
    /** The dimension was measured over gpu-join.replicate-max-bytes. */
    MEASURED_OVER_LIMIT("the dimension was measured over gpu-join.replicate-max-bytes"),
    /** The size of the dimension is unknown; set .expectedBytes(n). */
    SIZE_UNKNOWN("the size of the dimension is unknown; set .expectedBytes(n)"),
    /** The dimension is a changelog of unknown size, which is replicated. */
    CHANGELOG(
            "the dimension is a changelog of unknown size, which is replicated unless the job"
                    + " requests .partitioned()"),
    /** Facts are partitioned by the key of another dimension. */
    OTHER_DIMENSION_PARTITIONED("facts are partitioned by the key of another dimension"),
    /** A fact must reach the subtask that holds the version of its event time. */
    VERSIONED("a fact must reach the subtask that holds the version of its event time"),
    /** Only the subtask that receives all facts of a key knows that a row has no match. */
    KEEPS_BUILD_ROWS(
            "only the subtask that receives all facts of a key knows that a row has no match"),

    // ------------------------------------------- which engine
    /** Each subtask searches for a GPU on its host; without one the CPU joins. */
    AT_RUN_TIME("each subtask searches for a GPU on its host; without one the CPU joins"),
    /** The GPU, which is preferred, joins. */
    PREFERRED("the GPU, which is preferred, joins"),
    /** Tables that exceed gpu-join.gpu.device-memory are in host memory. */
    OVER_DEVICE_BUDGET("tables that exceed gpu-join.gpu.device-memory are in host memory"),
    /** These rows exceed managed memory and are joined from state. */
    OVER_HOST_BUDGET("these rows exceed managed memory and are joined from state"),
    /** The CUDA driver is missing, or the process cannot use it. */
    NO_DRIVER("the CUDA driver is missing, or the process cannot use it"),
    /** The CUDA driver has no device with the requested number. */
    NO_DEVICE("the CUDA driver has no device with the requested number"),
    /** Another job of this process uses the device through its own copy of the jar. */
    DEVICE_TAKEN("another job of this process uses the device through its own copy of the jar"),
    /** The jar was built without nvcc, or contains no code for the device. */
    NO_KERNEL_IMAGE("the jar was built without nvcc, or contains no code for the device"),
    /** Tables or buffers exceed device memory or pinned memory. */
    OUT_OF_DEVICE_MEMORY("tables or buffers exceed device memory or pinned memory"),
    /** The join has more dimensions or columns than the kernels support. */
    UNSUPPORTED_JOIN("the join has more dimensions or columns than the kernels support"),
    /** Two keys of a changing dimension have one hash, which a GPU cannot distinguish. */
    HASH_COLLISION(
            "two keys of a changing dimension have one hash, which a GPU cannot distinguish"),
    /** A key of a regular join has more rows than a GPU walks in a few seconds. */
    HEAVY_HITTER("a key of a regular join has more rows than a GPU walks in a few seconds"),
    /** The device failed during the join. */
    DEVICE_LOST("the device failed during the join"),
    /** The kernel made no progress within its timeout. */
    KERNEL_STALLED("the kernel made no progress within its timeout"),

    /**
     * A failed GPU fails its task in batch mode, and the restart strategy of the job restarts fewer
     * failed tasks than the join has subtasks.
     */
    FEW_RESTARTS(
            "a failed GPU fails its task in batch mode, and the restart strategy restarts fewer"
                    + " failed tasks than the join has subtasks"),
    /** An earlier attempt of the subtask failed in batch mode, perhaps because of its GPU. */
    EARLIER_ATTEMPT(
            "an earlier attempt of the subtask failed in batch mode, perhaps because of its GPU"),

    /** A job in batch mode joins both sides once they have ended, without checkpoints. */
    BATCH_MODE("a job in batch mode joins both sides once they have ended, without checkpoints"),

    // ------------------------------------------- filters of facts
    /** Once complete, the dimension's keys filter the facts before they are sent. */
    FILTERS("once complete, the dimension's keys filter the facts before they are sent"),
    /** The option gpu-join.fact-filters is off, or approximate local recovery is on. */
    FILTERS_OFF("gpu-join.fact-filters is off, or approximate local recovery is on"),
    /** Facts without a match have results. */
    KEEPS_FACTS("facts without a match have results"),
    /** The dimension changes while facts are joined. */
    DIMENSION_CHANGES("the dimension changes while facts are joined"),
    /** A dimension has versions, so that late facts have results. */
    HAS_VERSIONS("a dimension has versions, so that late facts have results"),

    // ------------------------------------------- chunks of partitioned sides
    /** A packer fills one chunk per key group: there are at most 256 key groups. */
    FEW_KEY_GROUPS("a packer fills one chunk per key group: there are at most 256 key groups"),
    /** A packer fills one chunk per subtask: there are more than 256 key groups. */
    MANY_KEY_GROUPS("a packer fills one chunk per subtask: there are more than 256 key groups"),
    /** One chunk per key group: Flink divides unaligned checkpoints by key group. */
    DIVIDED_BY_FLINK("one chunk per key group: Flink divides unaligned checkpoints by key group"),
    /** One chunk per key group: the join stores changes or row numbers by key group. */
    KEYED_LOG("one chunk per key group: the join stores changes or row numbers by key group"),
    /** One chunk per key group: without chaining, packers do not know the subtasks. */
    NOT_CHAINED("one chunk per key group: without chaining, packers do not know the subtasks"),

    // ------------------------------------------- unaligned checkpoints
    /** The option execution.checkpointing.unaligned.enabled is off. */
    NOT_ENABLED("execution.checkpointing.unaligned.enabled is off"),
    /** Flink aligns all edges into an operator with a broadcast edge. */
    BROADCAST_EDGE("Flink aligns all edges into an operator with a broadcast edge"),
    /** A snapshot would contain a ticket without the chunk in the ring it refers to. */
    RINGS("a snapshot would contain a ticket without the chunk in the ring it refers to"),
    /** All edges into the join are checkpointed unaligned. */
    ENABLED("all edges into the join are checkpointed unaligned");

    private final String sentence;

    ReasonCode(String sentence) {
        this.sentence = sentence;
    }

    /**
     * What it means, in a sentence.
     *
     * @return the sentence
     */
    public String sentence() {
        return sentence;
    }

    /**
     * Whether a dimension that is replicated for this reason may be too large for that.
     *
     * @return whether it may be
     */
    public boolean limitsReplicas() {
        return this == WITHIN_LIMIT || this == SIZE_UNKNOWN || this == CHANGELOG;
    }
}
