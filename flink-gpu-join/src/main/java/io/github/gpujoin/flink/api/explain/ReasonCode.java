// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.explain;

import org.apache.flink.annotation.PublicEvolving;

/**
 * Why a join is run as it is; stands in explanations, logs and metrics. docs/troubleshooting.md
 * says of each what to do.
 */
@PublicEvolving
public enum ReasonCode {
    // ------------------------------------------- replicated or partitioned
    /** The job or its configuration asks for it by name. */
    ASKED("the job or its configuration asks for it by name"),
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
    /** Nobody said how large the dimension is, .expectedBytes(n). */
    SIZE_UNKNOWN("nobody said how large the dimension is, .expectedBytes(n)"),
    /** Facts are sent by the key of one dimension, and that is another one. */
    ONE_IS_PARTITIONED("facts are sent by the key of one dimension, and that is another one"),
    /** A fact and the version of its event time are in one subtask. */
    VERSIONED("a fact and the version of its event time are in one subtask"),
    /** Only where all facts of a key come by is it known that a row has no match. */
    KEEPS_BUILD_ROWS("only where all facts of a key come by is it known that a row has no match"),

    // ------------------------------------------- which engine
    /** Each subtask looks for a GPU where it runs; the CPU joins where there is none. */
    AT_RUN_TIME("each subtask looks for a GPU where it runs; the CPU joins where there is none"),
    /** The GPU is tried first, and joins. */
    PREFERRED("the GPU is tried first, and joins"),
    /** Tables that fit no more into gpu-join.gpu.device-memory are on the host. */
    OVER_DEVICE_BUDGET("tables that fit no more into gpu-join.gpu.device-memory are on the host"),
    /** Managed memory has no room for these rows: they are joined from state. */
    OVER_HOST_BUDGET("managed memory has no room for these rows: they are joined from state"),
    /** The CUDA driver is not installed, or not usable by the process. */
    NO_DRIVER("the CUDA driver is not installed, or not usable by the process"),
    /** The CUDA driver sees no device of the number asked for. */
    NO_DEVICE("the CUDA driver sees no device of the number asked for"),
    /** Another job of the process drives the device, with a jar of its own. */
    DEVICE_TAKEN("another job of the process drives the device, with a jar of its own"),
    /** The jar was built without nvcc, or holds no code for the device. */
    NO_KERNEL_IMAGE("the jar was built without nvcc, or holds no code for the device"),
    /** Tables or buffers do not fit the device, or its pinned memory. */
    OUT_OF_DEVICE_MEMORY("tables or buffers do not fit the device, or its pinned memory"),
    /** The join has more dimensions or columns than the kernels are made for. */
    UNSUPPORTED_JOIN("the join has more dimensions or columns than the kernels are made for"),
    /** The device failed while it joined. */
    DEVICE_LOST("the device failed while it joined"),
    /** The kernel ran and made no progress. */
    KERNEL_STALLED("the kernel ran and made no progress"),

    // ------------------------------------------- chunks of partitioned sides
    /** A packer fills one chunk a key group, as there are 256 of them at most. */
    FEW_KEY_GROUPS("a packer fills one chunk a key group, as there are 256 of them at most"),
    /** A packer fills one chunk a subtask, as there are more than 256 key groups. */
    MANY_KEY_GROUPS("a packer fills one chunk a subtask, as there are more than 256 key groups"),
    /** One chunk a key group: Flink divides unaligned checkpoints by key group. */
    DIVIDED_BY_FLINK("one chunk a key group: Flink divides unaligned checkpoints by key group"),
    /** One chunk a key group: the join keeps changes or numbers of each build row. */
    KEYED_LOG("one chunk a key group: the join keeps changes or numbers of each build row"),
    /** One chunk a key group: without operator chaining packers do not see the subtasks. */
    NOT_CHAINED("one chunk a key group: without operator chaining packers do not see the subtasks"),

    // ------------------------------------------- unaligned checkpoints
    /** Execution.checkpointing.unaligned.enabled is off. */
    NOT_ENABLED("execution.checkpointing.unaligned.enabled is off"),
    /** Flink aligns all edges into an operator that one of them is broadcast to. */
    BROADCAST_EDGE("Flink aligns all edges into an operator that one of them is broadcast to"),
    /** What a ticket in a snapshot stands for would be gone when it is restored. */
    RINGS("what a ticket in a snapshot stands for would be gone when it is restored"),
    /** All edges into the join take part. */
    ENABLED("all edges into the join take part");

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
        return this == WITHIN_LIMIT || this == SIZE_UNKNOWN;
    }
}
