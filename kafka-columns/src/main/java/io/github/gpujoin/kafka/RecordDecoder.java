// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka;

import io.github.gpujoin.formats.record.BadRecordException;
import io.github.gpujoin.formats.record.RowWriter;
import java.io.IOException;
import org.apache.flink.annotation.PublicEvolving;

/** Decodes values, one after the other. Used by one thread. */
@PublicEvolving
public interface RecordDecoder {

    /**
     * Writes the columns of one value. A nullable column that it does not write is null.
     *
     * @param value the bytes of a record's value, which the decoder does not change
     * @param row whose columns it writes, in any order
     * @throws BadRecordException if the value cannot be read; the message names the field
     * @throws IOException if no further value can be read either
     */
    void decode(byte[] value, RowWriter row) throws IOException;
}
