// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.avro;

import io.github.gpujoin.formats.record.BadRecordException;
import java.io.IOException;
import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Knows the schemas of framed values by their ids. The task's thread asks once for each id, and
 * once a minute for one that it cannot use; the task waits for the answer.
 */
@FunctionalInterface
@PublicEvolving
public interface SchemaRegistry extends Serializable {

    /**
     * Returns a schema.
     *
     * @param id of the schema
     * @return the schema as JSON
     * @throws BadRecordException if there is no such id; the message names it
     * @throws IOException if the registry cannot be asked, which fails the job
     */
    String schema(int id) throws IOException;
}
