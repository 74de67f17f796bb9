// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.avro;

import io.github.gpujoin.kafka.BadRecordException;
import io.github.gpujoin.kafka.RowWriter;

/** Reads or skips one value of a writer's schema. */
@FunctionalInterface
interface AvroStep {

    /**
     * Reads the value.
     *
     * @param in where the value starts; then where the next one does
     * @param row whose column it writes, if the value is wanted
     */
    void apply(AvroInput in, RowWriter row) throws BadRecordException;
}
