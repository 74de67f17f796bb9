// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.region.Memory;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.functions.RuntimeContext;

/** Emits what a user's function makes of each result's build and probe record. */
final class FunctionEmitter<A, B, OUT> extends AbstractRowEmitter<OUT> {

    private final RecordAssembler<A> build;
    private final RecordAssembler<B> probe;
    private final JoinFunction<A, B, OUT> function;

    FunctionEmitter(
            JoinSpec spec,
            RecordAssembler<A> build,
            RecordAssembler<B> probe,
            JoinFunction<A, B, OUT> function,
            RuntimeContext context)
            throws Exception {
        super(spec);
        this.build = build;
        this.probe = probe;
        this.function = function;
        UserFunctions.open(function, context);
    }

    @Override
    void bind(ResultBatch batch) {
        build.bind(batch);
        probe.bind(batch);
    }

    @Override
    @SuppressWarnings("unchecked")
    void records(int fromRow, int toRow, long probeRows, Object[] into) throws Exception {
        if (build.reusesRecord() || probe.reusesRecord()) {
            recordsOneByOne(fromRow, toRow, probeRows, into);
            return;
        }
        Object[] builds = new Object[toRow - fromRow];
        build.assemble(fromRow, toRow, probeRows, builds);
        probe.assemble(fromRow, toRow, probeRows, into);
        for (int i = 0; i < builds.length; i++) {
            OUT result = function.join((A) builds[i], (B) into[i]);
            into[i] = UserFunctions.requireResult(result, function);
        }
    }

    private void recordsOneByOne(int fromRow, int toRow, long probeRows, Object[] into)
            throws Exception {
        build.load(fromRow, toRow);
        probe.load(fromRow, toRow);
        for (int row = fromRow; row < toRow; row++) {
            int probeRow = Memory.getInt(probeRows + 4L * row);
            A record = build.assemble(row, probeRow);
            OUT result = function.join(record, probe.assemble(row, probeRow));
            into[row - fromRow] = UserFunctions.requireResult(result, function);
        }
    }

    @Override
    public void close() throws Exception {
        UserFunctions.close(function);
    }
}
