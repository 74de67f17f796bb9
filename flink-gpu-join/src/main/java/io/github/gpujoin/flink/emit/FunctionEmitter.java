package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import org.apache.flink.api.common.functions.DefaultOpenContext;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.functions.util.FunctionUtils;

/** Emits what a user's function makes of the build and the probe record. */
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
        FunctionUtils.setFunctionRuntimeContext(function, context);
        FunctionUtils.openFunction(function, DefaultOpenContext.INSTANCE);
    }

    @Override
    void bind(ResultBatch batch) {
        build.bind(batch);
        probe.bind(batch);
    }

    @Override
    OUT record(int row, int probeRow) throws Exception {
        return function.join(build.assemble(row, probeRow), probe.assemble(row, probeRow));
    }

    @Override
    public void close() throws Exception {
        FunctionUtils.closeFunction(function);
    }
}
