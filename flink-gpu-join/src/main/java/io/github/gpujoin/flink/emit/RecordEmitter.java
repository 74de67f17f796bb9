// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;

/** Emits the result rows as records. */
final class RecordEmitter<OUT> extends AbstractRowEmitter<OUT> {

    private final RecordAssembler<OUT> assembler;

    RecordEmitter(JoinSpec spec, RecordAssembler<OUT> assembler) {
        super(spec);
        this.assembler = assembler;
    }

    @Override
    void bind(ResultBatch batch) {
        assembler.bind(batch);
    }

    @Override
    void records(int fromRow, int toRow, long probeRows, Object[] into) throws Exception {
        assembler.assemble(fromRow, toRow, probeRows, into);
    }
}
