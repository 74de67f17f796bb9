// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.explain;

import org.apache.flink.annotation.PublicEvolving;

/** How the tables of a dimension are spread over the devices of a TaskManager. */
@PublicEvolving
public enum DeviceSpread {
    /** No devices, or a single one. */
    NONE("no devices, or a single one"),
    /**
     * Decided when the tables are built: replicated if they fit each device, otherwise sharded if
     * the devices can access each other's memory and have room together, otherwise placed in
     * partition groups.
     */
    BY_SIZE(
            "replicated if tables fit each device, otherwise sharded if the devices can access each"
                    + " other's memory and have room together, otherwise those of a partitioned"
                    + " dimension placed in partition groups; changelogs sharded if possible"),
    /** Each device has the whole tables. */
    REPLICATED("each device has the whole tables"),
    /** Each device has the rows of some keys, and reads those of the others in their memory. */
    SHARDED("each device has the rows of some keys, and reads those of the others in their memory"),
    /** One device has the tables of a partition group, and joins all of its facts. */
    PLACED("one device has the tables of a partition group, and joins all of its facts");

    private final String sentence;

    DeviceSpread(String sentence) {
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
}
